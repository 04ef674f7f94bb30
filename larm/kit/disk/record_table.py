"""RecordTable: records of bytes by number, each with the generation in which it was written. One SQLite file.

Each record begins with the CRC-32 of its key and the rest; SQLite's ``user_version`` is the last generation.

Where records are to be listed by what they have in common (`RecordTable.of_part`), each has the number of its part beside it,
in an index of some 18 bytes a record.

New records are in ``tail``, in the order in which they came; when it has grown long, they become runs, in the order of keys and
of parts (`larm.kit.disk.tiers`), as a record in a place of its own would have 16 KB written. Each read first reads which runs
there are: another process may be the one that writes.

Used by one thread at a time; the owner says when a generation ends. A generation is one transaction: after a crash the table is
as it was at the end of one.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.kit.disk.tiers import Form, Tiers, catalogue_of

_COLUMNS = "generation INTEGER NOT NULL, record BLOB NOT NULL, part INTEGER NOT NULL"
_RECORDS = Form(
    "records",
    f"(key INTEGER PRIMARY KEY, {_COLUMNS})",
    ("key", "generation", "record", "part"),
    1,
    "records_runs",
    "tail",
)
_BY_PART = "(part INTEGER, key INTEGER, PRIMARY KEY (part, key)) WITHOUT ROWID"
_PARTS = Form("parts", _BY_PART, ("part", "key"), 2, "parts_runs", "tail")
_TABLES = f"""
    {catalogue_of(_RECORDS)} {catalogue_of(_PARTS)}
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, key INTEGER NOT NULL, {_COLUMNS});
    CREATE UNIQUE INDEX IF NOT EXISTS tail_keys ON tail (key);
    CREATE INDEX IF NOT EXISTS tail_parts ON tail (part, key);
"""
_KEYS = "key IN (SELECT value FROM json_each(:keys))"
_INSERT = "INSERT INTO tail (key, generation, record, part) VALUES (?, ?, ?, ?)"
TAIL = 8_192
"""Records of which a run is made: some 3 MB."""


_AT_ONCE = 500
"""Keys that are looked for by one statement."""


class Record(NamedTuple):
    """One row."""

    key: int
    generation: int
    data: bytes


class RecordTable:
    """Records by key (63 bits)."""

    def __init__(self, path: Path, *, read_only: bool = False, tail: int = TAIL) -> None:
        """Open the table, or make it; ``read_only``: look at what was committed last; ``tail``: of so many a run is made.

        Raises StorageError.
        """
        # constant after construction
        self._database = Database(path, _TABLES, read_only=read_only)
        self._most = tail
        # only the calling thread
        self._records, self._parts = (Tiers(self._database, form, tail) for form in (_RECORDS, _PARTS))

    def write(self, generation: int, puts: Iterable[tuple[int, bytes]]) -> None:
        """Write or replace, all of it or nothing; on the disk when it returns. Raises StorageError."""
        self.write_parts(generation, ((key, data, 0) for key, data in puts))

    def write_parts(self, generation: int, puts: Iterable[tuple[int, bytes, int]], gone: Iterable[int] = ()) -> None:
        """As `write`, with the part of each record, a number other than 0, which is always the same; records with the keys
        ``gone`` are removed.
        """
        rows = {key: (key, generation, _checksum(key, data) + data, part) for key, data, part in puts}
        gone, write = list(gone), self._database.write
        with self._database.transaction():
            for tiers in (self._records, self._parts):
                tiers.load()
                tiers.drop_dead()
            self._make_runs()
            if gone:
                self._remove_parts(gone)
            chosen = json.dumps([*rows, *gone])
            for table in self._records.tables:
                write(f"DELETE FROM {table} WHERE {_KEYS}", {"keys": chosen})  # noqa: S608  a name and a constant
            self._database.write_many(_INSERT, rows.values())
            for tiers in (self._records, self._parts):
                tiers.step(len(rows))
            self._database.generation = generation

    def get(self, key: int) -> Record | None:
        """One record. Raises StorageError."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Sequence[int]) -> dict[int, Record]:
        """Those that are there. Raises StorageError."""
        found: list[Record] = []
        for at in range(0, len(keys), _AT_ONCE):
            found += self._select(f"WHERE {_KEYS}", keys=json.dumps(keys[at : at + _AT_ONCE]))
        return {row.key: row for row in found}

    def after(self, key: int, limit: int) -> Sequence[Record]:
        """The next ``limit`` records by key; begin with -1. Raises StorageError."""
        return self._select("WHERE key > :key", f"ORDER BY key LIMIT {limit:d}", key=key)

    def of_part(self, part: int, key: int, limit: int) -> Sequence[Record]:
        """As `after`, but only those of a part. Raises StorageError."""
        with self._database.moment():
            self._parts.load()
            return sorted(self._select(f"WHERE {_KEYS}", keys=json.dumps(self._keys_of(part, key, limit))))

    def younger(self, generation: int) -> Sequence[Record]:
        """All that were written after the end of ``generation``. Raises StorageError."""
        return self._select("WHERE generation > :last", last=generation) if self.generation > generation else []

    @property
    def generation(self) -> int:
        """The last one that was written, 0 before the first. Raises StorageError."""
        return self._database.generation

    def __len__(self) -> int:
        with self._database.moment():
            self._records.load()
            counted = [self._database.row(f"SELECT count(*) FROM {table}") for table in self._records.live]  # noqa: S608  a name
        return sum([int(count) for (count,) in counted])

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    def _remove_parts(self, keys: Sequence[int]) -> None:
        chosen = json.dumps(keys)
        pairs: list[tuple[int, int]] = []
        for table in self._records.live:
            pairs += self._database.rows(f"SELECT part, key FROM {table} WHERE {_KEYS}", {"keys": chosen})  # noqa: S608  a name
        for run in self._parts.runs:
            self._database.write_many(f"DELETE FROM {run.table} WHERE part = ? AND key = ?", pairs)  # noqa: S608  a name

    def _keys_of(self, part: int, key: int, limit: int) -> list[int]:
        keys: set[int] = set()
        for table in self._parts.live:
            select = f"SELECT key FROM {table} WHERE part = ? AND key > ? ORDER BY key LIMIT {limit:d}"  # noqa: S608  a name
            keys.update(found for (found,) in self._database.rows(select, (part, key)))
        return sorted(keys)[:limit]

    def _make_runs(self) -> None:
        if self._database.row("SELECT count(*) FROM tail")[0] < self._most:
            return
        self._records.add("SELECT key, generation, record, part FROM tail ORDER BY key")
        self._parts.add("SELECT part, key FROM tail WHERE part > 0 ORDER BY part, key")
        self._database.write("DELETE FROM tail")

    def _select(self, where: str, then: str = "", **values: int | str) -> list[Record]:
        with self._database.moment():
            self._records.load()
            parts = [f"SELECT key, generation, record FROM {table} {where}" for table in self._records.live]  # noqa: S608
            rows = self._database.rows(f"{' UNION ALL '.join(parts)} {then}", values) if parts else []
            records = [Record(*row) for row in rows]
        for key, _, data in records:
            if not isinstance(data, bytes) or data[:4] != _checksum(key, data[4:]):
                raise self._database.damaged(f"record {key} is damaged")
        return [Record(key, generation, data[4:]) for key, generation, data in records]


def _checksum(key: int, data: bytes) -> bytes:
    return zlib.crc32(data, key & 0xFFFF_FFFF).to_bytes(4, "big")
