"""A frontier without network and handler thread: real queues in a real store, time by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from larm.config import FrontierSettings, RobotsSettings
from larm.filters.mail_filter import MailFilter
from larm.frontier import resumption
from larm.frontier.changes import HostChanges
from larm.frontier.checkpoint import CheckpointFile, Following, Header
from larm.frontier.host import NEVER, Host
from larm.frontier.host_records import ROW, QueueRow
from larm.frontier.hosts import HostBook
from larm.frontier.politeness import Decision, policy
from larm.frontier.queues import HostQueues
from larm.frontier.robots.desk import Arrival, RobotsDesk
from larm.frontier.robots.landing import RobotsLander, RobotsPolicy
from larm.frontier.shared_addresses import SharedAddresses
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.traps.limits import TrapRules
from larm.frontier.turns import Turns
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.tally import Tally
from larm.kit.units import Seconds
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Failed, FailReason, Fetched, Outcome, Refused, Timing
from larm.model.url import URLNormalizer
from larm.seams import Clock, CrawlOrder
from larm.testing.clock import FakeClock
from larm.testing.fakes import message

HURRIED = FrontierSettings(delay=Seconds(0))


def ok(seconds: float = 0.0, body: bytes = b"", received: int = 0) -> Fetched:
    return Fetched(200, {}, body, Timing(seconds, received))


def status(number: int, retry_after: float | None = None) -> Refused:
    return Refused(number, {}, Timing(), retry_after)


def failed(reason: FailReason) -> Failed:
    return Failed(reason, reason.value, Timing())


TIMEOUT, CONNECT = failed(FailReason.TIMEOUT), failed(FailReason.CONNECT)


class Rig:
    """All parts of the frontier but the handler; `load` gives the next process's."""

    def __init__(
        self,
        store: BlockStore,
        settings: FrontierSettings = HURRIED,
        clock: Clock | None = None,
        clock_moved: float = 0.0,
        order: CrawlOrder | None = None,
        *,
        traps: TrapRules | None = None,
        starts: Sequence[str] = (),
        release: bool = False,
    ) -> None:
        """``traps``, ``starts`` (hosts) and ``release``: of a `TrapDesk` that guards the leases."""
        self.store = store
        self.settings = settings
        self.order = order
        self.fake = FakeClock(1_000_000.0)
        self.clock = clock or self.fake
        self.zeros = 0
        self.woken = 0
        self.may_lease = True
        self.tally = Tally(self._zero)
        self.crowds = 0
        self.book = HostBook(store, settings, self.clock, self._crowded, clock_moved=clock_moved, order=order)
        self.said: list[str] = []
        self.counted: Counter[str] = Counter()
        self.at_rest: list[str] = []
        self.traps_settings = traps
        self.traps = TrapDesk(
            self.book,
            traps or TrapRules(),
            self.tally,
            self.said.extend,
            self._count,
            starts=frozenset(starts),
            release=release,
        )
        self.addresses = SharedAddresses(self.clock, settings)
        self.arrivals: list[Arrival] = []
        guard = self.traps if traps else None
        self.turns = Turns(
            self.book,
            settings,
            self.clock,
            self.tally,
            self._ready,
            on_rest=self.at_rest.extend,
            on_served=lambda key: self.arrivals.append(Arrival(key, "", None)),
            order=order,
            addresses=self.addresses,
        )
        self.queues = HostQueues(self.turns, guard=guard, count=self._count)
        self.queues.brakes.append(lambda: self.may_lease)
        self.changes = HostChanges(self.turns, guard)
        self.guard = guard
        self.robots = RobotsSettings()
        self.desk = RobotsDesk(self.book, self.turns, self.robots, self.clock, self.tally)
        self.mail = MailFilter(self.book, self.turns, self.tally)
        self.sitemaps: list[URLMessage] = []
        self.log: list[str] = []
        self.counters = Counters()
        self.robots_lander = RobotsLander(
            queues=self.queues,
            desk=self.desk,
            arrived=self.arrivals.append,
            declare=self.sitemaps.extend,
            join=URLNormalizer().join,
            policy=RobotsPolicy("larm", self.robots, settings),
            counters=self.counters,
            log=self.log.append,
        )

    def _zero(self) -> None:
        self.zeros += 1

    def _crowded(self) -> None:
        self.crowds += 1

    def _count(self, name: str, number: int) -> None:
        self.counted[name] += number

    def _ready(self) -> None:
        self.woken += 1

    def put(self, *addresses: str) -> None:
        """As the handler does with what passed the chain."""
        messages = [message(address if "://" in address else f"http://{address}") for address in addresses]
        self.tally.rise(len(messages))
        self.queues.add(messages)

    def end(self, lease: Lease, outcome: Outcome | None = None) -> Decision:
        """As `larm.engine.crawl` does with a page, without links."""
        outcome = outcome or ok()
        tries = lease.message.tries
        [decision] = self.queues.release(
            [(lease, outcome)], lambda _lease, _outcome, host: policy(outcome, tries, self.settings, blocks=host.backoffs)
        )
        if not decision.retry:
            self.tally.fall(1)
        return decision

    def one(self) -> Lease:
        """The one lease that can be had."""
        (lease,) = self.queues.lease(10)
        return lease

    def host(self, key: str) -> Host:
        with self.book.lock:
            found = self.book.find_locked(key)
        assert found is not None
        return found

    def screen(self, *addresses: str) -> tuple[list[str], list[str]]:
        """As the handler does, up to the host queues: what passed, and what was forbidden."""
        messages = [message(address if "://" in address else f"http://{address}") for address in addresses]
        self.tally.rise(len(messages))
        if self.order is None:
            passing = self.mail.sift(messages, lambda batch, reason: None)
            self.tally.fall(len(messages) - len(passing))
            messages = passing
        return self._through(messages)

    def settle(self) -> tuple[list[str], list[str]]:
        """As the handler does with an arrival."""
        passed: list[str] = []
        forbidden: list[str] = []
        for batch in self.desk.settle(self.arrivals.pop(0)):
            some_passed, some_forbidden = self._through(batch)
            passed += some_passed
            forbidden += some_forbidden
        return passed, forbidden

    def _through(self, messages: Sequence[URLMessage]) -> tuple[list[str], list[str]]:
        dropped: list[URLMessage] = []
        passing = self.desk.sift(messages, lambda batch, reason: dropped.extend(batch))
        self.queues.add(passing)
        self.tally.fall(len(messages) - len(passing))
        return [each.url.access for each in passing], [each.url.access for each in dropped]

    def all_hosts(self) -> list[Host]:
        """All records, also those that are only on disk."""
        with self.book.lock:
            rows = [name.removeprefix(ROW) for name in self.store.keys(ROW)]
            return [self.book.get_locked(key) for key in dict.fromkeys([*self.book._hosts, *rows])]

    def save(self, *, last: bool = False) -> None:
        """A checkpoint of the hosts; ``last``: the run ends well."""
        retired = self.store.retired()
        cuts, mail = self.book.cut(), self.book.mail.last_cut
        empty = QueueRow(b"\x90", b"", b"\x90", 0)
        standing = resumption.standing_of(self.turns, self.guard, 1, self.tally.value) if last else None
        header = Header(
            empty, {}, {}, {}, [], "", [], Following("", 0, 0), self.store.next_epoch(), clock_moved=self.book.clock_moved
        )
        CheckpointFile(self.store).write(header, cuts, b"", retired, mail, standing)
        self.book.trim()

    def load(self, change: Callable[[FakeClock], object] = lambda clock: None, *, revisit: bool = False, **traps: Any) -> Rig:
        """What the next process makes of the last checkpoint; its monotonic clock begins anew. ``traps``: as for `Rig`."""
        clock = FakeClock(7.0)
        clock.set_wall(self.fake.wall())
        change(clock)
        file = CheckpointFile(self.store)
        found = file.read()
        new = Rig(
            self.store,
            self.settings,
            clock,
            found[0].clock_moved if found else 0.0,
            self.order,
            **{"traps": self.traps_settings} | traps,
        )
        new.fake = clock
        file.go_back(found[0] if found else None)
        standing = file.standing(found[0]) if found and not traps else None
        if standing is not None:
            new.tally.rise(resumption.go_on(new.turns, new.guard, standing, revive=revisit))
        else:
            new.tally.rise(resumption.load_all(new.turns, new.guard, file.host_rows(), revive=revisit))
        return new


def of(base: FrontierSettings = HURRIED, **changes: object) -> FrontierSettings:
    """Settings with other values."""
    return msgspec.structs.replace(base, **changes)


def drained(rig: Rig) -> list[str]:
    """Lease and end everything; the addresses in order."""
    order = []
    while True:
        wait = rig.queues.seconds_to_next()
        if wait == NEVER:
            return order
        rig.fake.advance(wait)
        for lease in rig.queues.lease(1):
            order.append(lease.message.url.access.removeprefix("http://"))
            if lease.robots:
                rig.robots_lander.land(lease, ok())
            else:
                rig.end(lease)
        while rig.arrivals:
            rig.settle()
