"""TwinTable: records by number, each with the *marks* by which its like is found, and the number of the one it is like.

A record that is like no earlier one *leads* (``first`` is its own key) and is found by its marks; the others *follow* it. One
SQLite file; what is asked of it is on the disk, so any number of records needs no memory.

A generation is one transaction, open from its first change to `commit`: whoever dies before has changed nothing. `open_at` also
undoes the last generation that was committed, for the case that the checkpoint it belonged to was not written any more: new
records are known by their generation, of those that were changed or removed ``undone`` has the old form.

Used by one thread at a time. Many records go through each statement, and each returns one row, because Python gives its lock
away for each row and each execution.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.errors import StorageError
from larm.kit.disk.database import Database

_TABLES = """
    CREATE TABLE IF NOT EXISTS entries (
        key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, first INTEGER NOT NULL, marks BLOB NOT NULL, data BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS followers ON entries (first, key) WHERE first <> key;
    CREATE TABLE IF NOT EXISTS marks (mark INTEGER, key INTEGER, PRIMARY KEY (mark, key)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS undone (
        key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, first INTEGER NOT NULL, marks BLOB NOT NULL, data BLOB NOT NULL
    );
"""
_FIND = """
    SELECT json_group_array(json_array(asked.value, marks.key))
    FROM json_each(?) AS asked JOIN marks ON marks.mark = asked.value
    WHERE marks.key IN (SELECT key FROM marks WHERE mark = asked.value LIMIT 8)
"""  # a mark that many share says little
_ROWS = 500  # in one statement


class Entry(NamedTuple):
    """One record."""

    key: int
    """63 bits, as the marks."""
    first: int
    """The key of the one that it is like; its own if it leads."""
    data: bytes
    marks: tuple[int, ...] = ()
    """By which others find it; none for one that follows."""


class TwinTable:
    """Entries by key and by mark. Every method may raise StorageError."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the table, or make it; ``read_only``: look at what was committed last."""
        # constant after construction
        self._database = Database(path, _TABLES, read_only=read_only)
        # only the calling thread
        self._generation = 0
        self._open = False  # a generation has begun

    def open_at(self, generation: int) -> None:
        """Go on after that generation, undoing a later one. Raises StorageError if the table is of another time."""
        found = self._database.generation
        if found == generation + 1:
            with self._database.transaction():
                self._undo(generation)
        elif found != generation:
            raise StorageError(
                f"{self._database.path}: it is of generation {found}, the last checkpoint of {generation}: it was removed or "
                "replaced; put the file back as it was, or start over with --fresh"
            )
        self._generation = generation

    def find(self, marks: Iterable[int]) -> list[tuple[int, int]]:
        """(mark, key) of those who lead and have one of these marks; of each mark eight at most."""
        return [(mark, key) for mark, key in json.loads(self._database.row(_FIND, (json.dumps(list(marks)),))[0])]

    def get_many(self, keys: Iterable[int]) -> dict[int, Entry]:
        """Those of the keys that are there."""
        where = "WHERE key IN (SELECT value FROM json_each(?))"
        return {entry.key: entry for entry in self._entries(where, json.dumps(list(keys)))}

    def followers(self, first: int, after: int = -1, limit: int = 200) -> list[Entry]:
        """Who follows ``first``, by key; the next ones after the key ``after``."""
        where = f"WHERE first = ? AND first <> key AND key > ? ORDER BY key LIMIT {limit:d}"
        return self._entries(where, first, after)

    def leads(self, after: int = -1, limit: int = 200) -> list[int]:
        """The keys of those that others follow, in order; the next ones after the key ``after``."""
        asked = f"SELECT DISTINCT first FROM entries WHERE first <> key AND first > ? ORDER BY first LIMIT {limit:d}"  # noqa: S608
        return [int(first) for (first,) in self._database.rows(asked, (after,))]

    def following(self) -> int:
        """How many follow another."""
        return int(self._database.row("SELECT count(*) FROM entries WHERE first <> key")[0])

    def clear(self) -> None:
        """Remove all."""
        self._begin()
        write = self._database.write
        write("INSERT OR IGNORE INTO undone SELECT * FROM entries WHERE generation <= ?", (self._generation,))
        write("DELETE FROM marks")
        write("DELETE FROM entries")

    def put(self, entries: Sequence[Entry], *, new: bool = False) -> None:
        """Write or replace; ``new``: none of these keys is there."""
        if not entries:
            return
        self._begin()
        if not new:
            self.remove([entry.key for entry in entries])
        for at in range(0, len(entries), _ROWS):
            self._insert(entries[at : at + _ROWS], self._generation + 1)

    def remove(self, keys: Sequence[int]) -> None:
        """Remove those that are there."""
        if not keys:
            return
        self._begin()
        chosen = json.dumps(list(keys))
        these = "key IN (SELECT value FROM json_each(?))"
        old = [entry for entry in self.get_many(keys).values() if entry.marks]
        pairs = json.dumps([(mark, entry.key) for entry in old for mark in entry.marks])
        write = self._database.write
        # what this generation itself wrote has no old form
        write(
            f"INSERT OR IGNORE INTO undone SELECT * FROM entries WHERE generation <= ? AND {these}",  # noqa: S608  constant
            (self._generation, chosen),
        )
        write(
            "DELETE FROM marks WHERE (mark, key) IN"
            " (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))",
            (pairs,),
        )
        write(f"DELETE FROM entries WHERE {these}", (chosen,))  # noqa: S608  constant

    def commit(self) -> int:
        """End the generation: on the disk when it returns. Its number; the same as before if nothing changed."""
        if self._open:
            self._database.generation = self._generation + 1
            self._database.commit()
            self._open = False
            self._generation += 1
        return self._generation

    def close(self) -> None:
        """Close the file, without what was not committed; a second call does nothing."""
        self._database.close()

    def __len__(self) -> int:
        return int(self._database.row("SELECT count(*) FROM entries")[0])

    def _begin(self) -> None:
        if not self._open:
            self._database.begin()
            self._database.write("DELETE FROM undone")
            self._open = True

    def _insert(self, entries: Sequence[Entry], generation: int) -> None:
        values: list[int | bytes] = []
        pairs: list[int] = []
        for key, first, data, marks in entries:
            packed = array("q", marks).tobytes()
            values += (key, first, packed, _checksum(key, first, packed + data) + data)
            for mark in marks:
                pairs += (mark, key)
        rows = ", ".join([f"(?, {generation:d}, ?, ?, ?)"] * len(entries))
        self._database.write(f"INSERT INTO entries VALUES {rows}", values)  # noqa: S608  numbers and question marks
        for at in range(0, len(pairs), 4 * _ROWS):
            part = pairs[at : at + 4 * _ROWS]
            rows = ", ".join(["(?, ?)"] * (len(part) // 2))
            self._database.write(f"INSERT OR IGNORE INTO marks VALUES {rows}", part)  # noqa: S608  question marks

    def _undo(self, generation: int) -> None:
        write = self._database.write
        write("DELETE FROM marks WHERE key IN (SELECT key FROM entries WHERE generation > ?)", (generation,))
        write("DELETE FROM entries WHERE generation > ?", (generation,))
        for key, written, first, marks, data in self._database.rows("SELECT key, generation, first, marks, data FROM undone"):
            self._insert([self._read(key, first, marks, data)], written)
        write("DELETE FROM undone")
        self._database.generation = generation

    def _entries(self, where: str, *values: str | int) -> list[Entry]:
        statement = f"SELECT key, first, marks, data FROM entries {where}"  # noqa: S608  constants of this file
        return [self._read(*row) for row in self._database.rows(statement, values)]

    def _read(self, key: int, first: int, marks: bytes, data: bytes) -> Entry:
        whole = isinstance(marks, bytes) and isinstance(data, bytes) and len(marks) % 8 == 0
        if not whole or data[:4] != _checksum(key, first, marks + data[4:]):
            raise self._database.damaged(f"record {key} is damaged")
        return Entry(key, first, data[4:], tuple(array("q", marks)))


def _checksum(key: int, first: int, data: bytes) -> bytes:
    return zlib.crc32(data, (key ^ first * 3) & 0xFFFF_FFFF).to_bytes(4, "big")
