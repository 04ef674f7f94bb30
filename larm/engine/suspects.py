"""Suspects: pages that were being read when the process died, and those that must not be read in it again.

A page that crashes a C library, or fills the memory, would otherwise do so after every restart. Each thread that reads notes in
a flight recorder which page that is. What a dead process left there is a suspect: the next run fetches it last and alone, after
a checkpoint, so that another death costs nothing but this page. After that it is only read by html5lib, in a process of its own
(`larm.engine.reading_pool`), or set aside. A page that is read here is no suspect any more.

A kill may hit any page, so it takes three of them where two crashes are enough. No verdict is final: the next revisit reads
the page last and alone again, and each run names it until it is read.

Built by the wiring at the start; `reading` is called by the threads that fetch or read, each with its own slot, `hold` by those
that fetch, `next_held` by the tick thread.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.json_file import read_json
from larm.kit.processes.crash_trace import CrashTrace
from larm.kit.processes.flight_recorder import LONGEST, FlightRecorder
from larm.model.crawl_hash import digest
from larm.model.lease import Lease

CRASHED, KILLED, ENOUGH = 3, 2, 6
"""Points for a death with a crash trace, and without one; number that sets a page aside."""


class _Record(msgspec.Struct, frozen=True):
    """One page."""

    points: int = 0
    cycle: int = 0
    """The revisit in which it ended a process last, or was set aside."""
    lost: bool = False
    """It is set aside, and was not read in any other way."""


class Suspects:
    """Owns ``suspects.json``, ``inflight`` and ``crash`` in the folder of the queues."""

    def __init__(self, folder: Path, slots: int, cycle: int = 0) -> None:
        """Draw conclusions from what the last process left; ``cycle``: its revisit. Raises StorageError."""
        self._file = folder / "suspects.json"
        trace = folder / "crash"
        advice = "remove it, and pages that crash larm will be tried again"
        self._records = read_json(self._file, dict[str, _Record], advice) or {}
        with disk_failures(folder):
            crashed = CrashTrace.crashed(trace)
            self._recorder = FlightRecorder(folder / "inflight", slots)
            for url in self._recorder.left_over:
                before = self._records.get(url, _Record())
                points = before.points + (CRASHED if crashed else KILLED)
                self._records[url] = _Record(points, cycle, lost=before.lost)
            self.killed = bool(self._recorder.left_over) and not crashed
            """The last process was killed while it read something: it may have been short of memory."""
            self._trace = CrashTrace(trace)
            if self._recorder.left_over or crashed:  # this syncs the folder, so that no power cut brings the old trace back
                write_atomically(self._file, msgspec.json.encode(self._records))
        self._closed = False
        self._lock = threading.Lock()
        # guarded by self._lock
        self._held: deque[Lease] = deque()
        self._survived: set[str] = set()
        self.begin(cycle)

    def begin(self, cycle: int) -> None:
        """Begin a run of this revisit; what an earlier one set aside is tried again."""
        with self._lock:
            self._cycle = cycle
            tried = {url for url, each in self._records.items() if each.points >= ENOUGH}
            self.aside = frozenset(url for url in tried if not self._records[url].lost or self._records[url].cycle >= cycle)
            """Names of pages that are not to be read, see `refuses`."""
            self._waiting = set(self._records) - self.aside

    def lose(self, url: str) -> None:
        """Note that a page is set aside. Raises StorageError."""
        with self._lock:
            name = _name(url)
            if not self._records[name].lost:
                self._records[name] = msgspec.structs.replace(self._records[name], cycle=self._cycle, lost=True)
                write_atomically(self._file, msgspec.json.encode(self._records))

    @property
    def lost(self) -> list[str]:
        """Names of the pages that are set aside, also by earlier runs."""
        with self._lock:
            return [url for url, each in self._records.items() if each.lost and url not in self._survived]

    def refuses(self, url: str) -> bool:
        """Whether this page, of which the access URL is given, is not to be read."""
        return bool(self.aside) and _name(url) in self.aside

    def hold(self, lease: Lease) -> bool:
        """Whether this lease is for a suspect, whose turn is last; it is kept for `next_held` then."""
        if not self._waiting or lease.robots:  # nearly always
            return False
        with self._lock:
            if _name(lease.message.url.access) not in self._waiting:
                return False
            self._held.append(lease)
            return True

    @property
    def holds(self) -> bool:
        """Some suspect waits for everything else to be done."""
        return bool(self._held)

    def next_held(self) -> Lease | None:
        """A lease that was held; its page may be fetched now."""
        with self._lock:
            if not self._held:
                return None
            lease = self._held.popleft()
            self._waiting.discard(_name(lease.message.url.access))
            return lease

    @contextmanager
    def reading(self, slot: int, url: str) -> Iterator[None]:
        """The thread of this slot reads a page, or has it read."""
        name = _name(url)
        self._recorder.begin(slot, name)
        yield  # after an exception the slot stays as it is: the process is about to end
        self._recorder.end(slot)
        if name in self._records:
            with self._lock:
                self._survived.add(name)

    def close(self) -> None:
        """A clean end: nobody is to blame, and who was read is no suspect any more. A second call does nothing."""
        if not self._closed:
            self._closed = True
            if self._survived:
                left = {name: each for name, each in self._records.items() if name not in self._survived}
                with suppress(OSError):  # they are suspects for one more run
                    write_atomically(self._file, msgspec.json.encode(left))
            self._trace.close()
            self._recorder.close()


def _name(url: str) -> str:
    """The URL; of one that the recorder would cut, the beginning, and what tells it from others that begin so."""
    if len(url) <= LONGEST:
        return url
    return f"{url[:1000]}...{digest(url.encode('utf-8', 'replace')):x}"
