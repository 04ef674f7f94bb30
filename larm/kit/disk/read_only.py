"""reading: a connection to an SQLite database that changes nothing, wherever the database lies. Any thread.

In WAL mode, SQLite makes files beside a database even for a process that only reads: it fails on a read-only disk, on a full
one, and in the directory of another user. Where there is no log beside the database, nobody writes to it, and nothing need be
locked.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failures

BUSY_SECONDS = 10
_NO_ROOM = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LOOK = "SELECT count(*) FROM sqlite_master"


def reading(path: Path) -> sqlite3.Connection:
    """What was committed last, also while somebody writes. Raises OSError and sqlite3.Error."""
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or not log.stat().st_size:
        return _connected(path, "mode=ro&immutable=1")
    try:
        return _connected(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM:
            raise
    return _copied(path, log)


def copy_database(path: Path, target: Path) -> None:
    """What was committed last, into a new file, also while somebody writes. Raises StorageError."""
    with disk_failures(path):
        target.unlink(missing_ok=True)
        with closing(reading(path)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)


def _copied(path: Path, log: Path) -> sqlite3.Connection:
    """Of a process that was killed, without the index of its log, where none can be made. The copy goes when it is closed."""
    with tempfile.TemporaryDirectory(prefix="larm-") as folder:  # the files stay as long as they are open
        for each in (path, log):
            shutil.copyfile(each, Path(folder) / each.name)
        return _connected(Path(folder) / path.name, "mode=rw")


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(address, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    try:
        connection.execute(_LOOK).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection
