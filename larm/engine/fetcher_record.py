"""FetcherRecord: what one fetcher or reading thread does and did: its two logs, and its figures for the monitor.

Written by that thread, but for `FetcherRecord.add`: the thread that reads a page adds it to the record of the thread that
fetched it. Read by any thread (LARM-20, LARM-96).
"""

import threading
from collections.abc import Sequence

from larm.engine.figures.snapshot import ThreadFigures
from larm.engine.landed import Landed
from larm.kit.logs.log_book import LogBook, time_of_day
from larm.kit.threads.progress import Pulse
from larm.seams import Clock


class FetcherRecord:
    """One line a fetch in ``thread<N>.log``, errors in ``thread<N>_errors.log``: time of day, what it took, what came of it."""

    def __init__(self, book: LogBook, number: int, clock: Clock, name: str = "") -> None:
        # constant after construction
        self.name = name or f"larm-fetch-{number}"
        self._all = book.open(f"thread{number}")
        self._errors = book.open(f"thread{number}_errors")
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._tasks = 0
        self._received = 0
        # only the fetcher thread
        self.processing = 0.0
        """Seconds of processor time that reading pages took; any thread may look."""
        self._state = "idle"
        self._info = ""
        self._since = clock.monotonic()
        self.pulse = Pulse()

    def now(self, state: str) -> None:
        """The thread begins something: idle, getting, scanning or storing."""
        self._info = ""
        if state == "idle":
            self.pulse.rest()
        else:
            self.pulse.beat()
        if state != self._state:
            self._state, self._since = state, self._clock.monotonic()

    def reads(self, url: str) -> None:
        """It is this page that the thread reads now."""
        self._info = url
        self.pulse.beat()

    def spent(self, processing: float) -> None:
        """So many seconds of processor time went into reading pages."""
        self.processing += processing

    def add(self, landed: Sequence[Landed]) -> None:
        """Add fetches that have ended. Buffered; flushed every tick. Thread-safe."""
        with self._lock:
            self._tasks += len(landed)
            self._received += sum(each.outcome.timing.received for each in landed)
        now = time_of_day(self._clock.wall())
        self._all.lines([f"{now}: {each.log_line}" for each in landed])
        for each in landed:
            if each.error:
                self._errors.line(f"{now}: {each.log_line}")
            if each.warnings:
                page = each.lease.message.url.access
                took = each.outcome.timing.seconds * 1000
                self._errors.lines(
                    [f"{now}: {took:.0f} ms: {page}: {text.removeprefix(page + ': ')}" for text in each.warnings]
                )

    def doing(self) -> str:
        """The same in a phrase."""
        return f"{self._state} {self._info}".strip()

    def figures(self) -> ThreadFigures:
        """For the monitor."""
        return ThreadFigures(
            name=self.name,
            state=self._state,
            since=self._clock.monotonic() - self._since,
            info=self._info,
            received=self._received,
            tasks=self._tasks,
        )
