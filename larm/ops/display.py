"""Display: what a person sees of a running crawl, on stderr. Observes, never steers.

On a terminal a few lines that are redrawn in place, elsewhere a plain line now and then. It has no thread: `refresh` is called
about once a second by the loop in which the main thread waits for the end of the crawl. A broken stderr (a closed pipe, a
terminal that went away) silences the display and not the crawl.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from larm.engine.figures.limits import limiting_factor
from larm.engine.figures.machine import cores_now
from larm.engine.figures.rates import Rates, duration, size
from larm.engine.figures.snapshot import Snapshot
from larm.kit.counted import counted
from larm.kit.printable import printable
from larm.seams import Clock

if TYPE_CHECKING:
    from rich.live import Live

_LIVE_SAMPLES = 10  # seconds that the live rates go over: short enough to see a change, long enough not to flicker
_ENDING = "ending; Ctrl-C twice leaves at once, and the same command does what is left"
PLAIN_INTERVAL = 60.0  # seconds between lines where stderr is no terminal: an hour is a page of them
_VERBOSE_INTERVAL = 5.0  # seconds between plain lines with -v


class Display:
    """Owns stderr while the crawl runs. Used by the main thread only."""

    def __init__(
        self,
        probe: Callable[[], Snapshot],
        clock: Clock,
        stream: TextIO,
        *,
        verbose: bool = False,
        here: Callable[[str], str] = str,
    ) -> None:
        """``here``: has commands fit the place."""
        # constant after construction
        self._probe = probe
        self._clock = clock
        self._stream = stream
        self._here = here
        self._verbose = verbose
        self._interval = _VERBOSE_INTERVAL if verbose else PLAIN_INTERVAL
        # only the main thread
        self._live: Live | None = _live(stream)
        self._rates = Rates(_LIVE_SAMPLES if self._live else 1)
        self._next = clock.monotonic() + (0.0 if self._live else self._interval)
        self._broken = self._drawing = False
        self._waiting: list[Callable[[], object]] = []
        self._sample()

    @property
    def live(self) -> bool:
        """Redrawn in place, as stderr is a terminal."""
        return self._live is not None

    def refresh(self, waits: Sequence[str] = ()) -> None:
        """Redraw, or print a line if one is due. ``waits``: the crawl ends, and waits for these.

        Never raises for what is wrong with stderr.
        """
        if self._broken or self._clock.monotonic() < self._next:
            return
        if not self._live:
            self._next = self._clock.monotonic() + self._interval
        now = self._sample()
        limit = limiting_factor(self._rates.first, now, self._rates.cpu, self._rates.machine)
        lines = progress(now, self._rates, self._here(limit))
        if waits:
            lines = [lines[0], _ENDING, *(f"waits for {printable(each)}" for each in waits)]
        self._drawing = True
        try:
            if self._live:
                _draw(self._live, lines + (details(now) if self._verbose else []))
            else:
                print("larm: " + "; ".join(lines), file=self._stream, flush=True)
        except (OSError, ValueError):  # ValueError: the stream is closed
            self._broken = True
        self._drawing = False
        self._speak()

    def hurry(self) -> None:
        """Have the next `refresh` show how it stands, also where no line is due. A signal handler may call this."""
        self._next = 0.0

    def interrupt(self, tell: Callable[[], object]) -> None:
        """Let a signal handler print something, which stays above the live lines: now, or when they are drawn."""
        self._waiting.append(tell)
        if not self._drawing:
            self._speak()

    def close(self) -> None:
        """Give the terminal back, without the live lines."""
        try:
            if self._live:
                self._live.stop()
        except (OSError, ValueError):
            self._broken = True

    def _speak(self) -> None:
        if self._waiting and self._live:
            self.close()
            self._live = _live(self._stream)  # the old one would erase what is said, as it remembers where it was
        while self._waiting:
            self._waiting.pop(0)()

    def _sample(self) -> Snapshot:
        now = self._probe()
        self._rates.add(now, time.process_time(), cores_now())
        return now


def progress(now: Snapshot, rates: Rates, limit: str) -> list[str]:
    """How far and how fast, what is left, what holds it up: three lines that fit into 80 columns."""
    rate = rates.average()
    hosts = "1 host" if now.hosts_queued == 1 else f"{now.hosts_queued:,} hosts"
    return [
        f"{duration(now.elapsed)}  {counted(now.pages, 'page')} ({rate.pages:.1f}/s, {size(rate.received)}/s),"
        f" {counted(now.errors, 'error')}",
        f"{now.queued:,} queued, {now.in_flight:,} in the air, {hosts} with URLs",
        f"limited by {limit}",
    ]


def details(now: Snapshot) -> list[str]:
    """What -v adds: filters, storages, the checkpoint and each thread (LARM-20)."""
    filtered = ", ".join(f"{name} {count:,}" for name, count in now.filtered.items())
    queues = ", ".join(f"{storage.name} {size(storage.queued)}" for storage in now.storages)
    lines = [
        f"filtered: {filtered or 'nothing yet'}; visited: {now.visited:,}",
        f"hosts: {now.hosts_known:,} known, {now.hosts_ready:,} ready, {now.hosts_waiting:,} waiting, "
        f"{now.hosts_blocked:,} blocked, {now.hosts_given_up:,} given up",
        f"storage queues: {queues or 'none'}; last checkpoint: {now.checkpoint_seconds:.2f} s, {size(now.checkpoint_bytes)}",
    ]
    for thread in now.threads:
        busy = f"{thread.state} for {thread.since:.1f} s" if thread.since else thread.state
        about = f" ({printable(thread.info)})" if thread.info else ""
        lines.append(f"[{thread.name}] {busy}{about}, {thread.tasks:,} tasks, {size(thread.received)}")
    return lines


def _draw(live: Live, lines: list[str]) -> None:
    from rich.text import Text

    if not live.is_started:
        live.start()
    live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)


def _live(stream: TextIO) -> Live | None:
    """rich is imported only for a terminal that can move its cursor."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    return Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
