"""RecordTable: records of bytes by number, each with the generation in which it was written. One SQLite file.

Each record begins with the CRC-32 of its key and the rest; SQLite's ``user_version`` is the last generation.

Used by one thread at a time; the owner says when a generation ends. A generation is one transaction: after a crash the table is
as it was at the end of one.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.read_only import reading

_TABLE = """
    CREATE TABLE IF NOT EXISTS records (key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, record BLOB NOT NULL);
"""


class Record(NamedTuple):
    """One row."""

    key: int
    generation: int
    data: bytes


class RecordTable:
    """Records by key (63 bits)."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the table, or make it; ``read_only``: look at what was committed last. Raises StorageError."""
        # constant after construction
        self._path = path
        try:
            if read_only:
                self._connection = reading(path)
                return
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.executescript(_TABLE)
            except BaseException:
                self._connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(path, error) from error

    def write(self, generation: int, puts: Iterable[tuple[int, bytes]]) -> None:
        """Write or replace, all of it or nothing; on the disk when it returns. Raises StorageError."""
        run = self._connection
        try:
            run.execute("BEGIN IMMEDIATE")
            try:
                rows = ((key, generation, _checksum(key, data) + data) for key, data in puts)
                run.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", rows)
                run.execute(f"PRAGMA user_version = {generation:d}")  # part of the transaction
            except BaseException:
                run.execute("ROLLBACK")
                raise
            run.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(self._path, error) from error

    def get(self, key: int) -> Record | None:
        """One record. Raises StorageError."""
        rows = self._select("SELECT key, generation, record FROM records WHERE key = ?", (key,))
        return rows[0] if rows else None

    def after(self, key: int, limit: int) -> Sequence[Record]:
        """The next ``limit`` records by key; begin with -1. Raises StorageError."""
        return self._select("SELECT key, generation, record FROM records WHERE key > ? ORDER BY key LIMIT ?", (key, limit))

    def younger(self, generation: int) -> Sequence[Record]:
        """All that were written after the end of ``generation``. Raises StorageError."""
        return self._select("SELECT key, generation, record FROM records WHERE generation > ?", (generation,))

    @property
    def generation(self) -> int:
        """The last one that was written, 0 before the first. Raises StorageError."""
        return self._number("PRAGMA user_version")

    def __len__(self) -> int:
        return self._number("SELECT count(*) FROM records")

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._connection.close()

    def _number(self, statement: str) -> int:
        try:
            ((number,),) = self._connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            raise disk_failure(self._path, error) from error
        return int(number)

    def _select(self, statement: str, values: tuple[int, ...]) -> list[Record]:
        try:
            records = [Record(*row) for row in self._connection.execute(statement, values)]
        except sqlite3.Error as error:
            raise disk_failure(self._path, error) from error
        for key, _, data in records:
            if not isinstance(data, bytes) or data[:4] != _checksum(key, data[4:]):
                raise StorageError(f"{self._path}: record {key} is damaged; check the disk, then start over")
        return [Record(key, generation, data[4:]) for key, generation, data in records]


def _checksum(key: int, data: bytes) -> bytes:
    return zlib.crc32(data, key & 0xFFFF_FFFF).to_bytes(4, "big")
