"""ReliefLane: where pages wait for processes that read them, as the crawl itself has its hands full.

Python runs one thread at a time: a crawl that the CPU limits leaves all cores but one idle. So pages of HTML are offered to
processes of their own (`PageReader`); what they have no room for, the fetcher reads itself, so nobody ever waits for them. The
first process is there from the start, if it could be made `larm.reading.ahead`; another one comes when what is read here has
taken much of a window of time.

`divert` is called by the fetcher threads, `spent` by all that read, `at_once`, `stop` and `rest` by the main thread, the
others by the threads ``larm-relief-<n>``. The lease of a page that waits is still out: the tally counts it, and a checkpoint
saves it as being in the air. Its host is told that the request is over, or 16 requests at a time would soon be 16 pages that
wait.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from larm.model.lease import Lease
from larm.model.outcome import Fetched, Outcome
from larm.seams import Clock

Ended = tuple[Lease, Outcome]

WINDOW = 0.1
"""Seconds over which the need is judged: as long as the start of a process takes."""
MUCH = 0.2
"""Share of a window, in processor time spent on reading pages, from which a first process pays, if none was there from the
start: some 500 pages a second."""
LATER, SOME = 1.0, 0.1
"""The same, of what the fetchers still read themselves, for each further process: a crawl of a second needs no second one."""
BATCH = 16
"""Pages handed over at a time, at most: some ten milliseconds of work."""
WAITING = 512
"""Pages that wait for each process, beside those that it was given: an eighth of a second of work. With half as many a crawl of
1,000 pages reads some itself, for which it has to load what reads them, and takes a fiftieth longer."""
BATCH_BYTES, WAITING_BYTES = 1_000_000, 16_000_000
"""Bytes of them, and one page more."""


class ReliefLane:
    """Closed until there is a process that is ready: from the start, or when there is need."""

    def __init__(
        self,
        clock: Clock,
        answered: Callable[[Sequence[tuple[Lease, Fetched]]], object],
        enough: Callable[[], bool],
        is_page: Callable[[Fetched], bool],
    ) -> None:
        """``answered`` is told of the pages that wait here; ``enough()``: there is enough left for who comes to help.

        ``is_page``: whether the processes can read it.
        """
        # constant after construction
        self._clock = clock
        self._answered = answered
        self._enough = enough
        self._is_page = is_page
        self._lock = threading.Lock()
        self._needed = threading.Condition(self._lock)
        self._work = threading.Condition(self._lock)  # of its own: to notify somebody must not wake who is not needed yet
        # guarded by self._lock
        self._queue: deque[tuple[Lease, Fetched]] = deque()
        self._room = self._space = 0  # for so many more pages, and bytes of them
        self._stopped = False
        self._there: set[int] = set()
        # guarded by self._lock: the need
        self._since = clock.monotonic()
        self._spent = 0.0
        self._wanted = self._ready = 0  # processes

    def at_once(self) -> None:
        """The first process is there already. Before anybody else comes here."""
        self._wanted = 1
        self.open(0)

    def spent(self, seconds: float) -> None:
        """One of our own threads has read pages, for so long."""
        if self._wanted > self._ready:  # one is on its way
            return
        window, share = (LATER, SOME) if self._wanted else (WINDOW, MUCH)
        with self._lock:
            self._spent += seconds
            passed = self._clock.monotonic() - self._since
            if passed >= window:
                if self._spent > share * passed and self._enough():
                    self._wanted += 1
                    self._needed.notify_all()
                self._since, self._spent = self._clock.monotonic(), 0.0

    def wait_for_need(self, number: int) -> bool:
        """Until the process of this number, from 0 on, is needed; False: `stop` was called."""
        with self._lock:
            self._needed.wait_for(lambda: self._wanted > number or self._stopped)
            return not self._stopped

    def open(self, number: int) -> None:
        """The process of this number is ready."""
        with self._lock:
            if number in self._there:
                return
            self._there.add(number)
            self._ready += 1
            self._since, self._spent = self._clock.monotonic(), 0.0
            self._room += WAITING
            self._space += WAITING_BYTES

    def divert(self, ended: Sequence[Ended]) -> Sequence[Ended]:
        """Queue pages while there is room; the rest, in its order. Never waits."""
        if self._space <= 0:  # a stale look costs nothing
            return ended
        pages = [(lease, outcome) for lease, outcome in ended if isinstance(outcome, Fetched) and not lease.robots]
        pages = [page for page in pages if self._is_page(page[1])]
        if not pages:
            return ended
        with self._lock:
            if self._stopped:
                return ended
            pages = self._fitting_locked(pages)
        if not pages:
            return ended
        self._answered(pages)  # before somebody may have read them
        with self._lock:
            self._queue.extend(pages)
            self._work.notify(-(-len(pages) // BATCH))
        taken = {id(lease) for lease, _ in pages}
        return [each for each in ended if id(each[0]) not in taken]

    def _fitting_locked(self, pages: list[tuple[Lease, Fetched]]) -> list[tuple[Lease, Fetched]]:
        """Those that there is room for."""
        fitting = []
        for page in pages:
            if self._space > 0 and self._room > 0:
                self._room -= 1
                self._space -= len(page[1].body)
                fitting.append(page)
        return fitting

    def take(self, *, wait: bool = True) -> list[tuple[Lease, Fetched]]:
        """The next pages; waits for some, unless it is to look only. None of them after `stop`."""
        with self._lock:
            if wait:
                self._work.wait_for(lambda: self._queue or self._stopped)
            if self._stopped:
                return []
            pages: list[tuple[Lease, Fetched]] = []
            size = 0
            while self._queue and len(pages) < BATCH and size < BATCH_BYTES:
                pages.append(self._queue.popleft())
                size += len(pages[-1][1].body)
            self._room += len(pages)
            self._space += size
            return pages

    def stop(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._stopped = True
            self._needed.notify_all()
            self._work.notify_all()

    def rest(self) -> list[Lease]:
        """What nobody has taken; after `stop`, when the threads have ended."""
        with self._lock:
            leases = [lease for lease, _ in self._queue]
            self._queue.clear()
            return leases

    def __repr__(self) -> str:
        return f"<ReliefLane: {self._ready} of {self._wanted} processes, {len(self._queue)} pages, room for {self._room}>"
