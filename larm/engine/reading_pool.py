"""ReadingPool: where pages that were fetched wait for who reads them, and the threads that have them read.

There are three kinds of workers, and `larm.parse.triage` says whom a page is for:

- the fetcher itself: `sort` gives it back what nobody else reads, and what nobody else has room for;
- page processes, each with a thread ``larm-page-<n>`` that keeps several batches on their way to it. Python runs one thread at
  a time, so a crawl that the CPU limits leaves all cores but one idle. Nobody ever waits for them. The first is there from the
  start, if it could be made `larm.parse.reading.ahead`; another one comes where there is need;
- for what takes a process of its own, the threads ``larm-document-<n>``. They read documents by way of the processors, and
  large or packed pages, one at a time, by a process that gets the memory granted: a page of 10 MB can take 660 MB while it is
  read, and some 50 KB of gzip can be such a page. In the same way they have pages read by html5lib over which larm itself has
  ended more than once. What waits here is bounded, and beyond that the fetchers wait: the brake of a
  crawl of nothing but PDF.

The lease of a page that waits is still out: the tally counts it, and a checkpoint saves it as being in the air. The host of a
page that waits for a page process is told that the request is over, or 16 requests at a time would soon be 16 pages that wait;
the host of a document is not, and so is asked for no more of them than it has requests at a time.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol

from larm.fetch.pool import FetcherPool
from larm.frontier.queues import HostQueues
from larm.kit.garbage import give_back
from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.lease import Lease
from larm.model.outcome import Fetched, Outcome
from larm.parse.reading.page_reader import PIPELINED, Found, Page, PageReader
from larm.parse.triage import READ_BY_PROCESSES, Triage, Work
from larm.seams import Clock

Ended = tuple[Lease, Outcome]

PAGE = 20_000
"""What a page costs beside its bytes, as if it had so many more: the least of 0.1 ms to read it, and its way to and fro."""
BATCH = 1_000_000
"""Cost of the pages handed over at a time, and one more: up to 50, some ten milliseconds of work."""
WAITING = 32_000_000
"""Cost of the pages that wait for each process, beside those that it was given: up to 1,500, half a second of work. With a
third of that the crawl reads some itself while the first process still loads, for which it has to load what reads pages, too:
5 % of the CPU of 1,170 pages."""
WINDOW = 1.0
"""Seconds over which it is judged whether another process pays: a crawl that short needs none."""
MUCH = 0.1
"""Share of a window, in processor time, that the fetchers spend on pages for which there was no room, from which it does."""


class Mouth(Protocol):
    """Where pages go that were read: `larm.engine.unloading.Unloader`. Each thread has a number of its own there."""

    def refuses(self, url: str) -> bool:
        """A page that is not to be read in this process, of which the access URL is given."""

    def reading(self, number: int, url: str) -> AbstractContextManager[None]:
        """Entered while the thread of this number has a page read."""

    def unload(self, number: int, ended: Sequence[Ended], found: Sequence[Found] = ()) -> float:
        """What is not read yet is read; returns the processor time of that, in seconds."""


def _cost(page: Page) -> int:
    return PAGE + len(page[1].body)


class _Line:
    """Pages that wait; guarded by the lock of the pool."""

    def __init__(self, lock: threading.Lock, limit: int) -> None:
        self.changed = threading.Condition(lock)  # of its own: to notify somebody must not wake who waits for something else
        self.queue: deque[Page] = deque()
        self.size = 0
        """Cost of all of them."""
        self.limit = limit

    @property
    def room(self) -> int:
        """While there is any, one more fits; a look without the lock may be stale."""
        return self.limit - self.size

    def put_locked(self, pages: Sequence[Page]) -> None:
        self.queue += pages
        self.size += sum(map(_cost, pages))
        self.changed.notify_all()

    def take_locked(self, cost: int) -> list[Page]:
        """Of so much cost, and one more."""
        pages: list[Page] = []
        while self.queue and cost > 0:
            pages.append(self.queue.popleft())
            its = _cost(pages[-1])
            cost -= its
            self.size -= its
        self.changed.notify_all()
        return pages

    def __repr__(self) -> str:
        return f"{len(self.queue)} pages, {self.size:,} of {self.limit:,}"


class ReadingPool:
    """Owns what waits, and the processes that read pages."""

    def __init__(
        self,
        *,
        triage: Triage,
        mouth: Mouth,
        queues: HostQueues,
        fetchers: FetcherPool,
        clock: Clock,
        pages: Sequence[PageReader],
        large: PageReader,
        memory: MemoryBudget,
        documents: int,
        limit_bytes: int,
    ) -> None:
        """``large`` reads what is large or packed; ``documents``: threads for that and for documents, of which ``limit_bytes``
        wait, and one more."""
        # constant after construction
        self._triage = triage
        self._mouth = mouth
        self._queues = queues
        self._fetchers = fetchers
        self._clock = clock
        self._pages = pages
        self._large = large
        self._memory = memory
        self._documents = documents
        self._turn = threading.Lock()  # of the threads that want something large read
        self._lock = threading.Lock()
        self._needed = threading.Condition(self._lock)
        # guarded by self._lock
        self._light = _Line(self._lock, 0)
        self._slow = _Line(self._lock, limit_bytes)
        self._wanted = self._ready = 0  # page processes
        self._since, self._spent = clock.monotonic(), 0.0
        self._stopped = False

    # -- the main thread

    def begin(self) -> None:
        """Have the first page process at once, as long as there is no other thread."""
        if self._pages and self._pages[0].fork():
            self._wanted = 1
            self._open()

    def threads(self) -> Iterator[Callable[[int], None]]:
        """What each thread does, given its number; those for documents first."""
        yield from [self._read_slow] * self._documents
        yield from [partial(self._read_light, place) for place in range(len(self._pages))]

    def stop(self) -> None:
        """Nobody waits any more; what is not read is fetched again by the next run."""
        with self._lock:
            self._stopped = True
            for each in (self._needed, self._light.changed, self._slow.changed):
                each.notify_all()
        for reader in self._pages:
            reader.hurry()
        self._large.interrupt()
        self._memory.stop()

    def rest(self) -> list[Lease]:
        """What nobody has taken; after `stop`, when the threads have ended."""
        with self._lock:
            return [lease for line in (self._slow, self._light) for lease, _ in line.take_locked(line.size)]

    def close(self) -> None:
        """End the processes."""
        for reader in (*self._pages, self._large):
            reader.close()

    # -- the fetcher threads

    def sort(self, ended: Sequence[Ended], full: Callable[[], object] = lambda: None) -> list[Ended]:
        """Queue what others read; the rest, in its order, is for the caller. Calls ``full`` before it waits for room."""
        here: list[Ended] = []
        light: list[Page] = []
        slow: list[Page] = []
        room = self._light.room
        for lease, outcome in ended:
            work = self._work(lease, outcome)
            if not isinstance(outcome, Fetched) or work is Work.HERE or (work is Work.LIGHT and room <= 0):
                here.append((lease, outcome))
            elif work is Work.LIGHT:
                light.append((lease, outcome))
                room -= _cost(light[-1])
            else:
                slow.append((lease, outcome))
        if light:
            self._queues.answered(light)  # before somebody may have read them
            with self._lock:
                self._light.put_locked(light)
        for page in slow:
            if self._slow.room <= 0:  # who is called for nothing loses nothing
                full()
            with self._lock:
                self._slow.changed.wait_for(lambda: self._slow.room > 0 or self._stopped)
                self._slow.put_locked([page])
        return here

    def spent(self, seconds: float) -> None:
        """A fetcher has read pages, for so long."""
        if self._ready == len(self._pages):
            return
        with self._lock:
            self._spent += seconds
            now = self._clock.monotonic()
            passed = now - self._since
            if self._wanted > self._ready:  # one is on its way
                self._since, self._spent = now, 0.0
            elif passed >= WINDOW:
                if self._spent > MUCH * passed and self._queues.enough():
                    self._wanted += 1
                    self._needed.notify_all()
                self._since, self._spent = now, 0.0

    def _work(self, lease: Lease, outcome: Outcome) -> Work:
        if lease.robots or not isinstance(outcome, Fetched):
            return Work.HERE
        work = self._triage.work(outcome)
        if self._mouth.refuses(lease.message.url.access):
            return Work.HEAVY if work in READ_BY_PROCESSES else Work.HERE
        return work

    # -- larm-page-<n>

    def _read_light(self, place: int, number: int) -> None:
        reader = self._pages[place]
        with self._lock:
            self._needed.wait_for(lambda: self._wanted > place or self._stopped)
        if not self._stopped:
            reader.start()
            if place >= self._ready:  # else it was there from the start
                self._open()
        while (pages := self._take(self._light, BATCH, wait=not reader.out)) or reader.out:
            if pages:
                reader.hand(pages)
                if reader.out < PIPELINED:
                    continue
            self._unload(number, *reader.take())
        reader.dismiss()

    def _open(self) -> None:
        """One more process is ready."""
        with self._lock:
            self._ready += 1
            self._light.limit += WAITING

    # -- larm-document-<n>

    def _read_slow(self, number: int) -> None:
        while pages := self._take(self._slow, 1):
            ((lease, fetched),) = pages
            heavy = self._work(lease, fetched) is Work.HEAVY
            self._unload(number, pages, [self._read_large(number, lease, fetched) if heavy else None])
            self._fetchers.wake_one()  # its host may be asked again, and who asks is another thread
            give_back()  # it was large

    def _read_large(self, number: int, lease: Lease, fetched: Fetched) -> Found:
        """Waits for its turn, and for memory."""
        url = lease.message.url.access
        careful = self._mouth.refuses(url)  # then it stays a suspect: it was read, but not here
        reading = nullcontext() if careful else self._mouth.reading(number, url)
        with self._turn, self._memory.granted(self._triage.memory(fetched, careful=careful)) as given, reading:
            if self._stopped:
                return None
            self._large.memory = given
            if careful:
                return self._large.read_carefully((lease, fetched))
            self._large.hand([(lease, fetched)])
            return self._large.take()[1][0]

    # -- both

    def _take(self, line: _Line, cost: int, *, wait: bool = True) -> list[Page]:
        """The next pages; waits for some, or only looks. None of them after `stop`."""
        with self._lock:
            if wait:
                line.changed.wait_for(lambda: line.queue or self._stopped)
            return [] if self._stopped else line.take_locked(cost)

    def _unload(self, number: int, pages: Sequence[Page], found: Sequence[Found]) -> None:
        if self._stopped:
            self._queues.give_back([lease for (lease, _), each in zip(pages, found, strict=True) if each is None])
            pages = [page for page, each in zip(pages, found, strict=True) if each is not None]
            found = [each for each in found if each is not None]
        if pages:
            self._mouth.unload(number, pages, found)

    def __repr__(self) -> str:
        return f"<ReadingPool: {self._ready} of {self._wanted} processes, {self._light!r}; {self._slow!r} slow>"
