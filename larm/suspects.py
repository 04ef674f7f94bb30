"""Suspects: pages that were being read when the process died, and those that must not be read again.

A page that crashes a C library would otherwise do so after every restart. Each fetcher thread notes in a flight recorder which
page it reads. What a dead process left there gets points: many if it died of a fatal signal of its own (SIGSEGV, SIGABRT ...),
few if nobody knows why (a kill -9, which is rarely a page's fault). Two crashes set a page aside.

Built by the wiring at the start; `reading` is called by the fetcher threads, each with its own slot.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.atomic import write_atomically
from larm.kit.disk_failure import disk_failure
from larm.kit.flight_recorder import LONGEST, FlightRecorder
from larm.model.digest import digest

CRASHED, DIED = 3, 1
"""Points for a crash, and for an end without a word."""
ENOUGH = 6
"""Two crashes, or six unexplained deaths."""


class Suspects:
    """Owns ``suspects.json``, ``inflight`` and ``crash`` in the folder of the queues."""

    def __init__(self, folder: Path, slots: int) -> None:
        """Draw conclusions from what the last process left. Raises StorageError."""
        self._file = folder / "suspects.json"
        trace = folder / "crash"
        self._points = _read(self._file)
        try:
            crashed = trace.exists() and trace.stat().st_size > 0
            self._recorder = FlightRecorder(folder / "inflight", slots)
            for url in self._recorder.left_over:
                self._points[url] = self._points.get(url, 0) + (CRASHED if crashed else DIED)
            if self._recorder.left_over:
                write_atomically(self._file, msgspec.json.encode(self._points))
            self._trace = trace.open("wb")
        except OSError as error:
            raise disk_failure(folder, error) from error
        faulthandler.enable(self._trace)
        self.aside = frozenset(url for url, points in self._points.items() if points >= ENOUGH)
        """Names of pages that are not to be read, see `refuses`."""

    def refuses(self, url: str) -> bool:
        """Whether this page, of which the access URL is given, is not to be read."""
        return bool(self.aside) and _name(url) in self.aside

    @contextmanager
    def reading(self, slot: int, url: str) -> Iterator[None]:
        """The thread of this slot reads a page."""
        self._recorder.begin(slot, _name(url))
        yield  # after an exception the slot stays as it is: the process is about to end
        self._recorder.end(slot)

    def close(self) -> None:
        """A clean end: nobody is to blame. A second call does nothing."""
        if not self._trace.closed:
            faulthandler.disable()
            self._trace.close()
            Path(self._trace.name).unlink(missing_ok=True)
            self._recorder.close()


def _name(url: str) -> str:
    """The URL; of one that the recorder would cut, the beginning, and what tells it from others that begin so."""
    if len(url) <= LONGEST:
        return url
    return f"{url[:1000]}...{digest(url.encode('utf-8', 'replace')):x}"


def _read(file: Path) -> dict[str, int]:
    if not file.exists():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, int])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{file}: can't be read ({error}); remove it, and pages that crash larm will be tried again"
        ) from error
