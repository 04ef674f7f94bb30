"""A host record, saved and loaded: the next process treats the host as this one would have (LARM-116)."""

from __future__ import annotations

import msgspec
import pytest

from larm.frontier.host import LONGEST_WAIT, Delayed
from larm.frontier.host_records import cut_host, decode_host
from larm.kit.disk.block_store import BlockStore
from larm.kit.units import Seconds
from larm.testing.fakes import message
from tests.frontier.rig import CONNECT, TIMEOUT, Rig, drained, of, ok, status

DAY = 86_400.0


def test_queues_go_on_in_their_order(store: BlockStore) -> None:
    rig = Rig(store, of(host_block=3))
    rig.put(*(f"a/{number}" for number in range(14)), "b/1")
    for lease in rig.queues.lease(2):
        rig.end(lease)
    rig.save()
    new = rig.load()
    assert new.tally.value == 13
    assert drained(new) == [f"a/{number}" for number in range(1, 14)]
    assert new.zeros == 1


def test_what_was_in_flight_is_queued_again_in_front(store: BlockStore) -> None:
    rig = Rig(store, of(per_host=2))
    rig.put("a/1", "a/2", "a/3")
    rig.queues.lease(2)
    rig.save()
    new = rig.load()
    assert (new.tally.value, new.turns.figures().in_flight) == (3, 0)
    assert drained(new) == ["a/1", "a/2", "a/3"]


def test_what_happened_after_the_checkpoint_did_not_happen(store: BlockStore) -> None:
    rig = Rig(store, of(host_block=2))
    rig.put(*(f"a/{number}" for number in range(7)))
    rig.save()
    while leases := rig.queues.lease(1):
        rig.end(leases[0])
    rig.put("a/late")
    assert drained(rig.load()) == [f"a/{number}" for number in range(7)]


def test_only_changed_hosts_are_written_but_all_are_kept(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "b/1")
    assert [cut.key for cut in rig.book.cut()] == ["a", "b"]
    rig.save()
    rig.put("a/1", "b/1")
    rig.save()
    rig.put("a/2")
    assert [cut.key for cut in rig.book.cut()] == ["a"]
    assert len(rig.load().book) == 2


def test_blocks_of_later_are_dropped(store: BlockStore) -> None:
    rig = Rig(store, of(host_block=2))
    rig.put(*(f"a/{number}" for number in range(9)))
    rig.save()
    rig.put(*(f"b/{number}" for number in range(9)))
    rig.load()
    assert {key for key in store.keys("host-") if key.endswith(".cqb")} == set(rig.host("a").queue.keys())


# -- time


def test_next_time_of_a_host_survives(store: BlockStore) -> None:
    rig = Rig(store, of(delay=Seconds(1)))
    rig.put("a/1", "a/2")
    rig.end(rig.one(), status(503, retry_after=500))
    rig.save()
    rig.fake.advance(200)  # larm is not running
    new = rig.load()
    assert new.queues.seconds_to_next() == pytest.approx(300)
    assert new.host("a").backoffs == 1
    assert new.turns.figures().blocked == 1


def test_retries_keep_their_times_and_their_order(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "a/2")
    for wait in (0, 3):
        rig.fake.advance(wait)
        rig.end(rig.one(), status(500))
    rig.save()
    new = rig.load()
    assert 1.9 <= new.queues.seconds_to_next() <= 2.6
    assert [each.message.tries for each in new.host("a").delayed] == [1, 1]
    assert drained(new) == ["a/1", "a/2"]


def test_wall_clock_far_ahead_lets_the_host_be_asked_now(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1")
    rig.end(rig.one(), status(503))
    rig.save()
    new = rig.load(lambda clock: clock.set_wall(clock.wall() + 3_000 * DAY))
    assert new.queues.seconds_to_next() == 0


def test_wall_clock_set_back_stalls_no_host(store: BlockStore) -> None:
    """It waits for what was left when it was saved."""
    rig = Rig(store)
    rig.put("a/1", "b/1")
    for lease, outcome in zip(rig.queues.lease(2), (status(503), ok()), strict=True):
        rig.end(lease, outcome)
    rig.put("b/2")
    rig.save()
    left = rig.host("a").next_start - rig.clock.monotonic()
    new = rig.load(lambda clock: clock.set_wall(clock.wall() - 3_000 * DAY))
    assert new.queues.seconds_to_next() == 0
    assert new.host("a").next_start - new.clock.monotonic() == pytest.approx(left)
    assert 0 < left < LONGEST_WAIT
    assert sorted(drained(new)) == ["a/1", "b/2"]


@pytest.mark.parametrize("hours", [1, -1])
def test_wall_clock_set_during_a_run_changes_no_delay(store: BlockStore, hours: int) -> None:
    """Not of a record that left the memory meanwhile, nor in the next run."""
    rig = Rig(store, of(hosts_in_memory=1))
    rig.put("a/1", "b/1")
    for lease, outcome in zip(rig.queues.lease(2), (status(503, retry_after=500), ok()), strict=True):
        rig.end(lease, outcome)
    rig.host("b")
    rig.save()
    assert "a" not in rig.book._hosts
    rig.fake.set_wall(rig.fake.wall() + hours * 3_600)
    rig.fake.advance(100)
    assert rig.host("a").next_start - rig.fake.monotonic() == pytest.approx(400)
    rig.put("c/1")
    rig.save()
    rig.fake.advance(100)
    assert rig.load().queues.seconds_to_next() == 0, "c may be asked"
    assert rig.load().host("a").next_start - 7 == pytest.approx(300)


@pytest.mark.parametrize("crawl_delay", [0, 7])
def test_a_request_after_the_last_checkpoint_counts(store: BlockStore, crawl_delay: int) -> None:
    """Nobody knows of it after a kill; the process that comes back at once must not ask again at once."""
    rig = Rig(store, of(delay=Seconds(2)))
    rig.screen("a/1", "a/2")
    rig.robots_lander.land(rig.one(), ok(body=b"User-agent: *\nCrawl-delay: %d" % crawl_delay))
    rig.settle()
    rig.fake.advance(100)
    rig.save()
    rig.end(rig.one())
    new = rig.load()
    assert new.queues.seconds_to_next() == pytest.approx(max(2, crawl_delay))


def test_a_new_retry_at_the_same_moment_as_a_loaded_one(store: BlockStore) -> None:
    """Their numbers must differ: messages have no order."""
    rig = Rig(store)
    rig.put("a/1")
    rig.end(rig.one(), status(500))
    rig.save()
    delayed = rig.load().host("a").delayed
    assert min(Delayed(delayed[0].not_before, 0, message("http://a/new")), *delayed) is delayed[0]


# -- robots.txt


def test_rules_survive_and_expire_by_the_wall_clock(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("a/1")
    rig.robots_lander.land(rig.one(), ok(body=b"User-agent: *\nDisallow: /x\nCrawl-delay: 7"))
    rig.settle()
    rig.save()
    assert rig.load().screen("a/2", "a/x") == (["http://a/2"], ["http://a/x"])
    rig.fake.advance(DAY + 1)
    assert rig.load().screen("a/2", "a/x") == ([], [])


def test_loading_goes_on(store: BlockStore) -> None:
    """The task waits, or is in the air, when the checkpoint is taken."""
    rig = Rig(store, of(host_block=2))
    rig.screen(*(f"a/{number}" for number in range(5)))
    rig.save()
    assert drained(rig.load()) == ["a/robots.txt", *(f"a/{number}" for number in range(5))]


def test_loading_goes_on_where_it_was_in_the_air(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("a/1")
    assert rig.one().robots
    rig.save()
    new = rig.load()
    assert (new.tally.value, new.host("a").waiting) == (1, 1)
    assert drained(new) == ["a/robots.txt", "a/1"]


def test_loading_goes_on_where_the_answer_had_not_reached_the_handler(store: BlockStore) -> None:
    """Neither a task nor in the air: without a trace of it, the parked messages would wait for ever."""
    rig = Rig(store)
    rig.screen("a/1", "a/2")
    rig.robots_lander.land(rig.one(), ok())
    assert len(rig.arrivals) == 1
    rig.save()
    new = rig.load()
    assert new.tally.value == 2
    assert drained(new) == ["a/robots.txt", "a/1", "a/2"]
    rig.settle()
    rig.save()
    assert drained(rig.load()) == ["a/1", "a/2"], "nor is it fetched again when it has"


def test_loading_goes_on_for_each_scheme(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("http://a/1", "https://a/2")
    rig.robots_lander.land(rig.one(), ok())
    rig.save()
    assert drained(rig.load()) == ["a/robots.txt", "https://a/robots.txt", "a/1", "https://a/2"]


# -- health


def test_health_survives(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put(*(f"a/{number}" for number in range(4)))
    for _ in range(3):
        rig.end(rig.one(), TIMEOUT)
    rig.save()
    assert rig.load().host("a").health == 2


def test_a_host_given_up_stays_given_up_and_does_not_count(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "a/2", "b/1")
    for lease in rig.queues.lease(2):
        rig.end(lease, CONNECT if lease.host == "a" else ok())
    rig.screen("a/3")
    rig.save()
    new = rig.load()
    assert new.tally.value == 0
    found = new.turns.figures()
    assert (found.given_up, found.uncounted, found.in_flight) == (1, 3, 0)
    new.fake.advance(new.queues.seconds_to_next())
    assert new.one().robots
    assert new.tally.value == 3
    found = new.turns.figures()
    assert (found.given_up, found.uncounted, found.in_flight) == (0, 0, 1)


# -- bytes


def test_a_row_is_bytes_that_refuse_damage(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1")
    with rig.book.lock:
        data = cut_host(rig.book.get_locked("a"), 0.0, rig.clock.wall()).encode()
    assert decode_host(data).key == "a"
    for end in range(len(data)):
        with pytest.raises(msgspec.MsgspecError):
            decode_host(data[:end])
