"""Database: an SQLite file of our own: opened, asked and written in one way, and its failures told in one way.

The only place that makes connections (diskcache makes its own). On the disk is what was committed, also after a power failure.
Used by one thread at a time; every method may raise StorageError.

In WAL mode, SQLite makes files beside a database even for a process that only reads: it fails on a read-only disk, on a full
one, and in the directory of another user. Where there is no log beside the database, nobody writes to it, and nothing need be
locked: so `reading` changes nothing, wherever the database lies.
"""

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from larm.errors import REPAIR, StorageError
from larm.kit.disk.disk_failure import BUSY, disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

Values = Sequence[object] | Mapping[str, object]
"""Of question marks, or of ``:name``."""
BUSY_SECONDS = 10
_NO_ROOM = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LOOK = "SELECT count(*) FROM sqlite_master"
_CACHE = 2_000
"""KB of pages in memory; the rest is left to the operating system's cache. With 8,000 the tables take as much CPU, and a crawl,
which has six such connections, 20 MB more as soon as these are full."""
_ROWS = 100
"""Rows of a damaged database that are read at a time, then ten, then one."""
_STATEMENTS = 16
"""That are kept prepared, of a connection. Each keeps what was given to it last, such as 100 KB of keys, and most name a table
that one merge makes and another drops: with 128, Python's default, a crawl took .2 KB more of memory for each page."""
_ERASED = "FAST"
"""What is deleted is overwritten where its page is written anyway. Some builds of SQLite, as Debian's, write zeros over all of
a dropped table, which doubles what merged runs cost; others overwrite nothing. Where it matters, see `Database.compact`."""


class Database:
    """One connection."""

    def __init__(self, path: Path, tables: str, *, read_only: bool = False) -> None:
        """Open it, or make it with ``tables`` (``CREATE ... IF NOT EXISTS``); ``read_only``: what was committed last."""
        # constant after construction
        self.path = path
        with self._told():
            if read_only:
                self._connection = reading(path)
                return
            if str(path) != ":memory:":  # which SQLite takes for no file
                path = path.absolute()  # or it takes file:name for an address, some builds always
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
            self._connection = _opened(str(path))
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute(f"PRAGMA cache_size = -{_CACHE}")
                self._connection.execute(f"PRAGMA secure_delete = {_ERASED}")
                if tables:
                    self._connection.executescript(f"BEGIN IMMEDIATE; {tables} COMMIT;")  # which waits once for the disk
            except BaseException:
                self._connection.close()
                raise

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All that it answers."""
        with self._told():
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Values = ()) -> tuple[Any, ...]:
        """The one row that it answers."""
        rows = self.rows(statement, values)
        if len(rows) != 1:
            raise self.damaged()
        return rows[0]

    def write(self, statement: str, values: Values = ()) -> int:
        """Carry it out; how many rows it changed."""
        with self._told():
            return self._connection.execute(statement, values).rowcount

    def write_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Carry it out for each row."""
        with self._told():
            self._connection.executemany(statement, rows)

    @property
    def generation(self) -> int:
        """A number of the owner's, 0 at first; part of the transaction in which it is set."""
        return int(self.row("PRAGMA user_version")[0])

    @generation.setter
    def generation(self, number: int) -> None:
        self.write(f"PRAGMA user_version = {number:d}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within it, or nothing; on the disk when it ends."""
        self.begin()
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.commit()

    @property
    def in_transaction(self) -> bool:
        """True between `begin` and `commit`."""
        return self._connection.in_transaction

    @contextmanager
    def moment(self) -> Iterator[None]:
        """What is read within it is of one moment, whoever else may write."""
        if self.in_transaction:
            yield
            return
        self.write("BEGIN")
        try:
            yield
        finally:
            self.rollback()

    def begin(self) -> None:
        """Begin a transaction that `commit` ends."""
        self.write("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End it: on the disk when this returns."""
        try:
            self.write("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def compact(self) -> None:
        """Write it anew, without what was deleted. Needs as much room on the disk as it has.

        Raises StorageError also where somebody reads in it for longer than `BUSY_SECONDS`: what was deleted is there still.
        """
        self.write("VACUUM")
        if self.row("PRAGMA wal_checkpoint(TRUNCATE)")[0]:  # SQLite says so by a row, not by an error
            raise StorageError(f"{self.path}: {BUSY}")

    def rollback(self) -> None:
        """Undo what was not committed."""
        if self.in_transaction:  # SQLite may have undone it by itself
            self.write("ROLLBACK")

    def damaged(self, what: str = "the database is damaged") -> StorageError:
        """To raise where what it says can't be."""
        return StorageError(f"{self.path}: {what}; {REPAIR}")

    def close(self) -> None:
        """Close it, without what was not committed; a second call does nothing."""
        self._connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # of a message that quotes the damage
            raise self.damaged() from error
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(self.path, error) from error


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
        with closing(reading(path)) as source, closing(sqlite3.connect(target.absolute())) as copy:
            source.backup(copy)


def _copied(path: Path, log: Path) -> sqlite3.Connection:
    """Of a process that was killed, without the index of its log, where none can be made. The copy goes when it is closed."""
    with tempfile.TemporaryDirectory(prefix="larm-") as folder:  # the files stay as long as they are open
        for each in (path, log):
            shutil.copyfile(each, Path(folder) / each.name)
        return _connected(Path(folder) / path.name, "mode=rw")


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{mode}"
    connection = _opened(address)
    try:
        connection.execute(_LOOK).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _opened(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
        uri=address.startswith("file:"),
    )


def readable_rows(path: Path, tables: str, chosen: str, key: str) -> Iterator[tuple[Any, ...]]:
    """Yield the readable rows of a damaged database: each table forwards up to the damage, then backwards from its end.

    ``tables``: regular expression of table names. ``key``: columns that order the rows; ``chosen`` begins with them. Rows are
    not verified.
    """
    with suppress(StorageError), closing(Database(path, "", read_only=True)) as database:
        database.write("PRAGMA cell_size_check = ON")
        names = [name for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if isinstance(name, str) and re.fullmatch(tables, name):
                yield from _table_left(database, name, chosen, key)


def _table_left(database: Database, table: str, chosen: str, key: str) -> Iterator[tuple[Any, ...]]:
    width = key.count(",") + 1
    behind: Any = None
    for sign, order in ((">", "ASC"), ("<", "DESC")):
        last: Any = None
        most = _ROWS
        while most:
            where = "" if last is None else f"WHERE ({key}) {sign} ({', '.join('?' * width)})"
            ordered = ", ".join(f"{column.strip()} {order}" for column in key.split(","))
            select = f"SELECT {chosen} FROM {table} {where} ORDER BY {ordered} LIMIT {most:d}"  # noqa: S608  names
            try:
                rows = database.rows(select, last or ())
            except StorageError:
                most //= 10
                continue
            if not rows and order == "ASC":
                return  # to the end
            for row in rows:
                if order == "DESC" and behind is not None and row[:width] <= behind:
                    return
                yield row
            if not rows:
                return
            last = rows[-1][:width]
        behind = last


def readable_generation(path: Path) -> int:
    """Return the generation of a database that may be damaged; 0 if it can't be read."""
    with suppress(StorageError), closing(Database(path, "", read_only=True)) as database:
        return database.generation
    return 0


def replace_database(path: Path, new: Path) -> None:
    """Replace a closed database by another closed one. Raises StorageError."""
    with disk_failures(path):
        for ending in ("-wal", "-shm"):  # first: SQLite would put the old log into the new file
            path.with_name(path.name + ending).unlink(missing_ok=True)
        new.replace(path)
    sync_directory(path.parent)


def check_database(path: Path) -> None:
    """Read all of it, some 300 MB a second; nothing where there is none. Raises StorageError where it is not whole.

    SQLite finds damage where it happens to read it, and where damage leaves something readable it does not find it at all.
    """
    if not path.exists() or not path.stat().st_size:
        return
    with closing(Database(path, "", read_only=True)) as database:
        found = str(database.row("PRAGMA integrity_check(1)")[0])
    if found != "ok":
        raise database.damaged(f"the database is damaged ({' '.join(found.split())})")
