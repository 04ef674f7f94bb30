"""AccessLog: a line for each request, in a file; one that logrotate has moved away is opened anew. On the event loop.

A disk that is full is no reason to answer nobody: it is said once, and so is how many lines are missing when it writes again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class AccessLog:
    """Raises OSError where the file can't be opened."""

    def __init__(self, path: Path, say: Callable[[str], object]) -> None:
        # constant after construction
        self._path = path
        self._say = say
        # only the event loop
        self._file = path.open("ab", buffering=0)
        self._missing = 0

    def write(self, line: str) -> None:
        """Never raises for what a disk does."""
        data = line.encode("utf-8", "replace") + b"\n"
        try:
            self._follow()
            if self._file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            if not self._missing:
                self._say(f"{self._path}: {error.strerror or error}; until that is mended no requests are logged")
            self._missing += 1
            return
        if self._missing:
            self._say(f"{self._path} is written again; the lines of {self._missing:,} requests are missing")
            self._missing = 0

    def _follow(self) -> None:
        """The name, not the file."""
        there = None
        with suppress(FileNotFoundError):
            there = self._path.stat()
        mine = os.fstat(self._file.fileno())
        if there is None or (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            new = self._path.open("ab", buffering=0)
            self._file.close()
            self._file = new

    def close(self) -> None:
        """No more requests."""
        self._file.close()
