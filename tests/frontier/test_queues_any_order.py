"""Whatever happens in whatever order: no message lost or doubled, no host asked too often, and the crawl's end is counted."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from larm.frontier.host import NEVER, Host
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.model.lease import Lease
from larm.model.outcome import FailReason, Fetched
from tests.conftest import empty
from tests.frontier.digits import Digits
from tests.frontier.rig import CONNECT, TIMEOUT, Rig, failed, of, ok, status

HOSTS = "abc"
OUTCOMES = [ok(), ok(), ok(3.0), ok(), status(404), status(500), status(503), status(429, 40.0), TIMEOUT, CONNECT]
OUTCOMES.append(failed(FailReason.DROPPED))


class Frontier(RuleBasedStateMachine):
    """The handler's and the fetchers' calls in any order, against a model that knows only what is promised."""

    def __init__(self, store: BlockStore) -> None:
        super().__init__()
        empty(store)
        self.store = store
        self.added = 0
        self.unfinished: set[str] = set()
        self.last_first: dict[str, int] = {}
        self.leases: list[Lease] = []
        self.reading: list[tuple[Lease, Fetched]] = []
        """Their requests have ended, and their pages are read elsewhere."""
        self.not_before: dict[str, float] = {}
        self.blocked: set[str] = set()

    @initialize(
        per_host=st.integers(1, 3),
        delay=st.sampled_from([0.0, 1.0]),
        block=st.integers(1, 4),
        memory=st.sampled_from([1, 4, 1_000]),
        order=st.sampled_from([None, None, False, True]),
        known=st.booleans(),
    )
    def begin(self, per_host: int, delay: float, block: int, memory: int, order: bool | None, known: bool) -> None:
        chosen = of(
            per_host=per_host,
            delay=Seconds(delay),
            host_block=block,
            health=2,
            retries=1,
            hosts_in_memory=memory,
            messages_in_memory=memory,
        )
        self.rig = Rig(self.store, chosen, order=None if order is None else Digits(fair=order))
        if known:  # else pages seldom come to be leased
            self.links(HOSTS * 4)
            self.lease(len(HOSTS))
            while self.leases:
                self.end(0, ok())
                self.settle()
        self.rig.save()

    # -- what may happen

    @rule(hosts=st.text(HOSTS, min_size=1, max_size=12))
    def links(self, hosts: str) -> None:
        addresses = [f"{host}/{self.added + number}" for number, host in enumerate(hosts)]
        self.added += len(addresses)
        self.unfinished.update(addresses)
        self.rig.screen(*addresses)

    @rule(limit=st.integers(1, 8))
    def lease(self, limit: int) -> None:
        now = self.rig.clock.monotonic()
        got = self.rig.queues.lease(limit)
        assert len(got) <= limit
        for lease in got:
            assert now >= self.not_before.get(lease.host, 0.0), "too early"
            assert lease.host not in self.blocked
            self._later(lease.host, self.rig.settings.delay)
            self.leases.append(lease)
            if not lease.robots and lease.message.tries == 0 and self.rig.order is None:
                self._first_in_order(lease)
        if len(got) < limit:
            skipped = [host for host in self._hosts() if self._free(host) and host.ready_at() <= now]
            assert not skipped, "though they were ready"

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 99), outcome=st.sampled_from(OUTCOMES))
    def end(self, which: int, outcome: object) -> None:
        lease = self.leases.pop(which % len(self.leases))
        if lease.robots:
            self.rig.robots_lander.land(lease, outcome)
        else:
            decision = self.rig.end(lease, outcome)
            self._later(lease.host, decision.host_wait)
            if not decision.retry:
                self.unfinished.remove(_name(lease))
        self._later(lease.host, max(self.rig.settings.delay, outcome.timing.seconds if self.rig.settings.delay else 0.0))

    @precondition(lambda self: not all(lease.robots for lease in self.leases))
    @rule(number=st.integers(1, 3), outcome=st.sampled_from([ok(), ok(3.0)]))
    def answer(self, number: int, outcome: Fetched) -> None:
        pages = [lease for lease in self.leases if not lease.robots][:number]
        self.leases = [lease for lease in self.leases if lease not in pages]
        self.rig.queues.answered([(lease, outcome) for lease in pages])
        self.reading += [(lease, outcome) for lease in pages]
        for lease in pages:
            self._later(lease.host, max(self.rig.settings.delay, outcome.timing.seconds if self.rig.settings.delay else 0.0))

    @precondition(lambda self: self.reading)
    @rule(which=st.integers(0, 99))
    def read(self, which: int) -> None:
        lease, outcome = self.reading.pop(which % len(self.reading))
        assert not self.rig.end(lease, outcome).retry
        self.unfinished.remove(_name(lease))

    @precondition(lambda self: self.reading)
    @rule(number=st.integers(1, 3))
    def give_back_unread(self, number: int) -> None:
        cut, self.reading = self.reading[:number], self.reading[number:]
        self.rig.queues.give_back([lease for lease, _ in cut])

    @precondition(lambda self: self.rig.arrivals)
    @rule()
    def settle(self) -> None:
        self.rig.settle()

    @precondition(lambda self: self.leases)
    @rule(number=st.integers(1, 3))
    def give_back(self, number: int) -> None:
        cut, self.leases = self.leases[:number], self.leases[number:]
        self.rig.queues.give_back(cut)

    @rule(seconds=st.sampled_from([0.4, 1.0, 6.0, 70.0, 4_000.0, 100_000.0]))
    def time(self, seconds: float) -> None:
        self.rig.fake.advance(seconds)

    @precondition(lambda self: self.rig.order is not None)
    @rule(shift=st.integers(0, 9))
    def change_order(self, shift: int) -> None:
        self.rig.order.change(shift)

    @rule(host=st.sampled_from(HOSTS))
    def block(self, host: str) -> None:
        self.rig.changes.block(host)
        self.blocked.add(host)

    @precondition(lambda self: self.blocked)
    @rule(which=st.integers(0, 9))
    def unblock(self, which: int) -> None:
        host = sorted(self.blocked)[which % len(self.blocked)]
        self.rig.changes.unblock(host)
        self.blocked.remove(host)

    @rule(well=st.booleans())
    def restart(self, well: bool) -> None:
        """What is in the air, or on its way to the handler, is so no more."""
        self.rig.save(last=well)
        self.rig = self.rig.load()
        self.leases, self.reading = [], []
        self.not_before = {}

    # -- what must hold

    @invariant()
    def no_message_is_lost_or_doubled(self) -> None:
        in_flight = sum(not lease.robots for lease in self.leases) + len(self.reading)
        assert sum(host.waiting for host in self._hosts()) + in_flight == len(self.unfinished)

    @invariant()
    def tally_counts_what_keeps_the_crawl_going(self) -> None:
        in_flight = sum(not lease.robots for lease in self.leases) + len(self.reading)
        given_up = sum(host.waiting for host in self._hosts() if host.dormant or host.key in self.blocked)
        figures = self.rig.turns.figures()
        assert self.rig.tally.value == len(self.unfinished) - given_up
        assert (figures.uncounted, figures.in_flight) == (given_up, len(self.leases))
        assert self.rig.tally.value >= in_flight
        assert figures.given_up == sum(host.dormant for host in self._hosts())
        assert figures.shut == sum(host.blocked for host in self._hosts())
        assert figures.blocked == sum(host.backoffs > 0 for host in self._hosts())

    @invariant()
    def never_more_than_per_host(self) -> None:
        assert max(Counter(lease.host for lease in self.leases).values(), default=0) <= self.rig.settings.per_host

    @invariant()
    def whoever_waits_wakes_in_time(self) -> None:
        next_time = min((host.ready_at() for host in self._hosts() if self._free(host)), default=NEVER)
        assert self.rig.queues.seconds_to_next() <= max(next_time - self.rig.clock.monotonic(), 0.0)

    @invariant()
    def parked_messages_have_somebody_who_loads_the_rules(self) -> None:
        on_their_way = {arrival.host for arrival in self.rig.arrivals} | {each.host for each in self.leases if each.robots}
        for host in self._hosts():
            assert not host.parked or host.robots_tasks or host.key in on_their_way

    def teardown(self) -> None:
        """Let it run dry: everything comes, once."""
        if not hasattr(self, "rig"):
            return
        while self.blocked:
            self.unblock(0)
        for _ in range(10 * self.added + 100):
            for lease in self.leases:
                if lease.robots:
                    self.rig.robots_lander.land(lease, ok())
                    self.rig.settle()
                else:
                    self.rig.end(lease)
                    self.unfinished.remove(_name(lease))
            self.leases = []
            while self.reading:
                self.read(0)
            while self.rig.arrivals:
                self.rig.settle()
            if not self.unfinished:
                break
            self.rig.fake.advance(self.rig.queues.seconds_to_next())
            self.leases = self.rig.queues.lease(100)
        assert not self.unfinished
        assert self.rig.tally.value == 0

    # -- helpers

    def _hosts(self) -> list[Host]:
        return self.rig.all_hosts()

    def _free(self, host: Host) -> bool:
        return host.requests < (1 if host.dormancies else self.rig.settings.per_host)

    def _later(self, host: str, seconds: float) -> None:
        self.not_before[host] = max(self.not_before.get(host, 0.0), self.rig.clock.monotonic() + seconds)

    def _first_in_order(self, lease: Lease) -> None:
        number = int(lease.message.url.path_query[1:])
        if number > self.last_first.get(lease.host, -1):
            older = [int(name.partition("/")[2]) for name in self.unfinished if name.startswith(lease.host + "/")]
            older = [each for each in older if self.last_first.get(lease.host, -1) < each < number]
            assert not older, "overtaken"
            self.last_first[lease.host] = number


def _name(lease: Lease) -> str:
    return lease.message.url.access.removeprefix("http://")


def test_any_order(shared_store: BlockStore) -> None:
    run_state_machine_as_test(
        lambda: Frontier(shared_store),
        settings=settings(max_examples=80, stateful_step_count=50, suppress_health_check=list(HealthCheck)),
    )
