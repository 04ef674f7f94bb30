"""RecordTable: records of bytes by number, each with the generation in which it was written. One SQLite file.

Each record begins with the CRC-32 of its key and the rest; SQLite's ``user_version`` is the last generation.

Used by one thread at a time; the owner says when a generation ends. A generation is one transaction: after a crash the table is
as it was at the end of one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.kit.disk.database import Database

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
        self._database = Database(path, _TABLE, read_only=read_only)

    def write(self, generation: int, puts: Iterable[tuple[int, bytes]]) -> None:
        """Write or replace, all of it or nothing; on the disk when it returns. Raises StorageError."""
        rows = ((key, generation, _checksum(key, data) + data) for key, data in puts)
        with self._database.transaction():
            self._database.write_many("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", rows)
            self._database.generation = generation

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
        return self._database.generation

    def __len__(self) -> int:
        return int(self._database.row("SELECT count(*) FROM records")[0])

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    def _select(self, statement: str, values: tuple[int, ...]) -> list[Record]:
        records = [Record(*row) for row in self._database.rows(statement, values)]
        for key, _, data in records:
            if not isinstance(data, bytes) or data[:4] != _checksum(key, data[4:]):
                raise self._database.damaged(f"record {key} is damaged")
        return [Record(key, generation, data[4:]) for key, generation, data in records]


def _checksum(key: int, data: bytes) -> bytes:
    return zlib.crc32(data, key & 0xFFFF_FFFF).to_bytes(4, "big")
