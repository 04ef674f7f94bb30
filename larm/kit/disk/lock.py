"""DirectoryLock: one crawl a directory. A second process that wants to write is refused.

The lock is the kernel's (flock), so it ends with the process however that ends; a lock file that is left behind locks nothing.
Held by the main thread from start to end.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from larm.errors import UsageError
from larm.kit.disk.disk_failure import disk_failure

FILE_NAME = "lock"


class DirectoryLock:
    """The right to write below a directory, from construction to `close`."""

    def __init__(self, directory: Path) -> None:
        """Take the lock; the directory is made where it is missing.

        Raises UsageError if another process has it (also another `DirectoryLock` of this one), StorageError if the lock file
        can't be made.
        """
        # constant after construction
        self.directory = directory
        # only the owner's thread
        self._descriptor: int | None = None
        path = directory / FILE_NAME
        try:
            directory.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise disk_failure(path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise UsageError(
                f"{directory} is in use by process {owner or '(unknown)'}; end it, or use another directory"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise disk_failure(path, error) from error
        self._descriptor = descriptor

    def close(self) -> None:
        """Give the lock back; a second call does nothing. The file stays: removing it would let two processes in."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<DirectoryLock {self.directory} {'free' if self._descriptor is None else 'held'}>"
