"""Patience: waits for threads to end, as long as they get on, and tells for what.

How long the end of a crawl takes depends on how many pages there are; a deadline would cut off the largest. So what is
watched is not the time but whether anything moves. Made by `larm.engine.crawl`, used on the main thread only.
"""

import time
from collections.abc import Callable, Sequence

from larm.engine.figures.rates import duration
from larm.kit.processes.children import helpers_seconds
from larm.kit.threads.workers import Workers
from larm.seams import Clock

HANGS = 600.0
"""Seconds without any progress after which nobody waits any more. A disk that is far away or failing may take minutes for a
single write; a person has the second Ctrl-C."""
QUIET = 30.0
"""Seconds without any progress from which on that is said."""
_LEAST = 0.01
"""Seconds of processor time that are progress, if nothing else is seen. Who waits for a network takes so much, too."""


def busy() -> float:
    """Seconds of processor time of all threads but this one, and of the processes that were started."""
    return time.process_time() - time.thread_time() + helpers_seconds()


class Patience:
    """`wait` for one set of threads after the other."""

    def __init__(
        self,
        clock: Clock,
        doing: Callable[[str], str],
        tell: Callable[[Sequence[str]], object],
        *,
        busy: Callable[[], float] = busy,
        interval: float = 1.0,
    ) -> None:
        """``doing(name)``: what a thread does, in a phrase that changes as it gets on. ``tell`` is called every ``interval``
        seconds with a line for each thread that runs."""
        # constant after construction
        self._clock = clock
        self._doing = doing
        self._tell = tell
        self._busy = busy
        self._interval = interval

    def wait(self, workers: Workers) -> list[str]:
        """Until all have ended; those that hang, each with what it does. They hang if for `HANGS` seconds nothing has changed:
        none has ended, none does anything else, and no thread or process but this one has computed anything."""
        state: list[str] = []
        since, computed = self._clock.monotonic(), 0.0
        while alive := workers.join(self._interval):
            now = self._clock.monotonic()
            lines = [f"{name}: {what}" if (what := self._doing(name)) else name for name in alive]
            if lines != state or self._busy() - computed > _LEAST:
                state, since, computed = lines, now, self._busy()
            still = now - since
            if still >= HANGS:
                return lines
            self._tell(lines if still < QUIET else [f"{line} (nothing has moved for {duration(still)})" for line in lines])
        return []
