"""Who may be asked next: round robin, politeness, health (LARM-63 to LARM-66, LARM-72, LARM-75)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from larm.config import FrontierSettings
from larm.frontier.host import NEVER
from larm.frontier.resumption import load_all
from larm.frontier.robots.desk import Arrival
from larm.frontier.robots.rules import RobotsRules
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.model.lease import Lease
from larm.model.outcome import FailReason, Fetched
from tests.frontier.rig import CONNECT, TIMEOUT, Rig, failed, of, ok, status

POLITE = FrontierSettings()
PAIR = of(per_host=2)


@pytest.fixture
def rig(store: BlockStore) -> Rig:
    """No delay: the order is all that counts."""
    return Rig(store)


@pytest.fixture
def polite(store: BlockStore) -> Rig:
    """The defaults: one request at a time, one second between them."""
    return Rig(store, POLITE)


def path(lease: Lease) -> str:
    return lease.message.url.path_query


# -- the order


def test_vector_of_larm_72(rig: Rig) -> None:
    """Insert lmu1 lmu2 yahoo1 ... yahoo4 lmu3: leases take turns between the hosts, each host's in order."""
    rig.put("lmu/1", "lmu/2", "yahoo/1", "yahoo/2", "yahoo/3", "yahoo/4", "lmu/3")
    order = []
    while leases := rig.queues.lease(1):
        order.append(f"{leases[0].host}{path(leases[0])}")
        rig.end(leases[0])
    assert order == ["lmu/1", "yahoo/1", "lmu/2", "yahoo/2", "lmu/3", "yahoo/3", "yahoo/4"]
    assert rig.zeros == 1


def test_a_long_queue_keeps_its_order_over_blocks_on_disk(store: BlockStore) -> None:
    rig = Rig(store, of(host_block=3))
    rig.put(*(f"a/{number}" for number in range(20)))
    assert len(store.keys()) > 3
    order = []
    while leases := rig.queues.lease(1):
        order.append(int(path(leases[0])[1:]))
        rig.end(leases[0])
    assert order == list(range(20))


def test_the_host_with_the_longest_wait_tells_how_long_all_takes(store: BlockStore) -> None:
    rig = Rig(store, of(delay=Seconds(2)))
    assert rig.queues.slowest() == 0
    rig.put("a/1", "a/2", "a/3", "b/1")
    assert rig.queues.slowest() == 6
    rig.changes.block("a")
    assert rig.queues.slowest() == 2, "what is not asked for takes no time"
    wait = rig.end(rig.one(), status(503)).wait
    assert rig.queues.slowest() == pytest.approx(wait), "it is asked again later"
    assert wait > 2


def test_hosts_that_wait_long_are_read_only_where_all_do(store: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(store, of(hosts_in_memory=1, longest_wait=Seconds(60)))
    rig.put("dead/1", "a/1", "b/1", "b/2", "soon/1")
    leases = {lease.host: lease for lease in rig.queues.lease(9)}
    for host, outcome in (
        ("dead", CONNECT),
        ("a", status(503, retry_after=900)),
        ("b", status(503, retry_after=300)),
        ("soon", status(503, retry_after=10)),
    ):
        rig.end(leases[host], outcome)
    rig.save()
    rows: list[str] = []
    read = store.get_many

    def seen(keys: Iterable[str]) -> dict[str, bytes]:
        rows.extend(asked := list(keys))
        return read(asked)

    monkeypatch.setattr(store, "get_many", seen)
    assert (rig.queues.far_off(60), rows) == ([], []), "soon is asked again in time"
    rig.changes.block("soon")
    rig.save()
    rows.clear()
    assert [(each.host, each.urls) for each in rig.queues.far_off(60)] == [("b", 2), ("a", 1)]
    assert sorted(rows) == ["host/a", "host/b"], "dead keeps nothing going"


def test_limit_is_the_most_that_is_given(rig: Rig) -> None:
    rig.put("a/1", "b/1", "c/1")
    assert [lease.host for lease in rig.queues.lease(2)] == ["a", "b"]
    assert rig.queues.lease(0) == []
    assert [lease.host for lease in rig.queues.lease(2)] == ["c"]


def test_lease_numbers_are_unique(rig: Rig) -> None:
    rig.put("a/1", "b/1", "c/1")
    assert len({lease.number for lease in rig.queues.lease(3)}) == 3


def test_a_lease_can_be_given_back_only_once(rig: Rig) -> None:
    rig.put("a/1", "a/2")
    lease = rig.one()
    rig.end(lease)
    with pytest.raises(KeyError):
        rig.end(lease)


def test_known_hosts_with_a_port_are_hosts_of_their_own(rig: Rig) -> None:
    rig.put("a:8001/1", "a:8002/1", "a/1")
    assert [lease.host for lease in rig.queues.lease(9)] == ["a:8001", "a:8002", "a"]


# -- politeness


def test_one_request_at_a_time(rig: Rig) -> None:
    rig.put("a/1", "a/2")
    first = rig.one()
    rig.fake.advance(1_000)
    assert rig.queues.lease(9) == []
    rig.end(first)
    assert path(rig.one()) == "/2"


def test_next_lease_waits_for_the_delay_from_the_end_on(polite: Rig) -> None:
    polite.put("a/1", "a/2")
    first = polite.one()
    polite.fake.advance(5)
    polite.end(first, ok(0.2))
    assert polite.queues.seconds_to_next() == 1.0
    polite.fake.advance(0.999)
    assert polite.queues.lease(9) == []
    polite.fake.advance(0.001)
    assert path(polite.one()) == "/2"


def test_a_host_may_be_asked_again_while_its_page_is_read(polite: Rig) -> None:
    polite.put("a/1", "a/2", "a/3")
    first = polite.one()
    answer = ok(0.2)
    assert isinstance(answer, Fetched)
    assert polite.turns.figures().in_flight == 1
    polite.queues.answered([(first, answer)])
    assert polite.turns.figures().in_flight == 0
    assert polite.queues.seconds_to_next() == 1.0
    polite.fake.advance(1.0)
    second = polite.one()
    assert path(second) == "/2"
    polite.end(first, answer)  # it was read: that is nothing to the host
    polite.fake.advance(1.0)
    assert polite.queues.lease(9) == [], "the second is still in the air"
    polite.end(second, ok(0.2))
    polite.fake.advance(1.0)
    assert path(polite.one()) == "/3"


def test_a_page_that_is_being_read_can_be_given_back(polite: Rig) -> None:
    polite.put("a/1", "a/2")
    first = polite.one()
    answer = ok(0.2)
    assert isinstance(answer, Fetched)
    polite.queues.answered([(first, answer)])
    polite.queues.give_back([first])
    polite.fake.advance(1.0)
    again = polite.one()
    assert path(again) == "/1"
    polite.fake.advance(9.0)
    assert polite.queues.lease(9) == [], "its number has been forgotten"
    polite.end(again)


def test_a_slow_host_is_left_alone_as_long_as_it_took(polite: Rig) -> None:
    polite.put("a/1", "a/2")
    polite.end(polite.one(), ok(seconds=8.0))
    assert polite.queues.seconds_to_next() == 8.0


def give_rules(rig: Rig, text: bytes, key: str = "a") -> None:
    with rig.book.lock:
        rig.book.get_locked(key)
    rig.desk.settle(Arrival(key, "http", RobotsRules.parse(text, "larm")))


SLOWLY = b"User-agent: *\nCrawl-delay: 20"


def test_crawl_delay_is_obeyed_even_without_a_delay_of_ours(rig: Rig) -> None:
    give_rules(rig, SLOWLY)
    rig.put("a/1", "a/2")
    rig.fake.advance(20)  # robots.txt was a request, too
    rig.end(rig.one(), ok(seconds=3.0))
    assert rig.queues.seconds_to_next() == 20.0


def test_crawl_delay_lies_between_parallel_requests_too(store: BlockStore) -> None:
    """Two requests at a time are no way around what the host asks for."""
    rig = Rig(store, PAIR)
    give_rules(rig, SLOWLY)
    rig.put("a/1", "a/2")
    rig.fake.advance(20)
    rig.one()
    rig.fake.advance(19.9)
    assert rig.queues.lease(9) == []
    rig.fake.advance(0.1)
    rig.one()


def test_per_host_two_gives_two_leases_a_delay_apart(store: BlockStore) -> None:
    rig = Rig(store, of(POLITE, per_host=2))
    rig.put("a/1", "a/2", "a/3")
    rig.one()
    assert rig.queues.lease(9) == []
    rig.fake.advance(1)
    second = rig.one()
    rig.fake.advance(100)
    assert rig.queues.lease(9) == [], "two are in the air"
    rig.end(second)
    rig.fake.advance(1)
    rig.one()


def test_a_host_that_waits_does_not_hold_up_the_others(polite: Rig) -> None:
    """LARM-75: skipped, not waited for."""
    polite.put("slow/1", "slow/2")
    polite.end(polite.one(), ok(seconds=60))
    polite.put("quick/1")
    assert polite.one().host == "quick"


@pytest.mark.parametrize("number", [429, 503])
def test_a_host_in_back_off_gets_nothing(polite: Rig, number: int) -> None:
    polite.put("a/1", "a/2")
    decision = polite.end(polite.one(), status(number))
    assert decision.retry
    assert 60 <= decision.host_wait <= 66
    assert polite.turns.figures().blocked == 1
    polite.put("a/3")
    polite.fake.advance(59.9)
    assert polite.queues.lease(9) == []
    polite.fake.advance(6.2)
    polite.end(polite.one())
    assert polite.turns.figures().blocked == 0


def test_back_off_doubles_while_the_host_keeps_refusing(polite: Rig) -> None:
    polite.put(*(f"a/{number}" for number in range(9)))
    waits = []
    for _ in range(3):
        polite.fake.advance(polite.queues.seconds_to_next())
        waits.append(polite.end(polite.one(), status(503)).host_wait)
    assert [round(wait / 60) for wait in waits] == [1, 2, 4]


def test_requests_that_were_out_together_are_refused_once(store: BlockStore) -> None:
    """A server that lets through so many a second refuses all that are beyond it at the same time."""
    rig = Rig(store, of(POLITE, per_host=8, delay=Seconds(0)))
    rig.put(*(f"a/{number}" for number in range(24)))
    waits = []
    for _ in range(3):
        leases = [lease for _ in range(8) for lease in rig.queues.lease(1)]
        decisions = [rig.end(lease, status(429)) for lease in leases]
        assert all(decision.retry for decision in decisions)
        waits.append([round(decision.host_wait / 60) for decision in decisions])
        rig.fake.advance(600)
    assert waits == [[1] * 8, [2] * 8, [4] * 8]


def test_a_page_that_asks_for_rests_does_not_hold_up_the_others_of_its_host(polite: Rig) -> None:
    polite.put("a/bad", *(f"a/{number}" for number in range(6)))
    asked = []
    while not polite.zeros:
        polite.fake.advance(polite.queues.seconds_to_next())
        for lease in polite.queues.lease(1):
            asked.append(path(lease))
            polite.end(lease, status(503, retry_after=30) if path(lease) == "/bad" else ok())
    assert asked[0] == asked[-1] == "/bad"
    assert [each for each in asked if each != "/bad"] == [f"/{number}" for number in range(6)]
    assert asked.index("/5") <= 8, "six pages, for two rests"


def test_retry_after_holds_whatever_waits_there(polite: Rig) -> None:
    polite.put("a/1", "a/2")
    polite.end(polite.one(), status(503, retry_after=300))
    assert polite.queues.seconds_to_next() == 300


def test_a_host_that_was_put_off_while_it_stood_in_the_ring(store: BlockStore) -> None:
    rig = Rig(store, PAIR)
    rig.put("a/1", "a/2", "a/3")
    (first,) = rig.queues.lease(1)  # and a stands in the ring for its second request
    rig.end(first, status(503, retry_after=100))
    assert rig.queues.lease(9) == []
    assert rig.queues.seconds_to_next() == 100


def test_a_good_answer_does_not_cut_a_back_off_short(store: BlockStore) -> None:
    """Of two requests in the air one is refused, then the other one answered."""
    rig = Rig(store, PAIR)
    rig.put("a/1", "a/2", "a/3")
    first, second = rig.queues.lease(9)
    rig.end(first, status(503, retry_after=100))
    rig.end(second)
    assert rig.queues.seconds_to_next() == 100


def test_giving_a_host_up_does_not_cut_a_back_off_short_either(store: BlockStore) -> None:
    rig = Rig(store, PAIR)
    rig.put("a/1", "a/2")
    first, second = rig.queues.lease(9)
    rig.end(first, status(503, retry_after=50_000))
    rig.end(second, CONNECT)
    assert rig.queues.seconds_to_next() == 50_000


def test_a_revisit_gives_every_host_another_chance(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1")
    rig.end(rig.one(), CONNECT)
    rig.save()
    new = rig.load(revisit=True)
    assert (new.tally.value, new.turns.figures().given_up) == (1, 0)
    new.fake.advance(6)  # it is a retry
    assert path(new.one()) == "/1"


class MovingClock:
    """Time goes on at every look, as it does."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        self.now += 0.001
        return self.now

    def wall(self) -> float:
        return self.now


def test_a_host_that_becomes_ready_while_leases_are_given_out(store: BlockStore) -> None:
    """It was not ready at the beginning and is before the end; that must not be taken for both for ever."""
    rig = Rig(store, of(per_host=9, delay=Seconds(0.0005)), MovingClock())
    rig.put("a/1", "a/2", "a/3")
    leases = []
    while len(leases) < 3:
        leases += rig.queues.lease(9)
    assert [path(lease) for lease in leases] == ["/1", "/2", "/3"]


# -- retries and returns


def test_others_go_on_while_a_retry_waits(rig: Rig) -> None:
    rig.put("a/1", "a/2", "a/3")
    assert rig.end(rig.one(), status(500)).retry
    assert path(rig.one()) == "/2"
    assert rig.tally.value == 3
    rig.fake.advance(6)
    assert rig.queues.lease(9) == [], "one at a time"


def test_retries_come_to_an_end(rig: Rig) -> None:
    rig.put("a/1")
    tries = []
    for _ in range(3):
        rig.fake.advance(rig.queues.seconds_to_next())
        lease = rig.one()
        tries.append(lease.message.tries)
        rig.end(lease, status(500))
    assert tries == [0, 1, 2]
    assert rig.queues.seconds_to_next() == NEVER
    assert (rig.tally.value, rig.zeros) == (0, 1)


def test_first_retry_comes_after_retry_wait_the_second_after_twice_that(rig: Rig) -> None:
    rig.put("a/1")
    rig.end(rig.one(), status(500))
    assert 5 <= rig.queues.seconds_to_next() <= 5.5
    rig.fake.advance(5.5)
    rig.end(rig.one(), status(500))
    assert 9 <= rig.queues.seconds_to_next() <= 11


def test_a_due_retry_goes_before_the_queue(rig: Rig) -> None:
    rig.put("a/1")
    rig.end(rig.one(), status(500))
    rig.fake.advance(6)
    rig.put("a/2")
    assert path(rig.one()) == "/1"


def test_new_messages_do_not_wait_for_a_retry(rig: Rig) -> None:
    """The host stood in the heap until its retry; now it has something to do at once."""
    rig.put("a/1")
    rig.end(rig.one(), status(500))
    woken = rig.woken
    rig.put("a/2")
    assert rig.queues.seconds_to_next() == 0.0
    assert rig.woken > woken
    lease = rig.one()
    assert path(lease) == "/2"
    rig.end(lease)
    rig.fake.advance(6)
    assert path(rig.one()) == "/1"
    rig.fake.advance(1_000)
    assert rig.queues.lease(9) == [], "its old place in the heap gives no second lease"


def test_given_back_messages_are_the_first_again(rig: Rig) -> None:
    rig.put("a/1", "b/1", "a/2", "b/2")
    rig.queues.give_back(rig.queues.lease(9))
    assert rig.tally.value == 4
    assert rig.turns.figures().in_flight == 0
    assert [path(lease) for lease in rig.queues.lease(9)] == ["/1", "/1"]


def test_given_back_together_they_keep_their_order(store: BlockStore) -> None:
    rig = Rig(store, of(per_host=3))
    rig.put("a/1", "a/2", "a/3", "a/4")
    rig.queues.give_back(rig.queues.lease(3))
    assert [path(lease) for lease in rig.queues.lease(3)] == ["/1", "/2", "/3"]


def test_a_request_that_was_given_back_was_a_request(polite: Rig) -> None:
    """It may have reached the host."""
    polite.put("a/1")
    polite.queues.give_back([polite.one()])
    assert polite.queues.seconds_to_next() == 1.0


# -- who is woken


def test_fetchers_are_woken_when_a_host_is_ready_or_will_be_sooner_than_they_know(polite: Rig) -> None:
    polite.put("a/1", "a/2")
    assert polite.woken == 1
    polite.put("a/3")
    assert polite.woken == 1, "it stood in the ring already"
    polite.end(polite.one(), ok(seconds=9))
    assert polite.woken == 2, "in nine seconds"
    polite.put("b/1", "b/2")
    assert polite.woken == 3, "now"
    polite.end(polite.one(), ok(seconds=30))
    assert polite.woken == 3, "in thirty seconds, but a is ready before that"


def test_fetchers_with_room_are_woken_by_a_lease_that_leaves_work(store: BlockStore) -> None:
    """With two requests at a time the host is ready again as soon as the first is given out."""
    rig = Rig(store, PAIR)
    rig.put("a/1", "a/2")
    assert (len(rig.queues.lease(1)), rig.woken) == (1, 2)


# -- health


def test_five_time_outs_give_a_host_up(rig: Rig) -> None:
    rig.put(*(f"a/{number}" for number in range(7)))
    for expected in (4, 3, 2, 1):
        rig.end(rig.one(), TIMEOUT)
        assert rig.host("a").health == expected
        assert not rig.host("a").dormant
    rig.end(rig.one(), TIMEOUT)
    assert rig.host("a").dormant
    assert rig.tally.value == 0, "what waits there no longer keeps the crawl going"
    assert rig.zeros == 1
    figures = rig.turns.figures()
    assert (figures.given_up, figures.uncounted, figures.in_flight) == (1, 7, 0)


@pytest.mark.parametrize("reason", [FailReason.CONNECT, FailReason.UNRESOLVED])
def test_an_unreachable_host_is_given_up_at_once(rig: Rig, reason: FailReason) -> None:
    rig.put("a/1", "a/2")
    rig.end(rig.one(), failed(reason))
    assert rig.host("a").dormant
    assert rig.tally.value == 0
    assert rig.queues.seconds_to_next() >= 3_600


def test_messages_for_a_host_given_up_are_kept_but_do_not_count(rig: Rig) -> None:
    rig.put("a/1")
    rig.end(rig.one(), CONNECT)
    rig.put("a/2", "b/1", "a/3")
    assert rig.tally.value == 1
    assert rig.turns.figures().uncounted == 3
    assert rig.host("a").waiting == 3


def test_a_host_given_up_gets_one_more_try_and_a_good_answer_makes_it_well(rig: Rig) -> None:
    rig.put("a/1", "a/2")
    rig.end(rig.one(), CONNECT)
    rig.put("b/1")
    rig.fake.advance(rig.queues.seconds_to_next())
    leases = {lease.host: lease for lease in rig.queues.lease(9)}
    rig.fake.advance(4_000)
    leases |= {lease.host: lease for lease in rig.queues.lease(9)}
    assert rig.tally.value == 3
    rig.end(leases["a"])
    host = rig.host("a")
    assert (host.dormant, host.dormancies, host.health) == (False, 0, 5)
    assert rig.turns.figures().uncounted == 0
    rig.end(rig.one(), TIMEOUT)
    assert host.health == 4, "the trial is over"


def test_a_trial_that_fails_doubles_the_wait(rig: Rig) -> None:
    rig.put("a/1", "a/2", "a/3")
    waits = []
    for _ in range(3):
        rig.fake.advance(rig.queues.seconds_to_next())
        rig.end(rig.one(), CONNECT)
        waits.append(rig.queues.seconds_to_next())
    assert [round(wait / 3_600) for wait in waits] == [1, 2, 4]
    assert rig.tally.value == 0


def test_on_trial_one_time_out_is_enough(rig: Rig) -> None:
    rig.put("a/1", "a/2")
    rig.end(rig.one(), CONNECT)
    rig.fake.advance(5_000)
    rig.end(rig.one(), TIMEOUT)
    assert rig.host("a").dormant


def test_a_refusal_does_not_end_the_trial(rig: Rig) -> None:
    """Else a host whose robots.txt answers 503, then is given up, would come back every hour for ever."""
    rig.put("a/1", "a/2", "a/3")
    rig.end(rig.one(), CONNECT)
    rig.fake.advance(5_000)
    rig.end(rig.one(), status(503))
    rig.fake.advance(rig.queues.seconds_to_next())
    rig.end(rig.one(), CONNECT)
    assert round(rig.queues.seconds_to_next() / 3_600) == 2


def test_requests_in_the_air_when_their_host_is_given_up(store: BlockStore) -> None:
    """Their retries wait at a host that does not count: neither may they."""
    rig = Rig(store, of(per_host=3))
    rig.put("a/1", "a/2", "a/3", "a/4", "b/1")
    one, two, three, b = sorted(rig.queues.lease(9), key=lambda lease: (lease.host, lease.number))
    rig.end(one, CONNECT)
    rig.end(two, TIMEOUT)
    rig.end(three)
    assert (rig.tally.value, rig.turns.figures().uncounted) == (1, 3)
    rig.end(b)
    assert rig.zeros == 1
    rig.fake.advance(20_000)
    rig.end(rig.one())  # on trial: one at a time
    for lease in rig.queues.lease(9):
        rig.end(lease)
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, 0)


def test_given_back_to_a_host_that_was_given_up(store: BlockStore) -> None:
    rig = Rig(store, PAIR)
    rig.put("a/1", "a/2")
    one, two = rig.queues.lease(9)
    rig.end(one, CONNECT)
    rig.queues.give_back([two])
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, 2)


# -- figures


def test_figures(polite: Rig) -> None:
    polite.put("a/1", "a/2", "b/1", "b/2", "c/1")
    first, second = polite.queues.lease(2)
    polite.end(first)
    figures = polite.turns.figures()
    assert (figures.hosts, figures.ready, figures.waiting, figures.in_flight) == (3, 1, 1, 1)
    polite.fake.advance(1)
    figures = polite.turns.figures()
    assert (figures.ready, figures.waiting) == (2, 0)
    polite.end(second)


def test_nothing_is_ready_where_nothing_waits(store: BlockStore) -> None:
    rig = Rig(store)
    assert rig.queues.seconds_to_next() == NEVER
    assert rig.queues.lease(5) == []
    assert load_all(rig.turns, None, []) == 0


def test_adding_nothing_is_no_news(rig: Rig) -> None:
    rig.queues.add([])
    assert rig.woken == 0


# -- steering


def test_a_blocked_host_is_not_asked_and_does_not_keep_the_crawl_going(rig: Rig) -> None:
    rig.put("a/1", "a/2", "b/1")
    rig.changes.block("a")
    (lease,) = rig.queues.lease(9)
    assert lease.host == "b"
    rig.put("a/3")
    assert (rig.tally.value, rig.turns.figures().uncounted) == (1, 3)
    rig.end(lease)
    assert rig.zeros == 1
    assert rig.queues.seconds_to_next() == NEVER
    rig.changes.unblock("a")
    assert (rig.tally.value, rig.turns.figures().uncounted) == (3, 0)
    assert [lease.message.url.access for lease in rig.queues.lease(9)] == ["http://a/1"]


def test_a_host_that_has_asked_another_crawl_for_a_rest_is_left_alone(rig: Rig) -> None:
    """Also one that was not known here before; and whoever asks for a rest is told."""
    rig.changes.back_off("a", 50.0)
    rig.put("a/1", "b/1")
    (lease,) = rig.queues.lease(9)
    assert lease.host == "b"
    rig.fake.advance(49.0)
    assert not rig.queues.lease(9)
    rig.fake.advance(1.5)
    assert rig.one().host == "a"
    told: list[tuple[str, float]] = []
    rig.queues.on_back_off = lambda *what: told.append(what)
    rig.end(lease, status(503, 700.0))
    assert told == [("b", 700.0)]


def test_what_is_in_the_air_of_a_blocked_host_lands(rig: Rig) -> None:
    rig.put("a/1", "a/2")
    lease = rig.one()
    rig.changes.block("a")
    assert rig.tally.value == 1, "the one in the air"
    rig.end(lease, TIMEOUT)
    assert (rig.tally.value, rig.turns.figures().uncounted) == (0, 2)


def test_a_host_that_nobody_has_met_may_be_blocked_and_stays_so(rig: Rig) -> None:
    rig.changes.block("a")
    rig.save()
    rig = rig.load()
    rig.put("a/1")
    assert rig.queues.lease(9) == []
    assert rig.tally.value == 0
    rig.changes.unblock("a")
    rig.changes.unblock("a")
    assert rig.one().host == "a"


def test_nothing_is_leased_while_nothing_may_be(store: BlockStore) -> None:
    rig = Rig(store)
    rig.may_lease = False
    rig.put("a/1")
    assert rig.queues.lease(9) == []
    assert rig.queues.seconds_to_next() == NEVER, "who waits need not look again before he is woken"
    rig.may_lease = True
    assert rig.queues.seconds_to_next() == 0
    assert rig.one().host == "a"


def test_another_delay_counts_from_the_next_request_on(store: BlockStore) -> None:
    rig = Rig(store, of(delay=Seconds(100), delay_factor=0))
    rig.put("a/1", "a/2", "a/3")
    rig.end(rig.one())
    rig.turns.change(of(delay=Seconds(1), delay_factor=0))
    assert rig.queues.seconds_to_next() == 100, "it was told so"
    rig.fake.advance(100)
    rig.end(rig.one())
    assert rig.queues.seconds_to_next() == 1


def test_more_requests_at_a_time(store: BlockStore) -> None:
    rig = Rig(store, of(per_host=1))
    rig.put("a/1", "a/2", "a/3")
    lease = rig.one()
    assert rig.queues.lease(9) == []
    rig.turns.change(of(per_host=2))
    rig.end(lease)
    assert len(rig.queues.lease(9)) == 2


# -- hosts that have errors alone (YIOOP-6, YIOOP-7)


def test_a_host_with_errors_alone_is_asked_every_20_seconds_until_pages_come(polite: Rig) -> None:
    polite.put(*(f"a/{number}" for number in range(120)))
    waits = []
    for number in range(110):
        (lease,) = polite.queues.lease(1)
        polite.end(lease, status(403) if number < 52 else ok())
        waits.append(polite.queues.seconds_to_next())
        assert polite.turns.figures().slowed == (waits[-1] == 20.0 and number < 53)
        polite.fake.advance(waits[-1])
    assert waits[:50] == [1.0] * 50
    assert waits[50:54] == [20.0] * 4  # 51, 52, then a page: 51, then one that was asked for when there were still too many
    assert waits[54:] == [1.0] * 56


def test_what_a_host_answered_is_not_forgotten_over_a_restart(store: BlockStore) -> None:
    rig = Rig(store, POLITE)
    rig.put(*(f"a/{number}" for number in range(60)))
    for _ in range(51):
        (lease,) = rig.queues.lease(1)
        rig.end(lease, status(500) if lease.message.tries else status(403))
        rig.fake.advance(rig.queues.seconds_to_next())
    rig.save()
    again = rig.load()
    assert again.book.get_locked("a").delay(POLITE) == 20.0
    assert again.turns.figures().slowed == 1


@pytest.mark.parametrize("settings", [of(), FrontierSettings(error_delay=1.0)])
def test_errors_cost_no_time_where_nobody_wants_that(store: BlockStore, settings: FrontierSettings) -> None:
    rig = Rig(store, settings)
    rig.put(*(f"a/{number}" for number in range(60)))
    for _ in range(55):
        (lease,) = rig.queues.lease(1)
        rig.end(lease, status(403))
        rig.fake.advance(settings.delay)
    assert rig.queues.lease(1)


def test_broken_links_are_no_trouble_of_their_host(polite: Rig) -> None:
    polite.put(*(f"a/{number}" for number in range(120)))
    for number in range(110):
        (lease,) = polite.queues.lease(1)
        polite.end(lease, status(404 if number % 2 else 410))
        assert polite.queues.seconds_to_next() == 1.0
        polite.fake.advance(1.0)


@pytest.mark.parametrize("last", [False, True])
def test_a_revisit_tries_hosts_that_were_given_up_and_reads_no_others(store: BlockStore, *, last: bool) -> None:
    """Where the last run has ended well."""
    rig = Rig(store, of(health=1))
    rig.put("a/1", "a/2", "b/1", "c/1")
    for lease in rig.queues.lease(9):
        rig.end(lease, *([CONNECT] if lease.host == "a" else []))
    rig.save(last=last)
    new = rig.load(revisit=True)
    assert set(new.book.in_memory()) == ({"a"} if last else {"a", "b", "c"})
    assert (new.tally.value, new.turns.figures().given_up, new.turns.figures().uncounted) == (2, 0, 0)
    assert [lease.host for lease in new.queues.lease(9)] == ["a"]
    assert rig.load().turns.figures().given_up == 1
