"""The processes that this one has started: which, the memory that all of them take, and their processor time. Any thread.

Linux; elsewhere nothing is known of those that run.
"""

import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import Final

_THREADS: Final = "/proc/self/task"


def helpers() -> list[int]:
    """Numbers of the processes that run and were started by a thread of ours; 0.1 ms."""
    found: list[int] = []
    for thread in os.listdir(_THREADS) if os.path.isdir(_THREADS) else ():
        with suppress(OSError), open(f"{_THREADS}/{thread}/children", "rb") as children:  # it may just have ended
            found += map(int, children.read().split())
    return found


def memory_together() -> int:
    """Bytes of memory that we and our helpers take; what a copy shares with us counts once. Some milliseconds; 0: unknown."""
    return sum(_memory(number) for number in (os.getpid(), *helpers()))


def _memory(number: int) -> int:
    with suppress(OSError, ValueError, IndexError):  # it has just ended, or there is no /proc
        for line in Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


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
