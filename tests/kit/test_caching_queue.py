"""A FIFO that lies on disk, but for its ends (LARM-67 to LARM-71)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.kit.threads.workers import Workers


def encode(items: Sequence[int]) -> bytes:
    return json.dumps(list(items)).encode()


def decode(block: bytes) -> list[int]:
    items: list[int] = json.loads(block)
    return items


Codec = tuple[Callable[[Sequence[int]], bytes], Callable[[bytes], list[int]]]


def make(store: BlockStore, size: int = 2, codec: Codec = (encode, decode)) -> CachingQueue[int]:
    return CachingQueue("q", size, store, *codec)


def numbers(queue: CachingQueue[int]) -> list[int]:
    """Numbers of the blocks on disk."""
    keys = queue.keys()
    return [int(key.removeprefix("q_").removesuffix(".cqb")) for key in keys]


def drain(queue: CachingQueue[int], limit: int = 3) -> list[int]:
    items: list[int] = []
    while taken := queue.take(limit):
        items += taken
    return items


def references(*blocks: tuple[int, int]) -> bytes:
    """As a checkpoint has them: (number, length)."""
    return b"".join((number << 24 | length).to_bytes(8, "little") for number, length in blocks)


def spill(queue: CachingQueue[int]) -> None:
    """Both ends to disk, as the owner of many queues does it."""
    sink: dict[str, bytes] = {}
    queue.spill(sink)
    queue._store.put_many(sink)
    queue.spilled(sink)


def test_the_vector_of_the_original(store: BlockStore) -> None:
    """LARM-67 to LARM-70: blocks of 2, insert 1 to 7, remove them."""
    queue = make(store)
    on_disk = []
    for item in range(1, 8):
        queue.put_many([item])
        on_disk.append(numbers(queue))
    assert on_disk == [[], [], [], [], [1], [1], [1, 2]]
    assert len(queue) == 7
    assert store.keys() == queue.keys() == ["q_1.cqb", "q_2.cqb"]
    assert (queue.take(2), numbers(queue)) == ([1, 2], [1, 2])
    assert (queue.take(2), numbers(queue)) == ([3, 4], [2])
    assert (queue.take(2), numbers(queue)) == ([5, 6], [])
    assert queue.take(2) == [7]
    assert queue.take(2) == []
    assert len(queue) == 0
    assert store.retired() == ["q_1.cqb", "q_2.cqb"]
    assert store.keys() == ["q_1.cqb", "q_2.cqb"]  # the last checkpoint may still need them


def test_putting_all_at_once_makes_the_same_blocks(store: BlockStore) -> None:
    queue = make(store)
    queue.put_many(range(1, 8))
    assert numbers(queue) == [1, 2]
    assert queue._next == 3
    assert drain(queue) == [1, 2, 3, 4, 5, 6, 7]


def test_an_empty_queue_is_tiny_and_false(store: BlockStore) -> None:
    queue = make(store)
    queue.put_many([])
    queue.put_front([])
    assert not queue
    assert sys.getsizeof(queue) + sys.getsizeof(queue._lock) < 200
    assert not hasattr(queue, "__dict__")
    assert queue.take(5) == queue.take(0) == []
    queue.put_many([1])
    assert queue
    assert queue.take(0) == []
    assert repr(queue) == "<CachingQueue q: 1 items, 0 blocks on disk>"


def test_the_front_goes_first_in_its_own_order(store: BlockStore) -> None:
    queue = make(store)
    queue.put_many(range(6))
    queue.put_front([10, 11, 12])
    assert queue.take(2) == [10, 11]
    queue.put_front([9])
    assert drain(queue) == [9, 12, 0, 1, 2, 3, 4, 5]
    queue.put_front([1, 2])
    queue.put_many([3, 4, 5])
    assert drain(queue, 100) == [1, 2, 3, 4, 5]


def test_spilling_empties_the_memory_and_keeps_the_order(store: BlockStore) -> None:
    queue = make(store, size=4)
    queue.put_many(range(10))
    queue.take(1)
    spill(queue)
    assert queue.in_memory == 0
    assert len(queue.keys()) == 3
    assert len(queue) == 9
    queue.put_many([10])
    queue.put_front([0])
    spill(queue)
    spill(queue)
    assert drain(queue) == list(range(11))
    spill(queue)
    assert queue.keys() == []


def test_a_snapshot_is_the_same_queue_also_after_a_restart(store: BlockStore) -> None:
    queue = make(store)
    queue.put_many(range(9))
    queue.take(1)
    state = queue.snapshot()
    assert state == QueueState([1], references((1, 2), (2, 2), (3, 2)), [8], 4)
    stored = msgspec.msgpack.encode(state)
    drain(queue)
    queue.put_many([100])
    state = msgspec.msgpack.decode(stored, type=QueueState[int])
    again = CachingQueue.restore(state, "q", 2, store, encode, decode)
    assert again.snapshot() == state
    assert len(again) == 8
    again.put_many([9, 10])
    assert drain(again) == list(range(1, 11))


def test_a_snapshot_does_not_change_with_the_queue(store: BlockStore) -> None:
    queue = make(store, size=10)
    queue.put_front([1, 2])
    queue.put_many([3])
    state = queue.snapshot()
    queue.put_many([4])
    queue.put_front([0])
    queue.take(2)
    assert (state.front, state.back) == ([1, 2], [3])


def test_restoring_leaves_the_state_alone(store: BlockStore) -> None:
    state = QueueState([1], b"", [2], 3)
    queue = CachingQueue.restore(state, "q", 5, store, encode, decode)
    queue.put_many([3])
    assert drain(queue) == [1, 2, 3]
    assert state == QueueState([1], b"", [2], 3)


def test_a_block_is_taken_from_memory_while_it_is_written(store: BlockStore) -> None:
    taken: list[int] = []

    def encode_slowly(items: Sequence[int]) -> bytes:
        taken.extend(queue.take(2))
        taken.extend(queue.take(2))
        return encode(items)

    queue = make(store, codec=(encode_slowly, decode))
    queue.put_many(range(5))
    assert taken == [0, 1, 2, 3]
    assert drain(queue) == [4]
    assert store.retired() == store.keys() == ["q_1.cqb"]  # written in vain, once, and to be deleted


def test_what_could_not_be_spilled_is_still_there(store: BlockStore) -> None:
    """The disk was full: nothing may be said to be on it, in no checkpoint either."""
    queue = make(store)
    queue.put_many([1, 2, 3])
    queue.spill({})
    state = queue.snapshot()
    assert {f"q_{number}.cqb" for number, _ in state.numbers()} <= set(store.keys()), "the snapshot tries again"
    queue.put_many([4, 5])
    queue.spill({})
    assert drain(queue) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("spilling", [False, True])
def test_the_front_may_grow_while_a_block_is_read(store: BlockStore, spilling: bool) -> None:
    calls: list[int] = []

    def decode_slowly(block: bytes) -> list[int]:
        if not calls:
            calls.append(1)
            queue.put_front([100, 101])
            if spilling:
                spill(queue)
        return decode(block)

    queue = make(store, codec=(encode, decode_slowly))
    queue.put_many(range(7))
    queue.take(2)
    assert drain(queue) == [100, 101, 2, 3, 4, 5, 6]
    assert sorted(store.retired()) == store.keys()


def test_what_could_not_be_written_stays_in_memory(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "q")
    queue = CachingQueue("q", 2, store, lambda items: bytes(200_000) + encode(items), lambda block: decode(block[200_000:]))
    (pages,) = store._writer.row("PRAGMA page_count")
    store._writer.write(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(StorageError, match="disk is full"):
        queue.put_many(range(7))
    assert len(queue) == 7
    with pytest.raises(StorageError, match="disk is full"):
        queue.snapshot()
    store._writer.write("PRAGMA max_page_count = 100000")
    state = queue.snapshot()
    assert store.keys() == queue.keys() == ["q_1.cqb", "q_2.cqb"]
    assert drain(queue) == list(range(7))
    assert sum(length for _, length in state.numbers()) == 4
    store.close()


def damage(block: bytes) -> Iterator[tuple[str, bytes]]:
    yield "damaged", b""
    yield "damaged", block[:-1]
    yield "damaged", b"CQB0" + block[4:]
    for place in range(len(block)):
        yield "damaged", block[:place] + bytes([block[place] ^ 4]) + block[place + 1 :]


def test_a_missing_or_damaged_block_is_named_and_nothing_is_lost(store: BlockStore) -> None:
    queue = make(store)
    queue.put_many(range(7))
    assert queue.take(2) == [0, 1]
    good = store.get("q_1.cqb") or b""
    for what, bad in damage(good):
        store.put("q_1.cqb", bad)
        with pytest.raises(StorageError, match=rf"queues\d*/cache.db: block q_1.cqb is {what}"):
            queue.take(2)
    store.transaction({}, ["q_1.cqb"])
    with pytest.raises(StorageError, match=r"block q_1.cqb is missing"):
        queue.take(2)
    assert len(queue) == 5
    store.put("q_1.cqb", good)
    assert drain(queue) == [2, 3, 4, 5, 6]


def test_a_block_of_another_kind_or_length_is_damaged_too(store: BlockStore) -> None:
    other = CachingQueue("q", 3, store, lambda items: b"no JSON" if 4 in items else encode(items), decode)
    other.put_many(range(11))
    states = other.snapshot()
    queue = CachingQueue.restore(states, "q", 3, store, encode, decode)
    queue.take(3)
    with pytest.raises(StorageError, match=r"q_1.cqb can't be decoded \(Expecting value"):
        queue.take(3)
    short = CachingQueue.restore(QueueState([], references((2, 4)), [], 3), "q", 3, store, encode, decode)
    with pytest.raises(StorageError, match=r"q_2.cqb has 3 items instead of 4"):
        short.take(3)


def test_many_producers_one_consumer(store: BlockStore) -> None:
    queue = make(store, size=7)
    deaths: list[BaseException] = []
    workers = Workers(lambda name, error: deaths.append(error))

    def produce(first: int) -> None:
        for start in range(first, first + 300, 5):
            queue.put_many(range(start, start + 5))

    for first in (0, 1000, 2000):
        workers.start(f"larm-producer-{first}", lambda first=first: produce(first))  # type: ignore[misc]
    taken: list[int] = []
    while workers.alive() or queue:
        taken += queue.take(11)
    assert workers.join(30) == []
    assert deaths == []
    for first in (0, 1000, 2000):
        assert [item for item in taken if first <= item < first + 1000] == list(range(first, first + 300))
    assert len(queue) == 0
    assert queue.keys() == []
    assert sorted(store.retired()) == store.keys()


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 9)),
        st.tuples(st.just("front"), st.integers(0, 4)),
        st.tuples(st.just("take"), st.integers(0, 7)),
        st.tuples(st.sampled_from(["spill", "restart"]), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(size=st.integers(1, 5), operations=OPERATIONS)
def test_it_behaves_like_a_list(shared_store: BlockStore, size: int, operations: list[tuple[str, int]]) -> None:
    store = shared_store
    store.transaction({}, store.keys())
    store.retired()
    queue = make(store, size)
    model: list[int] = []
    fresh = iter(range(10_000))
    for operation, n in operations:
        if operation == "put":
            items = [next(fresh) for _ in range(n)]
            queue.put_many(items)
            model += items
        elif operation == "front":
            items = [next(fresh) for _ in range(n)]
            queue.put_front(tuple(items))
            model[:0] = items
        elif operation == "take":
            taken = queue.take(n)
            assert taken == model[: len(taken)]
            assert bool(taken) == bool(n and model)
            assert len(taken) <= n
            del model[: len(taken)]
        elif operation == "spill":
            spill(queue)
        else:
            state = queue.snapshot()
            store.transaction({}, store.retired())  # a checkpoint, and then a kill
            assert store.keys() == sorted(queue.keys())
            queue.take(3)
            queue.put_many([-1] * 7)
            queue = CachingQueue.restore(state, "q", size, store, encode, decode)
            store.transaction({}, set(store.keys()) - set(queue.keys()))
            store.retired()
        assert len(queue) == len(model)
        assert set(queue.keys()) <= set(store.keys())
        assert len(queue._back or ()) <= size
    assert drain(queue) == model
