"""What a person should know when a disk fails: which path, what is wrong, what to do.

All of kit turns OSError and sqlite3.Error into StorageError here, so the same trouble reads the same everywhere.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from larm.errors import REPAIR, StorageError

_FULL = "the disk is full; make room and run the same command again"
_FORBIDDEN = "it can't be opened or written; check the path, its owner and its permissions"
_DAMAGED = f"the database is damaged; {REPAIR}"
_MISSING = "it is not there, or no longer, and can't be made there; check the path"
_LONG = "its path is too long; use a directory nearer to the root of the disk, or with a shorter name"
_LONGEST = 504
"""Bytes of a path that SQLite opens, whatever the system allows: its 512, less those of what it puts beside the file."""
BUSY = "another process uses it; end that one first"

_FILES = "too many files are open; allow more ('ulimit -n'), or fewer requests at a time (fetch.threads, fetch.transfers)"

_BY_ERRNO = {
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.ENAMETOOLONG: _LONG,
    errno.EROFS: _FORBIDDEN,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.ENOENT: _MISSING,
    errno.ENOTDIR: _FORBIDDEN,
    errno.EEXIST: _FORBIDDEN,
}
_BY_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: _FORBIDDEN,
    sqlite3.SQLITE_PERM: _FORBIDDEN,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
}


def disk_failure(path: Path, error: Exception) -> StorageError:
    """The StorageError to raise in place of ``error`` (an OSError or sqlite3.Error), which happened at ``path``."""
    what = str(error)
    advice: str | None = None
    if isinstance(error, OSError):
        what = os.strerror(error.errno) if error.errno else what
        advice = _BY_ERRNO.get(error.errno or 0)
        if error.errno == errno.EACCES:  # a folder on the way may be closed, rather than what is in it
            path = next((folder for folder in reversed(path.parents) if not os.access(folder, os.X_OK)), path)
    elif isinstance(error, sqlite3.Error):
        # the low byte is the kind, the rest says where in SQLite; sqlite3's own misuse errors have no code
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        advice = _BY_SQLITE.get(code)
        if code == sqlite3.SQLITE_CANTOPEN:  # whatever the reason
            advice = _LONG if _too_long(path) else _FILES if _none_left() else advice
    return StorageError(f"{path}: {what}: {advice or 'check the disk'}")


@contextmanager
def disk_failures(path: Path) -> Iterator[None]:
    """What the disk raises within it, at ``path``, is raised as StorageError."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise disk_failure(path, error) from error


def _too_long(path: Path) -> bool:
    with suppress(OSError):  # the current directory may be gone
        return len(os.fsencode(path.absolute())) > _LONGEST
    return False


def _none_left() -> bool:
    """No file can be opened any more, which SQLite does not tell."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
