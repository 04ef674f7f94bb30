"""Schedule: crawls that are to run again and again (``recrawl.every`` in their config.yaml), started when they are due.

Due is who has not run for so long, or since the last time of a cron expression; so a run that was missed while no server was
there is caught up once. At most so many run at a time; one that fails is not tried again before its next turn. `tick` is
called by one thread at a time.
"""

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from larm.config import CONFIG_FILE, load
from larm.errors import LarmError
from larm.kit.disk.files import is_there
from larm.kit.recurrence import Every
from larm.seams import Clock
from larm.web.crawls import Crawl
from larm.web.directories import Served

PERIOD = 30.0
"""Seconds between two ticks."""


class Schedule:
    """For all directories that are served."""

    def __init__(
        self,
        state_of: Callable[[Served], Crawl],
        run: Callable[[Path], None],
        most: int,
        clock: Clock,
        say: Callable[[str], object],
    ) -> None:
        """``most``: scheduled crawls that may run at a time; ``say`` takes sentences about what began, and what did not."""
        # constant after construction
        self._state_of = state_of
        self._run = run
        self._most = most
        self._clock = clock
        self._say = say
        # only the thread of the tick
        self._tried: dict[Path, float] = {}
        self._seen: dict[Path, float] = {}
        """Since when those that never ran wait for the time of their cron expression."""
        self._mine: set[Path] = set()
        self._wrong: dict[Path, str] = {}
        # replaced as a whole, read on any thread
        self.due: dict[Path, float] = {}
        """When the next run of each begins, in seconds since 1970; at the earliest."""

    def tick(self, directories: Sequence[Served]) -> None:
        """Start what is due. Raises nothing: whatever is wrong with a directory is said, and the others have their turn."""
        now = self._clock.wall()
        due: dict[Path, float] = {}
        waiting = []
        for served in directories:
            try:
                moment = self._due(served, now)
            except Exception as error:  # noqa: BLE001  nobody watches this thread
                self._complain(served, f"{served.name}: its schedule fails by a fault of larm: {_name(error)}")
                continue
            if moment is not None:
                due[served.path] = moment
                waiting.append(served)
        for served in sorted(waiting, key=lambda each: due[each.path]):
            if due[served.path] <= now and len(self._mine) < self._most:
                self._begin(served, now)
        self.due = due

    def _due(self, served: Served, now: float) -> float | None:
        """When its next run begins; None where it has no schedule, or runs."""
        every = self._every(served)
        if every is None:
            return None
        crawl = self._state_of(served)
        if crawl.runs:
            return None
        self._mine.discard(served.path)
        last = max(crawl.written, self._tried.get(served.path, 0.0))
        if not last and every.is_clock_time:
            last = self._seen.setdefault(served.path, now)
        return every.after(last) if last else now

    def _begin(self, served: Served, now: float) -> None:
        self._tried[served.path] = now
        try:
            self._run(served.path)
        except LarmError as error:
            self._say(f"{served.name} was due, and could not begin: {error}")
        except Exception as error:  # noqa: BLE001  nobody watches this thread
            self._say(f"{served.name} was due, and could not begin by a fault of larm: {_name(error)}")
        else:
            self._mine.add(served.path)
            self._say(f"{served.name} was due, and has begun")

    def _every(self, served: Served) -> Every | None:
        config = served.path / CONFIG_FILE
        try:
            return load(config).recrawl.every if is_there(config) else None
        except LarmError as error:
            self._complain(served, f"{served.name} has no schedule: {error}")
            return None

    def _complain(self, served: Served, sentence: str) -> None:
        """Once, as long as it is the same."""
        if self._wrong.get(served.path) != sentence:
            self._wrong[served.path] = sentence
            self._say(sentence)


def _name(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
