"""StorageLine: the queue in front of one storage, and what its writer thread does (LARM-110, LARM-124).

`put` and `wait_for_room` are called by the fetcher threads, `request_commit` by the thread that writes checkpoints, `run` is
the body of the storage's own thread, `StorageLine.thread`; all calls of the storage happen there.

So many bytes wait in memory. A storage that is slower than the crawl fills them; then the fetchers wait, which is the brake of
the river. Where it makes no room for a while (a merge, a slow disk), what comes next goes to the disk (`Overflow`), up to a
limit, and the crawl goes on.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from larm.errors import StorageError
from larm.kit.blame import blamed
from larm.kit.threads.progress import Progress, Pulse
from larm.model.document import Visit
from larm.seams import Storage
from larm.store.overflow import Overflow

QUEUE = 16_000_000
"""Bytes that wait in memory for one storage, or for those who read pages; beyond it the fetchers wait."""
_WAKE = 500_000
"""Bytes at which the writer is woken before the next commit asks for it. Measured: waking it for each page made the fetchers
lose a tenth of their time to the GIL."""
_BATCH = 4_000_000
"""Bytes handed to `Storage.store` at a time: few calls, yet the fetchers that wait go on soon."""
_PIECE = 1_000_000
"""Bytes that go to the disk at a time."""
_PATIENCE = 2.0
"""Seconds without room before they do: where the processor is what limits the crawl, a storage makes room in less, and to write
down what waits for it would only cost more of the processor."""


class Ticket:
    """A promise of a commit: its position, or the StorageError that prevents it. Settled once, by the writer thread.

    A future of the standard library would add 5 ms to each start, for it imports ``logging``.
    """

    def __init__(self) -> None:
        self._settled = threading.Event()
        # written before self._settled is set, read after it
        self._position: Mapping[str, Any] = {}
        self.rows: Mapping[str, bytes] = {}
        """Rows of the block store that belong to the position."""
        self._failure: StorageError | None = None

    @property
    def done(self) -> bool:
        """`result` would not wait."""
        return self._settled.is_set()

    def result(self, timeout: float | None = None) -> Mapping[str, Any]:
        """Wait for the position that `Storage.commit` returned. Raises StorageError; TimeoutError after so many seconds."""
        if not self._settled.wait(timeout):
            raise TimeoutError
        if self._failure is not None:
            raise self._failure
        return self._position

    def settle(self, position: Mapping[str, Any]) -> None:
        """The commit is done."""
        self._position = position
        self._settled.set()

    def fail(self, failure: StorageError) -> None:
        """There will be no commit."""
        self._failure = failure
        self._settled.set()


class _Entry(msgspec.Struct, frozen=True):
    """One thing in the queue: visits, a piece of the overflow, or a ticket."""

    visits: Sequence[Visit]
    cost: int
    ticket: Ticket | None = None
    last: bool = False
    """The last commit of the run, which is to be visible, too."""
    on_disk: bool = False
    """The visits are the next piece of the overflow."""


def cost_of(visits: Sequence[Visit]) -> int:
    """Bytes that they hold in a queue."""
    return sum([visit.cost for visit in visits])


class StorageLine:
    """One storage and its queue.

    ``limit_bytes`` bounds what waits in memory or is being written; `put` may overshoot it by what the fetchers hold at that
    moment. ``position`` is what the last checkpoint noted for this storage, None for a new crawl. ``overflow``: where so many
    more bytes, ``overflow_bytes``, may wait.
    """

    def __init__(
        self,
        storage: Storage,
        limit_bytes: int,
        position: Mapping[str, Any] | None,
        overflow: Overflow | None = None,
        overflow_bytes: int = 0,
    ) -> None:
        # constant after construction
        self.name = storage.name
        self.thread = f"larm-store-{storage.name}"
        """The name of the thread that is to `run` it."""
        self.opened = Ticket()
        """Settled when the storage has been opened (its result is the position), failed if that was not possible."""
        self.exchanges: bool = getattr(storage, "exchanges", False)
        """It wants all answers, see `larm.seams.Storage`."""
        self.lasting: bool = getattr(storage, "lasting", True)
        """It has something on the disk, which checkpoints speak of."""
        self._storage = storage
        self._checkpoint_rows: Callable[[], Mapping[str, bytes]] = getattr(storage, "checkpoint_rows", dict)
        self._checkpoint: Callable[[], Mapping[str, Any]] = getattr(storage, "checkpoint", storage.commit)
        self._limit = limit_bytes
        self._overflow = overflow
        self._overflow_limit = overflow_bytes
        self._wake = max(1, min(_WAKE, limit_bytes // 2))
        self._position = position
        self._opening = threading.Lock()
        # guarded by self._lock
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)  # the writer waits here
        self._room = threading.Condition(self._lock)  # the fetchers wait here
        self._queue: deque[_Entry] = deque()
        self._queued = 0
        self._on_disk = 0  # of these
        self._spills = False
        self._tickets = 0  # in the queue
        self._closed = False
        self._failure: StorageError | None = None
        # only the writer thread
        self._call = "opens"
        self.pulse = Pulse()

    def __repr__(self) -> str:
        state = "failed" if self._failure else "closed" if self._closed else "open"
        return f"<StorageLine {self.name}: {state}, {len(self._queue)} entries, {self._queued:,} of {self._limit:,} bytes>"

    @property
    def doing(self) -> str:
        """What the writer thread does, as far as anybody knows: which method of the storage runs, what the storage says of it
        (`larm.seams.Storage`), what waits behind it. Any thread."""
        waits = f"{self._queued / 1e6:,.1f} MB to store" if self._queued else ""
        on_disk = f"{self._on_disk / 1e6:,.1f} MB of them on the disk" if self._on_disk else ""
        return "; ".join(filter(None, (self._call, self.progress, waits, on_disk)))

    @property
    def progress(self) -> str:
        """What the storage says of how far it is with what it does; any thread."""
        said = getattr(self._storage, "progress", None)
        return str(said) if isinstance(said, Progress) else ""

    @property
    def queued_bytes(self) -> int:
        """Cost of all visits that are not yet stored."""
        return self._queued

    def put(self, visits: Sequence[Visit], cost: int | None = None) -> None:
        """Queue a batch; never blocks. After a failure it is thrown away: no checkpoint can claim it any more.

        ``cost``: that of the visits, for a caller that puts them into several queues. Raises StorageError if the overflow
        can't be written, and after `close`, which is a mistake of the caller.
        """
        if not visits:
            return
        cost = cost_of(visits) if cost is None else cost
        with self._lock:
            if self._failure is not None:
                return
            if self._closed:
                raise StorageError(f"storage {self.name} was closed before its last document came")
            self._queue.append(_Entry(visits, cost))
            self._queued += cost
            if self._queued >= self._wake:
                self._work.notify()
            blocks = self._spill_locked() if self._spills else []
        if blocks and self._overflow is not None:
            self._overflow.write(blocks)

    def _spill_locked(self) -> list[int]:
        """What came last goes to the disk, if there is enough of it."""
        beyond = self._queued - self._on_disk - self._limit
        if self._overflow is None or beyond < _PIECE:
            return []
        last: list[_Entry] = []
        cost = 0
        while self._queue and cost < beyond and self._queue[-1].visits:  # neither a ticket nor on the disk
            last.append(self._queue.pop())
            cost += last[-1].cost
        if not last:
            return []
        self._queue.append(_Entry((), cost, on_disk=True))
        self._on_disk += cost
        return self._overflow.append([visit for entry in reversed(last) for visit in entry.visits])

    def wait_for_room(self, stop: Callable[[], bool] | None = None) -> None:
        """Wait while the queue holds more than its limit; ends early on a failure, on `close`, or if ``stop()`` is true.

        ``stop`` is asked when the queue changes and at each `wake`, under the lock: it must be quick.
        """
        if self._queued <= self._limit:  # nearly always; a single read needs no lock
            return
        with self._lock:
            patience = None if self._overflow is None or self._spills else _PATIENCE
            if self._room.wait_for(lambda: self._goes_on_locked(stop), patience):
                return
        self._begin_to_spill()
        with self._lock:
            self._room.wait_for(lambda: self._goes_on_locked(stop))

    def _begin_to_spill(self) -> None:
        with self._opening:  # of all that waited, one opens it
            if self._overflow is not None:
                self._overflow.open()
        with self._lock:
            self._spills = True
            self._room.notify_all()

    def _goes_on_locked(self, stop: Callable[[], bool] | None) -> bool:
        full = self._on_disk >= self._overflow_limit if self._spills else self._queued > self._limit
        return not full or self._closed or self._failure is not None or (stop is not None and stop())

    def wake(self) -> None:
        """Let all who wait for room ask their ``stop`` again."""
        with self._lock:
            self._room.notify_all()

    def request_commit(self, *, last: bool = False) -> Ticket:
        """A commit of everything that was put before; returns at once. ``last``: of this run."""
        ticket = Ticket()
        with self._lock:
            if self._failure is not None:
                ticket.fail(self._failure)
            elif self._closed:
                ticket.fail(StorageError(f"storage {self.name} is closed"))
            else:
                self._queue.append(_Entry((), 0, ticket, last))
                self._tickets += 1
                self._work.notify()
        return ticket

    def close(self) -> None:
        """Let the writer store what is queued, close the storage and end its thread; returns at once."""
        with self._lock:
            self._closed = True
            self._work.notify()
            self._room.notify_all()

    def run(self) -> None:
        """Body of the writer thread, until `close`. Raises StorageError, naming the storage, if the storage raises anything."""
        try:
            self.pulse.beat()
            self._storage.open(self._position)
            self.opened.settle(self._position or {})
            while (entry := self._next()) is not None:
                if entry.ticket is None:
                    self._call = "stores"
                    self._storage.store(entry.visits)
                    self._release(entry.cost)
                else:
                    self._call = "commits"
                    self._commit(entry.ticket, last=entry.last)
            self._call = "closes"
            self.pulse.beat()
            if self._overflow is not None:
                self._overflow.clear()
            self._storage.close()
        except BaseException as error:  # also a panic of an extension module, which is no Exception
            failure = self._named(error)
            self._fail(failure)
            self._close_quietly()
            raise failure from error

    def _next(self) -> _Entry | None:
        """What to do next: the visits of several puts joined into a batch, a ticket, or None at the end."""
        visits: list[Visit] = []
        cost = 0
        with self._lock:
            queue = self._queue
            self._call = "waits"
            self.pulse.rest()
            self._work.wait_for(lambda: self._queued >= self._wake or self._tickets or self._closed)
            self.pulse.beat()
            if not queue:
                return None
            if queue[0].ticket is not None:
                self._tickets -= 1
                return queue.popleft()
            while queue and queue[0].visits and cost < _BATCH:
                entry = queue.popleft()
                visits.extend(entry.visits)
                cost += entry.cost
            if visits:
                return _Entry(visits, cost)
            piece = queue.popleft()
            self._on_disk -= piece.cost
        assert self._overflow is not None  # noqa: S101
        return _Entry(self._overflow.take(), piece.cost)

    def _release(self, cost: int) -> None:
        with self._lock:
            self._queued -= cost
            self._spills = self._spills and self._queued > self._limit
            if self._goes_on_locked(None):
                self._room.notify_all()

    def _commit(self, ticket: Ticket, *, last: bool) -> None:
        try:
            position = self._storage.commit() if last else self._checkpoint()
            if not isinstance(position, Mapping):
                raise TypeError(f"commit returned {position!r:.100}, expected a mapping")
            try:
                msgspec.msgpack.encode(dict(position))  # as a checkpoint does, which would not know whose it is
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"commit returned {position!r:.100}, expected texts, bytes, numbers, lists of them") from None
            ticket.rows = self._checkpoint_rows()
            ticket.settle(position)
        except BaseException as error:
            ticket.fail(self._named(error))
            raise

    def _named(self, error: BaseException) -> StorageError:
        return StorageError(f"storage {self.name} failed: {error if isinstance(error, StorageError) else blamed(error)}")

    def _fail(self, failure: StorageError) -> None:
        with self._lock:
            self._failure = failure
            tickets = [entry.ticket for entry in self._queue if entry.ticket is not None]
            self._queue.clear()
            self._queued = self._on_disk = self._tickets = 0
            self._room.notify_all()
        for ticket in (self.opened, *tickets):
            if not ticket.done:
                ticket.fail(failure)

    def _close_quietly(self) -> None:
        """Files must not stay open after a failure; what close() has to say of it is known already."""
        with contextlib.suppress(Exception):
            self._storage.close()
        with contextlib.suppress(StorageError):
            if self._overflow is not None:
                self._overflow.clear()
