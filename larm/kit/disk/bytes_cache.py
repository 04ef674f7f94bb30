"""BytesCache: the database of a diskcache.Cache, written and read past diskcache: plain bytes under text keys.

diskcache makes the table, and keeps what it is to be. As it comes it is made for caches, so the rest is done here:

- It pickles keys and values (CVE-2025-69872): here they are plain bytes under text keys, and anything else is refused.
- It believes what it reads: here each value begins with the CRC-32 of its key and the rest (4 bytes, big-endian).
- It evicts, and writes larger values to files of their own: here nothing is evicted, and all lies in the database, so that one
  transaction covers it.
- It opens a connection for each thread, which nobody closes when the thread ends: here all threads share one.
- It runs several statements for each key, and Python gives its lock away at each one: beside two busy threads that took 5 ms a
  key. Here are statements for many keys, on diskcache's own table: 3 to 30 us a key.
- It tries again for ever on a disk that can't be written.

Not thread-safe: its only user, `larm.kit.disk.block_store`, lets one thread in at a time.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import diskcache

from larm.errors import StorageError
from larm.kit.disk.database import Database
from larm.kit.disk.disk_failure import disk_failure, disk_failures

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
_DELETE = "DELETE FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_GET = "SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_FORGET = "DELETE FROM Cache WHERE raw = 1 AND store_time >= ? AND key LIKE '%' || ?"
_KEYS = (
    "SELECT key FROM Cache WHERE key >= :prefix AND key < :prefix || char(1114111)"
    " AND instr(substr(key, length(:prefix) + 1), :having) ORDER BY key"
)


def _checksum(key: str, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(key.encode("utf-8", "surrogatepass"))).to_bytes(4, "big")


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
        directory.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))  # SQLite would make it 0644
    try:
        _Maker(directory)
    except (TypeError, ValueError, LookupError, AttributeError) as error:  # diskcache believes its table of settings
        raise _foreign(path, f"settings that can't be read ({error})") from error
    except (sqlite3.Error, OSError, diskcache.Timeout) as error:
        raise disk_failure(path, error) from error


class BytesCache:
    """One connection to what `make_cache` has made. Every method may raise StorageError."""

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        """``read_only``: nothing in the directory can be changed, or is to be."""
        # constant after construction
        self.database = Database(directory / DATABASE, "", read_only=read_only)
        for key, value in () if read_only else _SETTINGS.items():
            if key.startswith("sqlite_"):
                self.database.write(f"PRAGMA {key.removeprefix('sqlite_')} = {value}")

    def write(
        self,
        puts: Iterable[tuple[str, bytes]],
        deletes: Iterable[str],
        epoch: int = 0,
        also: Callable[[Database], object] = bool,
    ) -> None:
        """Delete, then put, then what ``also`` does, in one durable transaction."""
        self.database.write("PRAGMA synchronous = FULL")
        try:
            with self.database.transaction():
                self.database.write(_DELETE, (json.dumps(list(deletes)),))
                self.put_many(puts, epoch)
                also(self.database)
        finally:
            self.database.write("PRAGMA synchronous = NORMAL")

    def put_many(self, puts: Iterable[tuple[str, bytes]], epoch: int = 0) -> None:
        """Write or replace; outside of a transaction, 500 or 10 MB are one. ``epoch`` stands for the store time."""
        rows: list[tuple[str, int, int]] = []
        values = bytearray()
        for key, value in puts:
            if type(key) is not str or type(value) is not bytes:
                what = f"a block is bytes, not {type(value).__name__}"
                raise TypeError(what if type(key) is str else f"a key is text, not {type(key).__name__}")
            if "\0" in key or key != key.encode("utf-8", "replace").decode():
                raise ValueError(f"a key that SQLite would not find again: {key!r}")
            rows.append((key, len(values) + 1, len(value) + 4))
            values += _checksum(key, value)
            values += value
            if len(rows) == _ROWS or len(values) > _BYTES:
                self._put(rows, values, epoch)
                rows, values = [], bytearray()
        self._put(rows, values, epoch)
        self._put([], b"", epoch)  # or SQLite would keep the last values

    def _put(self, rows: list[tuple[str, int, int]], values: bytes | bytearray, epoch: int) -> None:
        self.database.write(_PUT, {"rows": json.dumps(rows), "values": values, "epoch": epoch})

    def forget(self, epoch: int, suffix: str) -> None:
        """Delete the keys with this ending that were written in an epoch from ``epoch`` on."""
        self.database.write(_FORGET, (epoch, suffix))

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that are there. An entry that no BytesCache wrote is refused."""
        found = {}
        for key, mode, filename, value in self.database.rows(_GET, (json.dumps(list(keys)),)):
            if mode != _RAW or filename is not None or type(value) is not bytes:
                raise _foreign(self.database.path, "an entry that is not plain bytes")
            if value[:4] != _checksum(key, value[4:]):
                raise _foreign(self.database.path, f"a damaged entry ({key})")
            found[key] = value[4:]
        return found

    def keys(self, prefix: str, having: str = "") -> list[str]:
        """Keys that begin with ``prefix`` and have ``having`` behind it, sorted."""
        keys = [key for (key,) in self.database.rows(_KEYS, {"prefix": prefix, "having": having})]
        if any(type(key) is not str for key in keys):
            raise _foreign(self.database.path, "a key that is not plain text")
        return keys

    def close(self) -> None:
        """Close the connection, on any thread; a second call does nothing."""
        self.database.close()


def _foreign(path: Path, what: str) -> StorageError:
    return StorageError(f"{path}: it holds {what}; check the disk and who can write there, then start over")
