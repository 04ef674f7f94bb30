"""How busy the cores of the machine are. Pure but for reading ``/proc``; called with each sample."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_STAT = Path("/proc/stat")


class Cores(NamedTuple):
    """Ticks of all cores together since the machine started; 0 where the system does not tell."""

    busy: int = 0
    """With whatever process."""
    all: int = 0

    def share(self, before: Cores) -> float:
        """Of the time since ``before``, the part in which they had something to do."""
        return (self.busy - before.busy) / (self.all - before.all) if self.all > before.all else 0.0


UNKNOWN = Cores()


def cores_now() -> Cores:
    """The figures of this moment."""
    try:
        with _STAT.open("rb") as file:
            user, nice, system, idle, waiting, *others = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return UNKNOWN
    busy = user + nice + system + sum(others)
    return Cores(busy, busy + idle + waiting)
