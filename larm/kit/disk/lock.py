"""DirectoryLock: one crawl a directory. A second process that wants to write is refused.

The lock is the kernel's (flock), so it ends with the process however that ends; a lock file that is left behind locks nothing.
Held by the main thread from start to end.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from larm.errors import UsageError
from larm.kit.disk.disk_failure import disk_failure, disk_failures

FILE_NAME = "lock"
_LONGEST = 4_200
"""Bytes of the file: no path is longer than 4,096."""


class DirectoryLock:
    """The right to write below a directory, from construction to `close`."""

    written: ClassVar[set[Path]] = set()
    """Directories that this process took for writing, also those that it has given back."""

    def __init__(self, directory: Path, *, wait: bool = False, looks: bool = False) -> None:
        """Take the lock; the directory is made where it is missing. ``wait``: for who has it, however long that takes.

        ``looks``: nothing will be written, so the lock of a directory that is read-only is taken without a note in its file.

        Raises UsageError if another process has it (also another `DirectoryLock` of this one), StorageError if the lock file
        can't be made.
        """
        # constant after construction
        self.directory = directory
        # only the owner's thread
        self._descriptor: int | None = None
        path = directory / FILE_NAME
        with disk_failures(directory):
            directory.mkdir(parents=True, exist_ok=True)
        with disk_failures(path):
            only_read = looks and not os.access(path, os.W_OK) and path.exists()
            descriptor = os.open(path, (os.O_RDONLY if only_read else os.O_RDWR | os.O_CREAT) | os.O_CLOEXEC, 0o666)
        try:
            _take(descriptor, wait=wait)
            self.left_note = _note(os.pread(descriptor, _LONGEST, 0))
            """What a process noted that did not end in good order."""
            if not only_read:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").partition("\n")[0]
            os.close(descriptor)
            raise UsageError(
                f"{directory} is in use by process {owner or '(unknown)'}; end it, or use another directory"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise disk_failure(path, error) from error
        self._descriptor = descriptor
        if not looks:
            self.written.add(directory.resolve())

    def note(self, text: str) -> None:
        """One line for `note_in_lock`, behind the number of this process. Raises StorageError."""
        if self._descriptor is None:
            return
        with disk_failures(self.directory / FILE_NAME):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n{text}\n".encode("utf-8", "surrogateescape"), 0)

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


def is_held(directory: Path) -> bool:
    """Whether a process may write there just now; also where nobody can tell."""
    try:
        with open(directory / FILE_NAME, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # BlockingIOError: it is held
        return True
    return False


def _take(descriptor: int, *, wait: bool) -> None:
    """Raises BlockingIOError. Who only looks (`is_held`) has the lock for a moment, and refuses nobody."""
    if wait:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:  # never waited for: two that begin at once would both wait, one for the other's whole crawl
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def note_in_lock(directory: Path) -> str:
    """What the process that has the lock, or had it, has noted; empty where there is nothing. Raises OSError."""
    try:
        with open(directory / FILE_NAME, "rb") as file:
            return _note(file.read(_LONGEST))
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _note(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").partition("\n")[2].removesuffix("\n")
