"""What a command costs: wall time, CPU time and memory of its processes alone, from the kernel's own books (wait4)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter


@dataclass(frozen=True)
class Usage:
    """Of one command, or of several that ran one after the other."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds, user and system, of the process and the children that it waited for."""
    rss: float
    """Peak resident memory in MB, of the largest process."""
    status: int
    """Exit status; negative: the signal that ended it."""
    said: str = ""
    """End of its error output."""

    def then(self, other: Usage) -> Usage:
        """The sum of this and what came after it."""
        return Usage(
            self.wall + other.wall,
            self.cpu + other.cpu,
            max(self.rss, other.rss),
            self.status or other.status,
            self.said + other.said,
        )


def run(commands: Sequence[Sequence[str | Path]], folder: Path, environment: Mapping[str, str], limit: float) -> Usage:
    """Run the commands one after the other in ``folder``; each is killed after ``limit`` seconds."""
    total = Usage(0.0, 0.0, 0.0, 0)
    for command in commands:
        total = total.then(_run_one(command, folder, environment, limit))
    return total


def _run_one(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str], limit: float) -> Usage:
    with tempfile.TemporaryFile() as errors:
        begin = perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        handle = os.pidfd_open(process.pid)
        try:
            if not select.select([handle], [], [], limit)[0]:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
        _, state, used = os.wait4(process.pid, 0)
        wall = perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(state)  # Popen must not wait for it again
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
        said = errors.read().decode("utf-8", "replace").strip()
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, process.returncode, said)
