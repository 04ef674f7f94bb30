"""The processes that this one has started, and the memory that all of them take. Linux; elsewhere nothing is known of them.

Any thread.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_THREADS: Final = Path("/proc/self/task")


def helpers() -> list[int]:
    """Numbers of the processes that run and were started by a thread of ours; 0.1 ms."""
    found: list[int] = []
    for children in _THREADS.glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            found += map(int, children.read_text(encoding="ascii").split())
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
