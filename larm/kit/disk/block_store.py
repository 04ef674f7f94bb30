"""BlockStore: blocks of bytes by key in one SQLite file: the queues' blocks and the records of the checkpoint.

diskcache makes the file and checks its settings. Everything else is done here, on its table, because a checkpoint is one
transaction over blocks, records and letter boxes, a command reads a directory that it can't write, and one statement covers
many keys (docs/measurements.rst). Values are plain bytes that begin with the CRC-32 of their epoch, their key and the rest (4
bytes, big-endian), keys are text, never pickles (CVE-2025-69872). Nothing is evicted or written to files of its own.

Used on all threads, one at a time; all errors of the disk are StorageError.
"""

import json
import os
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import diskcache

from larm.errors import REPAIR, StorageError
from larm.kit.disk import letter_box
from larm.kit.disk.database import Database, readable_rows, replace_database
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory

T = TypeVar("T")
DATABASE: str = diskcache.core.DBNAME
"""What diskcache calls its file."""

_SETTINGS = {
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": 2**62,
    "statistics": 0,
    "tag_index": 0,
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,  # NORMAL: a killed process loses nothing, and only checkpoints wait for the disk
    "sqlite_auto_vacuum": 0,  # freed pages are used again; moving them about at each commit is slow
    "sqlite_cache_size": 2_000,  # pages of 4 KB: blocks are read once, so a large cache is wasted
    "sqlite_mmap_size": 0,  # a disk error in mapped memory kills the process instead of raising
    "sqlite_wal_autocheckpoint": 4_000,  # 16 MB of log before it is copied into the database; the default is ten blocks
}
_BUSY_SECONDS = 10  # a command that looks into a running crawl holds the database for a moment
_RAW = 1  # diskcache's mode for a value that lies in the database
_ROWS, _BYTES = 500, 10_000_000  # in one statement
_PUT = (
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value) SELECT json_extract(value, '$[0]'), 1, :epoch, 0, 1,"
    " substr(:values, json_extract(value, '$[1]'), json_extract(value, '$[2]')) FROM json_each(:rows) WHERE true"
    " ON CONFLICT (key, raw) DO UPDATE SET"
    " value = excluded.value, store_time = excluded.store_time, mode = excluded.mode, filename = NULL"
)
"""Of rows (key, where its value begins, from 1 on, its length) and of all values, one after the other: one statement, for any
number, as SQLite keeps what was given last to each that it may see again."""
_SALVAGED = "INSERT OR IGNORE INTO Cache (key, raw, store_time, access_time, mode, value) VALUES (?, 1, ?, 0, 1, ?)"
_DELETE = "DELETE FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_GET = "SELECT key, store_time, mode, filename, value FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_FORGET = "DELETE FROM Cache WHERE raw = 1 AND store_time >= ? AND key LIKE '%' || ?"
_KEYS = (
    "SELECT key FROM Cache WHERE key >= :prefix AND key < :prefix || char(1114111)"
    " AND instr(substr(key, length(:prefix) + 1), :having) ORDER BY key"
)


def _checksum(key: str, epoch: int, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(key.encode("utf-8", "surrogatepass"), epoch)).to_bytes(4, "big")


class BlockStore:
    """Bytes by key. Keys are text; nothing expires."""

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        """Open the store, or make it. ``read_only``: what is there can be looked at, and no more. Raises StorageError."""
        if os.path.expandvars(str(directory)) != str(directory):  # diskcache would use another directory
            raise StorageError(f"{directory}: the path holds the name of an environment variable; use another directory")
        # constant after construction
        self.directory = directory
        self._path = directory / DATABASE
        self._lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._retired_lock = threading.Lock()
        # guarded by self._lock
        self._closed = False
        self._epoch = 0
        if not read_only:
            make_cache(directory)
        # guarded by self._lock; None: nothing is to be written
        self._writer = None if read_only else _opened(self._path)
        try:
            # guarded by self._read_lock; a second connection, so that readers do not wait for a checkpoint to be written
            self._reader = _opened(self._path, read_only=read_only)
        except BaseException:
            if self._writer is not None:
                self._writer.close()
            raise
        # guarded by self._retired_lock
        self._retired: list[str] = []

    @property
    def complete(self) -> bool:
        """False where the process that made the database was killed before its tables were there. Raises StorageError."""
        with self._read() as database:
            return bool(database.rows("SELECT 1 FROM sqlite_master WHERE name = 'Cache'"))

    def get(self, key: str) -> bytes | None:
        """The block, None where there is none. Raises StorageError, also for an entry that is not plain bytes."""
        return self.get_many([key]).get(key)  # one statement; diskcache's own look-up takes several

    def put(self, key: str, block: bytes) -> None:
        """Write one block, replacing an older one. Safe from a killed process now, from a power cut after `transaction`."""
        self.put_many({key: block})

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that are there, with one look into the database."""
        found = {}
        with self._read() as database:
            rows = database.rows(_GET, (json.dumps(list(keys)),))
        for key, epoch, mode, filename, value in rows:
            if mode != _RAW or filename is not None or type(value) is not bytes:
                raise _foreign(self._path, "an entry that is not plain bytes")
            if type(epoch) is not float or value[:4] != _checksum(key, int(epoch), value[4:]):
                raise _foreign(self._path, f"a damaged entry ({key})")
            found[key] = value[4:]
        return found

    def put_many(self, blocks: Mapping[str, bytes]) -> None:
        """As `put`, for many; 500 blocks or 10 MB are written at once."""
        with self._use() as database:
            self._put_locked(database, blocks.items())

    def next_epoch(self) -> int:
        """Begin the next epoch and return its number: what is written from now on is not part of the cut that is being made."""
        with self._lock:
            self._epoch += 1
            return self._epoch

    def go_back(self, epoch: int, suffix: str) -> None:
        """At the start: go on in ``epoch``, without the blocks (keys ending in ``suffix``) that were written in it or later."""
        with self._use() as database:
            database.write(_FORGET, (epoch, suffix))
            self._epoch = epoch

    def go_on(self, epoch: int) -> None:
        """At the start, where nothing was written after the cut of that epoch: go on in it."""
        with self._lock:
            self._epoch = epoch

    def transaction(
        self,
        puts: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
        deletes: Iterable[str] = (),
        also: Callable[[Database], None] = lambda _: None,
    ) -> None:
        """Delete, then write, then what ``also`` does: all of it or nothing. When it returns, it is on the disk, and every
        earlier `put` with it.

        ``puts`` may be an iterator, which is asked for a few hundred entries at a time.
        """
        pairs = puts.items() if isinstance(puts, Mapping) else puts
        with self._use() as database:
            database.write("PRAGMA synchronous = FULL")
            try:
                with database.transaction():
                    database.write(_DELETE, (json.dumps(list(deletes)),))
                    self._put_locked(database, pairs)
                    also(database)
            finally:
                database.write("PRAGMA synchronous = NORMAL")

    def ask(self, question: Callable[[Database], T]) -> T:
        """What it finds in the database, in tables that only transactions with ``also`` write."""
        with self._read() as database:
            return question(database)

    def keys(self, prefix: str = "", having: str = "") -> list[str]:
        """Keys that begin with ``prefix`` and have ``having`` behind it, sorted.

        Reads the whole range: for the start and the end of a crawl, and for somebody who waits.
        """
        with self._read() as database:
            keys = [key for (key,) in database.rows(_KEYS, {"prefix": prefix, "having": having})]
        if any(type(key) is not str for key in keys):
            raise _foreign(self._path, "a key that is not plain text")
        return keys

    def check(self) -> None:
        """Read all entries. Raises StorageError."""
        keys = self.keys()
        if len(keys) != sum(len(self.get_many(keys[at : at + _ROWS])) for at in range(0, len(keys), _ROWS)):
            raise _foreign(self._path, "an entry that is not found by its key")

    def retire(self, key: str) -> None:
        """The block is no longer needed, but must survive until the next checkpoint, as the last one may still refer to it."""
        with self._retired_lock:
            self._retired.append(key)

    def retired(self) -> list[str]:
        """Hand over, and forget, what was retired: the ``deletes`` of the checkpoint in whose cut this is called."""
        with self._retired_lock:
            retired, self._retired = self._retired, []
            return retired

    def close(self) -> None:
        """Close the database, on any thread; a second call does nothing, everything else then raises StorageError."""
        with self._lock, self._read_lock:
            self._closed = True
            if self._writer is not None:
                self._writer.close()
            self._reader.close()

    def _put_locked(self, database: Database, puts: Iterable[tuple[str, bytes]]) -> None:
        rows: list[tuple[str, int, int]] = []
        values = bytearray()
        for key, value in puts:
            if type(key) is not str or type(value) is not bytes:
                what = f"a block is bytes, not {type(value).__name__}"
                raise TypeError(what if type(key) is str else f"a key is text, not {type(key).__name__}")
            if "\0" in key or key != key.encode("utf-8", "replace").decode():
                raise ValueError(f"a key that SQLite would not find again: {key!r}")
            rows.append((key, len(values) + 1, len(value) + 4))
            values += _checksum(key, self._epoch, value)
            values += value
            if len(rows) == _ROWS or len(values) > _BYTES:
                self._write_locked(database, rows, values)
                rows, values = [], bytearray()
        self._write_locked(database, rows, values)
        self._write_locked(database, [], b"")  # or SQLite would keep the last values

    def _write_locked(self, database: Database, rows: list[tuple[str, int, int]], values: bytes | bytearray) -> None:
        database.write(_PUT, {"rows": json.dumps(rows), "values": values, "epoch": self._epoch})

    @contextmanager
    def _use(self) -> Iterator[Database]:
        """The connection that writes, for this thread alone."""
        with self._lock:
            self._refuse_closed()
            if self._writer is None:
                raise StorageError(f"{self.directory}: the store was opened to be read only")
            yield self._writer

    @contextmanager
    def _read(self) -> Iterator[Database]:
        with self._read_lock:
            self._refuse_closed()
            yield self._reader

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StorageError(f"{self.directory}: the store is closed")

    def __str__(self) -> str:
        return str(self._path)

    def __repr__(self) -> str:
        return f"<BlockStore {self.directory}{' closed' if self._closed else ''}>"


def salvage_blocks(directory: Path) -> None:
    """Rebuild the database of a closed store from its whole blocks and letters. Raises StorageError.

    Blocks keep their epochs. Can be killed and repeated.
    """
    path, beside = directory / DATABASE, directory / "salvaged"
    with disk_failures(beside):
        shutil.rmtree(beside, ignore_errors=True)
    with closing(BlockStore(beside)) as store, store._use() as database, database.transaction():
        for _, key, epoch, value in readable_rows(path, "Cache", "rowid, key, store_time, value", "rowid"):
            whole = isinstance(key, str) and isinstance(epoch, float) and isinstance(value, bytes)
            if whole and value[:4] == _checksum(key, int(epoch), value[4:]):
                database.write(_SALVAGED, (key, epoch, value))
        letter_box.write(database, letter_box.readable_letters(path), ())
    replace_database(path, beside / DATABASE)
    shutil.rmtree(beside, ignore_errors=True)


class _Maker(diskcache.Cache):  # type: ignore[misc]
    """Makes the table, or looks whether it is as it should be; nothing of it is open then."""

    def __init__(self, directory: Path) -> None:
        try:
            super().__init__(str(directory.absolute()), timeout=_BUSY_SECONDS, **_SETTINGS)
        finally:
            self.close()


def make_cache(directory: Path) -> None:
    """The directory, and the database in it, where they are missing. Raises StorageError."""
    path = directory / DATABASE
    with disk_failures(directory):
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            sync_directory(directory.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))  # SQLite would make it 0644
    try:
        _Maker(directory)
    except (TypeError, ValueError, LookupError, AttributeError) as error:  # diskcache believes its table of settings
        raise _foreign(path, f"settings that can't be read ({error})") from error
    except (sqlite3.Error, OSError, diskcache.Timeout) as error:
        raise disk_failure(path, error) from error


def _opened(path: Path, *, read_only: bool = False) -> Database:
    database = Database(path, "", read_only=read_only)
    for key, value in () if read_only else _SETTINGS.items():
        if key.startswith("sqlite_"):
            database.write(f"PRAGMA {key.removeprefix('sqlite_')} = {value}")
    return database


def _foreign(path: Path, what: str) -> StorageError:
    return StorageError(f"{path}: it holds {what}; check the disk and who can write there; {REPAIR}")
