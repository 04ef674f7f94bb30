"""CachingQueue: a FIFO of any length in little memory (LARM-67 to LARM-71).

It consists of blocks of a fixed size. In memory are the block that is taken from (the *front*) and the one that is put to (the
*back*); those between them lie in a `BlockStore` as ``<name>_<n>.cqb``, n counting from 0::

    take <- front (memory) <- block 1 <- block 2 <- ... (disk) <- back (memory) <- put

A block goes to disk when the back is full and the next item comes, unless there is nothing before it: then it becomes the
front (LARM-68). What was read back is not deleted but retired, since the last checkpoint still refers to it.

On disk a block is ``CQB1``, the CRC-32 of the rest (4 bytes, big-endian), and the rest as the caller encoded it (LARM-71).

Many threads may put, one takes. Blocks are encoded, written and read outside of the lock; while a block is being written it
can be taken from memory.
"""

from __future__ import annotations

import sys
import threading
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from larm.errors import REPAIR, StorageError
from larm.kit.disk.block_store import BlockStore

T = TypeVar("T")

_MAGIC = b"CQB1"  # the digit is the version of the format


class QueueState(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """What a checkpoint keeps of a queue: the ends themselves, and references to the blocks on disk."""

    front: list[T]
    """The next item to be taken is the first."""
    blocks: bytes
    """Each block on disk, in order: 8 bytes, little-endian, ``number << 24 | length``. A list of a thousand would be large."""
    back: list[T]
    next_number: int
    """Number of the block that the back is, or will be."""

    def numbers(self) -> list[tuple[int, int]]:
        """(number, length) of each block on disk."""
        return [(block >> _LENGTH_BITS, block & _LENGTH) for block in _unpacked(self.blocks)]

    def blocks_of(self, chosen: Callable[[int], bool]) -> bytes:
        """`blocks`, without those of which ``chosen``, of their numbers, is False."""
        return b"".join(self.blocks[8 * n : 8 * n + 8] for n, (number, _) in enumerate(self.numbers()) if chosen(number))


_LENGTH_BITS = 24
_LENGTH = (1 << _LENGTH_BITS) - 1
"""A block on disk is known by one number, ``number << 24 | length``: a queue may have thousands of them."""


class CachingQueue(msgspec.Struct, Generic[T], eq=False):
    """A FIFO queue; an empty one is some 300 bytes, so that there may be one for each host."""

    # constant after construction
    name: str
    """Unique within the store."""
    _block_size: int
    _store: BlockStore
    _encode: Callable[[Sequence[T]], bytes]
    _decode: Callable[[bytes], list[T]]
    """Undoes it, and raises on what it can't read."""
    _lock: threading.Lock = msgspec.field(default_factory=threading.Lock)
    # guarded by self._lock; lists are made when needed
    _front: list[T] | None = None  # reversed: the next item is the last
    _blocks: array[int] | None = None  # between front and back
    _unwritten: dict[int, list[T]] | None = None  # by number: blocks that are being written, or could not be
    _back: list[T] | None = None
    _next: int = 0
    _length: int = 0

    @classmethod
    def restore(  # noqa: PLR0917  a state, and then what the constructor takes
        cls,
        state: QueueState[T],
        name: str,
        block_size: int,
        store: BlockStore,
        encode: Callable[[Sequence[T]], bytes],
        decode: Callable[[bytes], list[T]],
    ) -> CachingQueue[T]:
        """The queue of which ``state`` is a `snapshot`; its blocks must still be in the store."""
        queue = cls(name, block_size, store, encode, decode)
        queue._front = state.front[::-1] or None
        queue._blocks = _unpacked(state.blocks) if state.blocks else None
        queue._back = list(state.back) or None
        queue._next = state.next_number
        queue._length = len(state.front) + len(state.back) + sum([block & _LENGTH for block in queue._blocks or ()])
        return queue

    def put_many(self, items: Sequence[T]) -> None:
        """Append items, in their order. Any thread; the one that fills a block writes it. Raises StorageError."""
        self.write(self.append(items))

    def append(self, items: Sequence[T]) -> list[int]:
        """As `put_many`, but blocks that are full are left to `write`: for a caller that holds a lock which others wait for."""
        if not items:
            return []
        with self._lock:
            self._length += len(items)
            if self._back is None:
                self._back = list(items)
            else:
                self._back.extend(items)
            return [] if len(self._back) <= self._block_size else self._close_full_blocks_locked(self._back)

    def put_front(self, items: Sequence[T]) -> None:
        """Put items before all others, in their own order. The front may become longer than a block. Any thread."""
        if not items:
            return
        with self._lock:
            self._length += len(items)
            if self._front is None:
                self._front = list(items[::-1])
            else:
                self._front.extend(items[::-1])

    def take(self, limit: int) -> list[T]:
        """Remove and return the oldest items: at most ``limit``, at least one unless the queue is empty. One thread only.

        Raises StorageError, and removes nothing, if the next block is missing or damaged.
        """
        if limit < 1:
            return []
        while True:
            with self._lock:
                front = self._front or self._advance_locked()
                if front:
                    return self._take_locked(front, limit)
                if not self._blocks:
                    return []
                block = self._blocks[0]
            self._load(block)

    def __iter__(self) -> Iterator[T]:
        """All items, oldest first, where they are. While nobody else uses the queue. Raises StorageError."""
        yield from (self._front or [])[::-1]
        for block in self._blocks or ():
            number, length = block >> _LENGTH_BITS, block & _LENGTH
            yield from (self._unwritten or {}).get(number) or self._unpack(self._key(number), length)
        yield from self._back or ()

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return self._length > 0

    def spill(self, sink: dict[str, bytes]) -> None:
        """Make blocks of both ends, full or not, so that the queue takes no memory until it is used again.

        The blocks go into ``sink``; the caller writes them (`BlockStore.put_many`), so that the ends of many queues are written
        at once, and then calls `spilled` with it. If it can't write them, the queue still has them.
        """
        with self._lock:
            blocks = array("Q") if self._blocks is None else self._blocks
            if self._front:
                blocks.insert(0, self._spill_locked(self._front[::-1], sink))
            if self._back:
                blocks.append(self._spill_locked(self._back, sink))
            self._front = self._back = None
            self._blocks = blocks or None

    def spilled(self, sink: Mapping[str, bytes]) -> None:
        """What `spill` put into ``sink`` is on disk now."""
        with self._lock:
            unwritten = {number: items for number, items in (self._unwritten or {}).items() if self._key(number) not in sink}
            self._unwritten = unwritten or None

    @property
    def next_number(self) -> int:
        """No block of the queue has had this number, or a higher one."""
        return self._next

    @property
    def in_memory(self) -> int:
        """Items that are not, or not only, on disk."""
        return len(self._front or ()) + len(self._back or ())

    def snapshot(self) -> QueueState[T]:
        """The state for `restore`, items not copied. To be called in a cut, with `BlockStore.retired` in the same one.

        Blocks that a producer could not write (the disk was full) are tried again. Raises StorageError.
        """
        while True:
            with self._lock:
                unwritten = list(self._unwritten or ())
                if not unwritten:
                    blocks = b"" if self._blocks is None else _little_endian(self._blocks).tobytes()
                    return QueueState((self._front or [])[::-1], blocks, list(self._back or ()), self._next)
            self.write(unwritten)

    def keys(self) -> list[str]:
        """Keys of all blocks in the store that the queue needs."""
        with self._lock:
            return [self._key(block >> _LENGTH_BITS) for block in self._blocks or ()]

    def _key(self, number: int) -> str:
        return f"{self.name}_{number}.cqb"

    def _spill_locked(self, items: list[T], sink: dict[str, bytes]) -> int:
        number = self._next
        self._next += 1
        self._unwritten = (self._unwritten or {}) | {number: items}
        sink[self._key(number)] = self._pack(items)
        return _packed(number, len(items))

    def _pack(self, items: Sequence[T]) -> bytes:
        payload = self._encode(items)
        return _MAGIC + zlib.crc32(payload).to_bytes(4, "big") + payload

    def _close_full_blocks_locked(self, back: list[T]) -> list[int]:
        """Part the overfull back; at least one item stays in it. Returns the numbers of the blocks to write."""
        size = self._block_size
        last = (len(back) - 1) // size * size  # where the new back begins
        closed = [back[start : start + size] for start in range(0, last, size)]
        numbers = list(range(self._next, self._next + len(closed)))
        self._next += len(closed)
        self._back = back[last:]
        if not self._front and not self._blocks:
            self._front = closed.pop(0)[::-1]  # it was both ends in one: not written (LARM-68)
            del numbers[0]
        if numbers:
            if self._blocks is None:
                self._blocks = array("Q")
            self._blocks.extend(_packed(number, len(items)) for number, items in zip(numbers, closed, strict=True))
            self._unwritten = (self._unwritten or {}) | dict(zip(numbers, closed, strict=True))
        return numbers

    def _advance_locked(self) -> list[T] | None:
        """The front is empty: make the next block the front, if it is in memory."""
        if self._blocks:
            items = self._unwritten.pop(self._blocks[0] >> _LENGTH_BITS, None) if self._unwritten else None
            if items is None:
                return None
            del self._blocks[0]
            self._front = items[::-1]  # a copy, as a producer is writing the block just now
        elif self._back:
            self._front, self._back = self._back, None
            self._front.reverse()
            self._next += 1
        return self._front

    def _take_locked(self, front: list[T], limit: int) -> list[T]:
        if limit < len(front):
            taken = front[-limit:]
            del front[-limit:]
        else:
            taken = front
            self._front = None
        taken.reverse()
        self._length -= len(taken)
        return taken

    def _load(self, block: int) -> None:
        """Read a block back; it goes behind what was put to the front meanwhile."""
        key = self._key(block >> _LENGTH_BITS)
        items = self._unpack(key, block & _LENGTH)
        items.reverse()
        with self._lock:
            if not self._blocks or self._blocks[0] != block:
                return  # `spill` put another one before it
            del self._blocks[0]
            if self._front:
                items.extend(self._front)
            self._front = items
        self._store.retire(key)

    def write(self, numbers: Sequence[int]) -> None:
        """Write the blocks that `append` returned. Until then they are taken from memory. Raises StorageError."""
        for number in numbers:
            items = (self._unwritten or {}).get(number)
            if items is None:  # it was taken before its turn came, or another thread has written it
                continue
            key = self._key(number)
            self._store.put(key, self._pack(items))
            with self._lock:
                if self._unwritten:
                    self._unwritten.pop(number, None)
                    self._unwritten = self._unwritten or None
                # from the end, where it stands: a queue may have thousands of blocks
                taken = all(block >> _LENGTH_BITS != number for block in reversed(self._blocks or ()))
            if taken:
                self._store.retire(key)  # it was taken while we wrote; nobody will read it

    def _unpack(self, key: str, length: int) -> list[T]:
        stored = self._store.get(key)
        if stored is None:
            raise StorageError(f"{self._store}: block {key} is missing; {REPAIR}")
        payload = stored[8:]
        if stored[:4] != _MAGIC or stored[4:8] != zlib.crc32(payload).to_bytes(4, "big"):
            raise StorageError(f"{self._store}: block {key} is damaged; {REPAIR}")
        try:
            items = self._decode(payload)
        except Exception as error:  # decode is the caller's: whatever it raises, the block is no good
            raise StorageError(f"{self._store}: block {key} can't be decoded ({error}); {REPAIR}") from error
        if len(items) != length:
            raise StorageError(f"{self._store}: block {key} has {len(items)} items instead of {length}; {REPAIR}")
        return items

    def __repr__(self) -> str:
        return f"<CachingQueue {self.name}: {self._length} items, {len(self._blocks or ())} blocks on disk>"


def _packed(number: int, length: int) -> int:
    return number << _LENGTH_BITS | length


def _unpacked(blocks: bytes) -> array[int]:
    """Raises msgspec.ValidationError where it is not a whole number of blocks."""
    if len(blocks) % 8:
        raise msgspec.ValidationError(f"{len(blocks)} bytes are no references to blocks")
    return _little_endian(array("Q", blocks))


def _little_endian(blocks: array[int]) -> array[int]:
    if sys.byteorder == "big":
        blocks = blocks[:]
        blocks.byteswap()
    return blocks
