"""Clock, and SystemClock: real time. The only file that asks the operating system what time it is.

Everything else takes a clock, so that tests can move time instead of waiting for it. Used on any thread.
"""

import time
from typing import Protocol


def boot_time() -> float:
    """Seconds since the machine was started, those included in which it slept; where the system can't say: `monotonic`."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()  # noqa: TID251


class Clock(Protocol):
    """Time, so that tests can move it. `SystemClock` is the real one."""

    def monotonic(self) -> float:
        """Seconds, never going backwards; every delay of a run is measured with it."""

    def wall(self) -> float:
        """Seconds since 1970; only for log lines and for what must outlive the process."""


class SystemClock:
    """Implements `Clock`. Stateless."""

    def monotonic(self) -> float:
        """Seconds, never going backwards; only differences mean anything."""
        return time.monotonic()  # noqa: TID251

    def wall(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()  # noqa: TID251
