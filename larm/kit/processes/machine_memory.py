"""machine_memory: how much memory a process of this machine may have, containers considered. Called at start."""

import os
from contextlib import suppress
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
