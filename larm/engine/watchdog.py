"""Watchdog: names threads that have something to do and make no progress (LARM-81), with what they are about and their stacks.

LARM restarted such a thread. A Python thread can't be ended from outside, and whatever holds it up would hold up its
successor; so it is told to people: in the snapshot, in the summary, and with its stack in ``logs/stalled.log``. `look` is
called by the main thread, about once a second, also while the crawl ends.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from larm.engine.figures.rates import duration
from larm.engine.figures.snapshot import Stalled
from larm.kit.logs.log_book import time_of_day
from larm.kit.threads.progress import Pulse
from larm.seams import Clock

LOG = "stalled"


class Watched(NamedTuple):
    """A thread."""

    name: str
    pulse: Pulse
    doing: Callable[[], str]
    """In a phrase, for people."""
    progress: Callable[[], str] = str
    """Changes where it gets on with one long thing."""


class Watchdog:
    """Shared by nobody: only the main thread calls it; any may read `stalled`."""

    def __init__(
        self,
        watched: Sequence[Watched],
        seconds: float,
        clock: Clock,
        *,
        log: Callable[[Sequence[str]], object],
        counted: Callable[[str, int], object],
    ) -> None:
        """A thread is stalled after so many ``seconds`` without progress. ``counted`` is that of the crawl."""
        # constant after construction
        self._watched = watched
        self._seconds = seconds
        self._clock = clock
        self._log = log
        self._counted = counted
        # only the main thread
        self._last = {each.name: (-1, "", clock.monotonic()) for each in watched}
        self._told: set[str] = set()
        # replaced as a whole
        self.stalled: tuple[Stalled, ...] = ()
        self._looked_at = clock.monotonic()

    def look(self) -> None:
        """Where is no progress?"""
        now = self._clock.monotonic()
        found: list[Stalled] = []
        for each in self._watched:
            beats, progress = each.pulse.beats, each.progress()
            last_beats, last_progress, since = self._last[each.name]
            if not each.pulse.busy or (beats, progress) != (last_beats, last_progress):
                self._last[each.name] = beats, progress, now
                self._goes_on(each.name, now - since)
            elif now - since >= self._seconds:
                found.append(Stalled(each.name, each.doing(), round(now - since, 1)))
                self._tell(found[-1])
        self.stalled = tuple(found)
        self._looked_at = now

    def hang(self, seconds: float) -> str:
        """What makes no progress for so long, in a phrase; empty: all goes on. Any thread: it also sees that nobody looks."""
        unseen = self._clock.monotonic() - self._looked_at
        if unseen >= seconds:
            return f"the main thread makes no progress for {duration(unseen)}"
        found = [each for each in self.stalled if each.seconds >= seconds]
        return f"{found[0].thread} makes no progress for {duration(found[0].seconds)}: {found[0].doing}" if found else ""

    def _tell(self, stalled: Stalled) -> None:
        if stalled.thread in self._told:
            return
        self._told.add(stalled.thread)
        self._counted(f"stalled/{stalled.thread}", 1)
        now = time_of_day(self._clock.wall())
        head = f"{now}: {stalled.thread} makes no progress for {duration(stalled.seconds)}: {stalled.doing}"
        self._log([head, *(f"    {line}" for line in stack_of(stalled.thread))])

    def _goes_on(self, name: str, seconds: float) -> None:
        if name in self._told:
            self._told.remove(name)
            self._log([f"{time_of_day(self._clock.wall())}: {name} goes on, after {duration(seconds)}"])


def stack_of(name: str) -> list[str]:
    """Where a thread of this process is, a line each, innermost last; nothing where there is none of this name."""
    frames = sys._current_frames()
    number = next((thread.ident for thread in threading.enumerate() if thread.name == name), None)
    frame = frames.get(number or 0)
    if frame is None:
        return []
    import traceback  # for crawls that stall

    return [line for entry in traceback.format_stack(frame) for line in entry.rstrip("\n").split("\n")]
