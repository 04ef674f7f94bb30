"""helpers_seconds: the processor time of the processes that this one has started. Any thread; 0.1 ms."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from larm.kit.processes.children import helpers

_USER, _SYSTEM = 11, 12  # of the fields behind the name (proc(5), stat)


def helpers_seconds() -> float:
    """User and system; of those that run only where there is /proc, of the others what they took in all."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for number in helpers():
        with suppress(OSError):  # it has just ended
            fields = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()
            ticks += int(fields[_USER]) + int(fields[_SYSTEM])
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")
