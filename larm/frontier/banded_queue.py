"""BandedQueue: the queue of a host where the crawl has an order: a `CachingQueue` for each band of priority.

Band 0 comes first; within a band, who came first. It can be used as a `CachingQueue` is. Messages are filed when they come;
where an order changes its mind (its ``generation`` rises), those that wait are filed again, some with each message that is
taken, so that a queue of millions never has to be sorted at once.

Guarded by the lock of the `HostBook`, but for `write`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.message import URLMessage
from larm.seams import CrawlOrder

BANDS = 128
"""More are not told apart. A host has those that it needs."""
_AGAIN = 32
"""Messages that are filed again for one that is taken: a queue is sorted anew before a thirtieth of it has been fetched."""

Queue = CachingQueue[URLMessage]


class BandedQueue:
    """Messages of one host."""

    __slots__ = ("_bands", "_generation", "_left", "_length", "_make", "_number", "_order")

    def __init__(self, make: Callable[[int, int], Queue], order: CrawlOrder | None) -> None:
        """``make(band, number)`` makes the queue of a band, whose first block has this number.

        ``order`` None: the last crawl had one, this one has not; see `append`.
        """
        # constant after construction
        self._make = make
        self._order = order
        # guarded by the lock of the book
        self._bands: dict[int, Queue] = {}
        self._length = 0
        self._number = 0  # of the blocks of bands that are no more: a number must not come again before the next checkpoint
        self._generation = -1 if order is None else order.generation
        self._left: dict[int, int] = {}  # by band: messages, from the front, that are to be filed again

    def restore(self, band: int, queue: Queue) -> None:
        """A band of the last checkpoint."""
        self._bands[band] = queue
        self._bands = dict(sorted(self._bands.items()))
        self._length += len(queue)
        if not band:
            self._number = queue.next_number

    def append(self, messages: Sequence[URLMessage]) -> list[int]:
        """File them; returns what `write` needs. Without an order they come last."""
        self._length += len(messages)
        if self._order is None:
            return self._append(max(self._bands, default=0), messages)
        filed: defaultdict[int, list[URLMessage]] = defaultdict(list)
        for band, message in self._order.file(messages):
            filed[band].append(message)
        return [code for band, part in filed.items() for code in self._append(band, part)]

    def write(self, codes: Sequence[int]) -> None:
        """See `CachingQueue.write`. Of a band that is gone by now, all blocks have been taken."""
        for code in codes:
            queue = self._bands.get(code % BANDS)
            if queue is not None:
                queue.write([code // BANDS])

    def put_front(self, messages: Sequence[URLMessage]) -> None:
        """Before all others."""
        if messages:
            self._length += len(messages)
            self._band(0).put_front(messages)

    def take(self, limit: int) -> list[URLMessage]:
        """See `CachingQueue.take`: of the first band that has any."""
        self._file_again()
        for band in list(self._bands):
            queue = self._bands[band]
            if queue:
                taken = queue.take(limit)
                self._length -= len(taken)
                return taken
            self._number = max(self._number, queue.next_number)
            del self._bands[band]
        return []

    @property
    def band(self) -> int:
        """Where `take` would take from."""
        return next((band for band, queue in self._bands.items() if queue), BANDS - 1)

    def __len__(self) -> int:
        return self._length

    @property
    def in_memory(self) -> int:
        """See `CachingQueue.in_memory`."""
        return sum([queue.in_memory for queue in self._bands.values()])

    def spill(self, sink: dict[str, bytes]) -> None:
        """See `CachingQueue.spill`."""
        for queue in self._bands.values():
            queue.spill(sink)

    def spilled(self, sink: Mapping[str, bytes]) -> None:
        """See `CachingQueue.spilled`."""
        for queue in self._bands.values():
            queue.spilled(sink)

    def snapshot(self) -> QueueState[URLMessage]:
        """See `CachingQueue.snapshot`; of band 0. Its next number is that for all bands that are new."""
        state = self._band(0).snapshot()
        return msgspec.structs.replace(state, next_number=max(state.next_number, self._number))

    def snapshots(self) -> dict[int, QueueState[URLMessage]]:
        """Of the other bands."""
        return {band: queue.snapshot() for band, queue in self._bands.items() if band}

    def _append(self, band: int, messages: Sequence[URLMessage]) -> list[int]:
        return [number * BANDS + band for number in self._band(band).append(messages)]

    def _band(self, band: int) -> Queue:
        queue = self._bands.get(band)
        if queue is None:
            queue = self._bands[band] = self._make(band, self._number)
            self._bands = dict(sorted(self._bands.items()))
        return queue

    def _file_again(self) -> None:
        order = self._order
        if order is None:
            return
        if self._generation != order.generation:
            self._generation = order.generation
            self._left = {band: len(queue) for band, queue in self._bands.items() if queue}
        budget = _AGAIN
        while self._left and budget > 0:
            band, left = next(iter(self._left.items()))
            queue = self._bands.get(band)
            taken = queue.take(min(left, budget)) if queue is not None else []
            budget -= len(taken)
            if len(taken) < left and taken:
                self._left[band] = left - len(taken)
            else:  # all, or the others have been fetched meanwhile
                del self._left[band]
            again: defaultdict[int, list[URLMessage]] = defaultdict(list)
            for message in taken:
                again[order.file_again(message, band)].append(message)
            for place, part in again.items():
                self._band(place).put_many(part)

    def __repr__(self) -> str:
        return f"<BandedQueue {', '.join(f'{band}: {len(queue)}' for band, queue in self._bands.items())}>"
