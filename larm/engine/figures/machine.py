"""What this process and its machine have in use: memory, and how busy all cores are. Pure but for reading ``/proc``.

On systems without it, what is to be had. Called with each sample, and by the summary at the end.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import NamedTuple

_STATM = Path("/proc/self/statm")
_STATUS = Path("/proc/self/status")
_MEMINFO = Path("/proc/meminfo")


class Memory(NamedTuple):
    """Bytes; 0 where the system does not tell."""

    used: int
    """Resident memory of this process."""
    free: int
    """What the machine could still give."""
    total: int
    """What the machine has."""


def memory_now() -> Memory:
    """memUsed, memFree and totalMem of LARM-78: no Java heap here, so of the process and of its machine."""
    try:
        resident = int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        lines = (line.split() for line in _MEMINFO.read_text("ascii").splitlines())
        machine = {words[0]: int(words[1]) * 1024 for words in lines if len(words) > 1}
        return Memory(resident, machine.get("MemAvailable:", 0), machine.get("MemTotal:", 0))
    except (OSError, ValueError, IndexError):
        return Memory(memory_peak(), 0, 0)


def memory_peak() -> int:
    """The most memory that this process ever had resident, in bytes.

    From ``/proc``, because what getrusage says on Linux includes the parent, as large as it was when it started us.
    """
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        lines = _STATUS.read_text("ascii", "replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    try:
        import resource
    except ImportError:  # not a Unix
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


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
