"""MemoryBudget: who is about to take much memory in a process of its own asks here first, and waits until there is room.

Shared by the threads that have large pages and documents read. What is in use is measured, not added up: all processes of
the crawl, whatever they need it for. One grant is always given, the first, if only of what is left. `machine_memory` says at
the start how much a process of this machine may have, containers considered.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_CGROUP: Final = Path("/proc/self/cgroup")
_MOUNTED: Final = Path("/sys/fs/cgroup")


def machine_memory(cgroup: Path = _CGROUP, mounted: Path = _MOUNTED) -> int:
    """Bytes: what the machine has, or the least that a control group around us allows. 0: nobody can tell.

    ``cgroup``: lists our groups (cgroups(7)); ``mounted``: where version 2, and the controllers of version 1, are.
    """
    found = [limit for limit in (_physical(), *_limits(cgroup, mounted)) if limit > 0]
    return min(found, default=0)


def _physical() -> int:
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0


def _limits(cgroup: Path, mounted: Path) -> list[int]:
    """Of our groups, and of all that these are in."""
    found: list[int] = []
    with suppress(OSError, ValueError):
        for line in cgroup.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:  # version 2
                found += _upwards(mounted, path, "memory.max")
            elif "memory" in controllers.split(","):
                found += _upwards(mounted / "memory", path, "memory.limit_in_bytes")
    return found


def _upwards(root: Path, path: str, name: str) -> list[int]:
    """A container may not see its own group under the name that it has outside, and then the root is its group."""
    found = []
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        with suppress(OSError, ValueError):  # there is none; "max"
            found.append(int((folder / name).read_text(encoding="ascii")))
        if folder == root:
            break
    return found


LEAST: Final = 128_000_000
"""Bytes that are granted in any case, to one at a time: Python with what reads pages takes 60 MB of address space, a document
as much again, a common page of 1 MB 30 MB."""


_SPARE: Final = 0.125
"""Share of the limit that is never granted: what is measured now grows while somebody reads."""


class MemoryBudget:
    """``limit`` bytes for the crawl: its own process, its helpers, what is in the air."""

    def __init__(self, limit: int, used: Callable[[], int], *, careful: bool = False) -> None:
        """``used()``: bytes in use now. ``careful``: grant no more than `LEAST`, as the last run may have died of more."""
        # constant after construction
        self.limit = limit
        self.most = LEAST if careful else max(limit, LEAST)
        """Bytes that a single grant can have."""
        self._used = used
        self._changed = threading.Condition()
        # guarded by self._changed
        self._granted = 0
        self._stopped = False

    @contextmanager
    def granted(self, wanted: int) -> Iterator[int]:
        """Bytes that a process may have meanwhile: as many as are wanted, or what there is if nobody else has any."""
        wanted = min(wanted, self.most)
        given = self._take(wanted)
        try:
            yield given
        finally:
            with self._changed:
                self._granted -= given
                self._changed.notify_all()

    def _take(self, wanted: int) -> int:
        with self._changed:
            while True:
                left = int(self.limit * (1 - _SPARE)) - self._used() - self._granted
                if left >= wanted or not self._granted or self._stopped:
                    given = max(min(wanted, left), min(wanted, LEAST))
                    self._granted += given
                    return given
                self._changed.wait()

    def stop(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def __repr__(self) -> str:
        return f"<MemoryBudget: {self._granted:,} of {self.limit:,} bytes granted>"
