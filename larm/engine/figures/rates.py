"""Rates: averages over the last samples (LARM-78), and numbers as people read them (LARM-83). Pure, not thread-safe.

The reporter keeps ten samples of five seconds: the 50-second average. The display keeps some of one second.
"""

from collections import deque
from datetime import datetime

import msgspec

from larm.engine.figures.machine import UNKNOWN, Cores
from larm.engine.figures.snapshot import Snapshot

_UNITS = ("Bytes", "KB", "MB", "GB")


class Rate(msgspec.Struct, frozen=True):
    """Averages over a window."""

    pages: float
    """Documents a second."""
    received: float
    """Body bytes a second."""
    requests: float
    """Requests a second."""
    seconds: float
    """Length of the window."""


class Rates:
    """The last ``samples`` intervals. Used by one thread."""

    def __init__(self, samples: int) -> None:
        self._seen: deque[tuple[float, Cores, Snapshot]] = deque(maxlen=samples + 1)  # n intervals have n + 1 ends

    def add(self, snapshot: Snapshot, cpu: float = 0.0, cores: Cores = UNKNOWN) -> None:
        """One more sample; ``cpu`` is the processor time of the process so far, in seconds, ``cores`` those of the machine."""
        self._seen.append((cpu, cores, snapshot))

    def __len__(self) -> int:
        """Samples that are kept."""
        return len(self._seen)

    @property
    def first(self) -> Snapshot:
        """The oldest sample that is kept; there must be one."""
        return self._seen[0][2]

    @property
    def cpu(self) -> float:
        """Processor seconds from the first sample to the last."""
        return self._seen[-1][0] - self._seen[0][0] if self._seen else 0.0

    @property
    def machine(self) -> float:
        """Of the time of all cores from the first sample to the last, the part in which they were busy; 0: nobody knows."""
        return self._seen[-1][1].share(self._seen[0][1]) if self._seen else 0.0

    def average(self, now: Snapshot | None = None) -> Rate:
        """From the first sample to the last, or to ``now``; all 0 until there are two at different times."""
        if not self._seen:
            return Rate(0.0, 0.0, 0.0, 0.0)
        before, now = self._seen[0][2], now or self._seen[-1][2]
        seconds = now.elapsed - before.elapsed
        if seconds <= 0:
            return Rate(0.0, 0.0, 0.0, 0.0)
        return Rate(
            (now.pages_run - before.pages_run) / seconds,
            (now.received - before.received) / seconds,
            (now.requests - before.requests) / seconds,
            seconds,
        )


def size(count: float) -> str:
    """``0.00 Bytes``, ``1.50 KB``, ``2.00 MB``, ``3.00 GB``: units of 1024, two decimals (LARM-83)."""
    for unit in _UNITS[:-1]:
        if abs(count) < 1024:
            return f"{count:.2f} {unit}"
        count /= 1024
    return f"{count:.2f} {_UNITS[-1]}"


_LONGEST = 10 * 365 * 86_400


def duration(seconds: float) -> str:
    """``0:07``, ``12:05``, ``1:02:03``, ``2 d 1:02:03``."""
    if seconds > _LONGEST:
        return "more than ten years"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours or days else f"{minutes}:{rest:02}"
    return f"{days} d {clock}" if days else clock


def minute(wall: float) -> str:
    """``2026-11-23 02:45``, local; ``wall``: seconds since 1970."""
    return datetime.fromtimestamp(wall).strftime("%Y-%m-%d %H:%M")
