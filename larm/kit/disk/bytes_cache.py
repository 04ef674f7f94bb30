"""BytesCache: a diskcache.Cache tamed: plain bytes under text keys, in one database, through one connection.

diskcache as it comes is made for caches. What is changed, and why:

- It pickles keys and values (CVE-2025-69872): our Disk reads and writes plain bytes under text keys and refuses anything else.
- It believes what it reads: here each value begins with the CRC-32 of its key and the rest (4 bytes, big-endian).
- It evicts, and writes larger values to files of their own: here nothing is evicted, and all lies in the database, so that one
  transaction covers it.
- It opens a connection for each thread, which nobody closes when the thread ends: here all threads share one.
- It runs several statements for each key, and Python gives its lock away at each one: beside two busy threads that took 5 ms a
  key. `write` has statements for many keys, on diskcache's own table: 3 to 30 us a key.
- ``cache[key] = value`` tries again for ever on a disk that can't be written: not used.

Not thread-safe: its only user, `larm.kit.disk.block_store`, lets one thread in at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import diskcache

from larm.kit.disk.read_only import reading

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
_ROWS = 500  # in one statement
_PUT = "INSERT INTO Cache (key, raw, store_time, access_time, mode, value) VALUES "
_PUT_END = (
    " ON CONFLICT (key, raw) DO UPDATE SET"
    " value = excluded.value, store_time = excluded.store_time, mode = excluded.mode, filename = NULL"
)
_DELETE = "DELETE FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_GET = "SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN (SELECT value FROM json_each(?))"
_FORGET = "DELETE FROM Cache WHERE raw = 1 AND store_time >= ? AND key LIKE '%' || ?"
_KEYS = "SELECT key FROM Cache WHERE key >= ? AND key < ? || char(1114111) ORDER BY key"


def _checksum(key: str, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(key.encode("utf-8", "surrogatepass"))).to_bytes(4, "big")


class ForeignEntryError(Exception):
    """An entry of the table that no BytesCache wrote. No OSError, as diskcache takes those for "there is none"."""


class BytesDisk(diskcache.Disk):  # type: ignore[misc]
    """diskcache's codec, less everything but text keys and bytes; no files."""

    def put(self, key: object) -> tuple[str, bool]:
        """A key for the table. Raises TypeError."""
        if type(key) is not str:
            raise TypeError(f"a key is text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        """A key of the table. Raises ForeignEntryError."""
        if type(key) is not str or not raw:
            raise ForeignEntryError("a key that is not plain text")
        return key

    def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, bytes]:
        """A value for the table. Raises TypeError."""
        if type(value) is not bytes or read:
            raise TypeError(f"a block is bytes, not {type(value).__name__}")
        return 0, _RAW, None, _checksum(str(key), value) + value

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        """A value of the table, with its checksum. Raises ForeignEntryError."""
        if mode != _RAW or filename is not None or type(value) is not bytes or read:
            raise ForeignEntryError("an entry that is not plain bytes")
        return value

    def fetch_checked(self, key: str, mode: int, filename: str | None, value: object) -> bytes:
        """A value of the table. Raises ForeignEntryError."""
        data = self.fetch(mode, filename, value, False)
        if data[:4] != _checksum(key, data[4:]):
            raise ForeignEntryError(f"a damaged entry ({key})")
        return data[4:]

    def remove(self, file_path: str) -> None:
        """Nothing: there are no files, and a path in a damaged database must not delete one."""


class BytesCache(diskcache.Cache):  # type: ignore[misc]
    """A Cache whose threads share one connection."""

    connection: Any = None
    """The sqlite3.Connection; None before the first use and after `close`."""

    def __init__(self, directory: str) -> None:
        try:
            super().__init__(directory, timeout=_BUSY_SECONDS, disk=BytesDisk, **_SETTINGS)
        except (TypeError, ValueError, LookupError) as error:  # diskcache believes its table of settings
            self.close()
            raise ForeignEntryError(f"settings that can't be read ({error})") from error
        except BaseException:
            self.close()
            raise

    def write(self, puts: Iterable[tuple[str, bytes]], deletes: Iterable[str], epoch: int = 0) -> None:
        """Delete, then put, in one durable transaction. After an error the caller rolls back."""
        execute = self.connection.execute
        execute("PRAGMA synchronous = FULL")
        execute("BEGIN IMMEDIATE")
        execute(_DELETE, (json.dumps(list(deletes)),))
        self.put_many(puts, epoch)
        execute("COMMIT")
        execute("PRAGMA synchronous = NORMAL")

    def put_many(self, puts: Iterable[tuple[str, bytes]], epoch: int = 0) -> None:
        """Write or replace; outside of a transaction, each part of 500 is one. ``epoch`` takes the place of the store time."""
        items = iter(puts)
        while part := list(islice(items, _ROWS)):
            values: list[str | bytes] = []
            for key, value in part:
                values += (self.disk.put(key)[0], self.disk.store(value, False, key)[3])
            self.connection.execute(_PUT + ", ".join([f"(?, 1, {epoch:d}, 0, 1, ?)"] * len(part)) + _PUT_END, values)

    def forget(self, epoch: int, suffix: str) -> None:
        """Delete the keys with this ending that were written in an epoch from ``epoch`` on."""
        self.connection.execute(_FORGET, (epoch, suffix))

    def keys(self, prefix: str) -> list[str]:
        """All keys that begin with ``prefix``, sorted."""
        return _keys(self.connection, self.disk, prefix)

    def roll_back(self) -> None:
        """Undo what an error left unfinished."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self.connection.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Close the connection, on any thread."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    @property
    def _con(self) -> sqlite3.Connection:
        """Where diskcache gets its connection from; its own is bound to the thread."""
        if self.connection is None:
            self.connection = _connected(self._directory)
        return self.connection  # type: ignore[no-any-return]


class BytesReader:
    """A connection to the database of a BytesCache, for a process that only reads. Raises OSError and sqlite3.Error."""

    def __init__(self, directory: str, *, read_only: bool = False) -> None:
        """``read_only``: nothing in the directory can be changed, or is to be."""
        # constant after construction
        self._disk = BytesDisk(directory)
        self._connection = reading(Path(directory) / diskcache.core.DBNAME) if read_only else _connected(directory)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that are there. Raises ForeignEntryError."""
        rows = self._connection.execute(_GET, (json.dumps(list(keys)),)).fetchall()
        return {key: self._disk.fetch_checked(key, mode, filename, value) for key, mode, filename, value in rows}

    def keys(self, prefix: str) -> list[str]:
        """All keys that begin with ``prefix``, sorted."""
        return _keys(self._connection, self._disk, prefix)

    def roll_back(self) -> None:
        """After an error there is nothing to be undone."""

    def close(self) -> None:
        """Close the connection, on any thread."""
        self._connection.close()


def _keys(connection: sqlite3.Connection, disk: BytesDisk, prefix: str) -> list[str]:
    return [disk.get(key, True) for (key,) in connection.execute(_KEYS, (prefix, prefix)).fetchall()]


def _connected(directory: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        os.path.join(directory, diskcache.core.DBNAME), timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        for key, value in _SETTINGS.items():
            if key.startswith("sqlite_"):
                connection.execute(f"PRAGMA {key.removeprefix('sqlite_')} = {value}")
    except BaseException:
        connection.close()
        raise
    return connection
