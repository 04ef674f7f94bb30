"""The queue of a host with an order, and the ring of the hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.frontier.banded_queue import BandedQueue
from larm.frontier.places import Places
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.testing.fakes import message
from tests.frontier.digits import Digits


def make(store: BlockStore, band: int, number: int) -> CachingQueue[URLMessage]:
    state: QueueState[URLMessage] = QueueState([], b"", [], number)
    return CachingQueue.restore(state, f"band{band}-a", 3, store, encode_messages, decode_messages)


@pytest.fixture
def order() -> Digits:
    return Digits()


@pytest.fixture
def queue(store: BlockStore, order: Digits) -> BandedQueue:
    return BandedQueue(lambda band, number: make(store, band, number), order)


def put(queue: BandedQueue, *numbers: int) -> None:
    queue.write(queue.append([message(f"http://a/{number}") for number in numbers]))


def drain(queue: BandedQueue) -> Iterator[int]:
    while queue:
        yield int(queue.take(1)[0].url.access.rpartition("/")[2])


def test_low_bands_first_then_who_came_first(queue: BandedQueue) -> None:
    put(queue, 12, 1, 2, 31, 22, 11)
    assert (len(queue), queue.band) == (6, 1)
    assert list(drain(queue)) == [1, 31, 11, 12, 2, 22]
    assert queue.take(1) == []


def test_what_is_given_back_comes_first(queue: BandedQueue) -> None:
    put(queue, 5, 6)
    queue.put_front([message("http://a/9")])
    assert list(drain(queue)) == [9, 5, 6]


def test_who_waits_is_filed_again(queue: BandedQueue, order: Digits) -> None:
    """Some with each that is taken, so that one of the old order comes meanwhile."""
    put(queue, *(number * 10 + digit for digit in (1, 2) for number in range(50)))
    order.change(-2)  # what ends with 2 is now the best, with 1 the worst
    taken = list(drain(queue))
    assert [number % 10 for number in taken] == [1, *[2] * 50, *[1] * 49]
    assert sorted(taken) == sorted(number * 10 + digit for digit in (1, 2) for number in range(50))


def test_bands_that_are_empty_go_and_the_numbers_of_their_blocks_do_not_come_again(
    store: BlockStore, queue: BandedQueue, order: Digits
) -> None:
    """Or a checkpoint would delete, as no longer needed, the block that was written under the same name."""
    put(queue, *range(1, 300, 10))
    before = set(store.keys("band1-a"))
    assert before
    assert len(list(drain(queue))) == 30
    queue.take(1)
    assert repr(queue) == "<BandedQueue >"
    number = queue.snapshot().next_number
    assert all(int(key.partition("_")[2].partition(".")[0]) < number for key in before)
    put(queue, *range(1, 300, 10))
    assert not before & (set(store.keys("band1-a")) - before)
    assert len(store.keys("band1-a")) == 2 * len(before)


def test_a_band_may_be_gone_before_its_turn_to_be_filed_again_or_written(queue: BandedQueue, order: Digits) -> None:
    codes = queue.append([message(f"http://a/{number}") for number in [*range(1, 400, 10), *range(2, 400, 10), 3, 13]])
    assert codes
    order.change(1)
    taken = [next(drain(queue))]
    order.change(-1)  # before all have been filed again
    taken += drain(queue)
    queue.write(codes)
    assert sorted(taken) == sorted([*range(1, 400, 10), *range(2, 400, 10), 3, 13])


def test_an_order_that_was_is_kept_and_what_is_new_comes_last(store: BlockStore, queue: BandedQueue) -> None:
    put(queue, 3, 1)
    later = BandedQueue(lambda band, number: make(store, band, number), None)
    for band, state in (queue.snapshots() | {0: queue.snapshot()}).items():
        restored = CachingQueue.restore(state, f"band{band}-a", 3, store, encode_messages, decode_messages)
        later.restore(band, restored)
    put(later, 0)
    assert list(drain(later)) == [1, 3, 0]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(["put", "take", "change", "spill"]), st.integers(0, 99)), max_size=80))
def test_nothing_is_lost_whatever_happens(shared_store: BlockStore, steps: list[tuple[str, int]]) -> None:
    shared_store.transaction({}, shared_store.keys())
    order = Digits()
    queue = BandedQueue(lambda band, number: make(shared_store, band, number), order)
    put_in: list[int] = []
    taken: list[int] = []
    for what, number in steps:
        if what == "put":
            put(queue, *range(number))
            put_in += range(number)
        elif what == "take":
            for _ in range(number):
                taken += [int(each.url.access.rpartition("/")[2]) for each in queue.take(1)]
        elif what == "change":
            order.change(number)
        elif what == "spill":
            sink: dict[str, bytes] = {}
            queue.spill(sink)
            shared_store.put_many(sink)
            queue.spilled(sink)
            assert queue.in_memory == 0
        assert len(queue) == len(put_in) - len(taken)
    assert sorted([*taken, *drain(queue)]) == sorted(put_in)


def test_hosts_of_lower_bands_come_first() -> None:
    places = Places()
    for key, band in (("a", 2), ("b", 1), ("c", 2), ("d", 1)):
        places.ready(key, band)
    assert places.first(3) == ["b", "d", "a"]
    places.ready("c", 0)  # it got something better
    places.ready("b", 3)  # stays where it is
    assert (places.in_ring, [places.take() for _ in range(4)]) == (4, ["c", "b", "d", "a"])
    assert not places.in_ring
    with pytest.raises(LookupError):
        places.take()


def turns(places: Places, hosts: dict[str, int], number: int) -> Counter[str]:
    """Who has how many, where each goes back to its band after its turn."""
    for key, band in hosts.items():
        places.ready(key, band)
    found = Counter[str]()
    for _ in range(number):
        key = places.take()
        found[key] += 1
        places.ready(key, hosts[key])
    return found


def test_bands_take_turns() -> None:
    """However many hosts stand in one: so a domain of many hosts gets no more than all that are as large."""
    hosts = {f"of a large domain {number}": 3 for number in range(97)} | {"a": 0, "b": 0, "c": 1}
    found = turns(Places(fair=True), hosts, 3000)
    assert sum(found[key] for key in hosts if hosts[key] == 3) == pytest.approx(1000, abs=2)
    assert found["c"] == pytest.approx(30, abs=2), "as often as in one ring of a hundred"
    assert [found["a"], found["b"]] == pytest.approx([985, 985], abs=2), "the rest"


@pytest.mark.parametrize("number", [100, 1_000, 20_000])
def test_a_large_host_has_no_more_turns_than_in_one_ring(number: int) -> None:
    hosts = {f"small {each}": 0 for each in range(1_000)} | {"larger": 1, "large": 3, "largest": 4}
    alike = turns(Places(), dict.fromkeys(hosts, 0), number)
    found = turns(Places(fair=True), hosts, number)
    assert all(found[key] <= alike[key] + (number > 1_000) for key in ("larger", "large", "largest"))
    assert found["largest"] >= alike["largest"] - 1, "nor has it fewer"


def test_a_band_that_was_empty_is_not_overdue_for_it() -> None:
    places = Places(fair=True)
    turns(places, {f"small {each}": 0 for each in range(50)}, 500)
    places.ready("large", 4)
    assert [places.take() for _ in range(20)].count("large") == 0
