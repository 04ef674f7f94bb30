"""RecordTable: records of bytes by number, each with the generation in which it was written. One SQLite file.

Each record begins with the CRC-32 of its key and the rest; SQLite's ``user_version`` is the last generation.

Where records are to be listed by what they have in common (`RecordTable.of_part`), each has the number of its part beside it,
in an index of some 18 bytes a record. Those of earlier versions have none, and are looked at for any part.

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


_HAS_PARTS = "SELECT count(*) FROM pragma_table_info('records') WHERE name = 'part'"
_PARTS = ("ALTER TABLE records ADD COLUMN part INTEGER NOT NULL DEFAULT 0", "CREATE INDEX by_part ON records (part)")


_AT_ONCE = 500
"""Keys that are looked for by one statement."""


class Record(NamedTuple):
    """One row."""

    key: int
    generation: int
    data: bytes


class RecordTable:
    """Records by key (63 bits)."""

    def __init__(self, path: Path, *, read_only: bool = False, parts: bool = False) -> None:
        """Open the table, or make it; ``read_only``: look at what was committed last; ``parts``: records have them.

        Raises StorageError.
        """
        # constant after construction
        self._database = Database(path, _TABLE, read_only=read_only)
        if parts and not read_only and not self._database.row(_HAS_PARTS)[0]:
            with self._database.transaction():
                for statement in _PARTS:
                    self._database.write(statement)

    def write(self, generation: int, puts: Iterable[tuple[int, bytes]]) -> None:
        """Write or replace, all of it or nothing; on the disk when it returns. Raises StorageError."""
        rows = ((key, generation, _checksum(key, data) + data) for key, data in puts)
        self._write(generation, "INSERT OR REPLACE INTO records (key, generation, record) VALUES (?, ?, ?)", rows)

    def write_parts(self, generation: int, puts: Iterable[tuple[int, bytes, int]], gone: Iterable[int] = ()) -> None:
        """As `write`, with the part of each record, a number other than 0; records with the keys ``gone`` are removed."""
        rows = ((key, generation, _checksum(key, data) + data, part) for key, data, part in puts)
        self._write(
            generation, "INSERT OR REPLACE INTO records (key, generation, record, part) VALUES (?, ?, ?, ?)", rows, gone
        )

    def get(self, key: int) -> Record | None:
        """One record. Raises StorageError."""
        rows = self._select("SELECT key, generation, record FROM records WHERE key = ?", (key,))
        return rows[0] if rows else None

    def get_many(self, keys: Sequence[int]) -> dict[int, Record]:
        """Those that are there. Raises StorageError."""
        found: dict[int, Record] = {}
        for at in range(0, len(keys), _AT_ONCE):
            some = tuple(keys[at : at + _AT_ONCE])
            places = ",".join("?" * len(some))
            rows = self._select(f"SELECT key, generation, record FROM records WHERE key IN ({places})", some)  # noqa: S608
            found |= {row.key: row for row in rows}
        return found

    def after(self, key: int, limit: int) -> Sequence[Record]:
        """The next ``limit`` records by key; begin with -1. Raises StorageError."""
        return self._select("SELECT key, generation, record FROM records WHERE key > ? ORDER BY key LIMIT ?", (key, limit))

    def of_part(self, part: int, key: int, limit: int) -> Sequence[Record]:
        """As `after`, but only those of a part, and those of which it is not known. Raises StorageError."""
        select = "SELECT key, generation, record FROM records WHERE part = ? AND key > ? ORDER BY key LIMIT ?"
        found = [*self._select(select, (part, key, limit)), *self._select(select, (0, key, limit))]
        return sorted(found)[:limit]

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

    def _write(self, generation: int, statement: str, rows: Iterable[tuple[object, ...]], gone: Iterable[int] = ()) -> None:
        with self._database.transaction():
            self._database.write_many(statement, rows)
            self._database.write_many("DELETE FROM records WHERE key = ?", ((key,) for key in gone))
            self._database.generation = generation

    def _select(self, statement: str, values: tuple[int, ...]) -> list[Record]:
        records = [Record(*row) for row in self._database.rows(statement, values)]
        for key, _, data in records:
            if not isinstance(data, bytes) or data[:4] != _checksum(key, data[4:]):
                raise self._database.damaged(f"record {key} is damaged")
        return [Record(key, generation, data[4:]) for key, generation, data in records]


def _checksum(key: int, data: bytes) -> bytes:
    return zlib.crc32(data, key & 0xFFFF_FFFF).to_bytes(4, "big")
