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
import os
import sqlite3
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.read_only import reading

_TABLES = """
    BEGIN;
    CREATE TABLE IF NOT EXISTS entries (
        key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, first INTEGER NOT NULL, marks BLOB NOT NULL, data BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS followers ON entries (first, key) WHERE first <> key;
    CREATE TABLE IF NOT EXISTS marks (mark INTEGER, key INTEGER, PRIMARY KEY (mark, key)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS undone (
        key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, first INTEGER NOT NULL, marks BLOB NOT NULL, data BLOB NOT NULL
    );
    COMMIT;
"""  # in one transaction, which waits once for the disk
_FIND = """
    SELECT json_group_array(json_array(asked.value, marks.key))
    FROM json_each(?) AS asked JOIN marks ON marks.mark = asked.value
    WHERE marks.key IN (SELECT key FROM marks WHERE mark = asked.value LIMIT 8)
"""  # a mark that many share says little
_ROWS = 500  # in one statement
_BUSY_SECONDS = 10
_Result = TypeVar("_Result")


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
        self._path = path
        # only the calling thread
        self._generation = 0
        self._open = False  # a generation has begun
        try:
            if read_only:
                self._connection = reading(path)
                return
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                for setting in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -8000"):
                    self._connection.execute(f"PRAGMA {setting}")
                self._connection.executescript(_TABLES)
            except BaseException:
                self._connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(path, error) from error

    def open_at(self, generation: int) -> None:
        """Go on after that generation, undoing a later one. Raises StorageError if the table is of another time."""
        found = self._guarded(lambda: int(self._connection.execute("PRAGMA user_version").fetchall()[0][0]))
        if found == generation + 1:
            self._guarded(lambda: self._undo(generation))
        elif found != generation:
            raise StorageError(
                f"{self._path}: it is of generation {found}, the last checkpoint of {generation}: it was removed or replaced; "
                "put the file back as it was, or start over with --fresh"
            )
        self._generation = generation

    def find(self, marks: Iterable[int]) -> list[tuple[int, int]]:
        """(mark, key) of those who lead and have one of these marks; of each mark eight at most."""
        return [(mark, key) for mark, key in json.loads(self._ask(_FIND, json.dumps(list(marks))))]

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
        return self._guarded(lambda: [int(first) for (first,) in self._connection.execute(asked, (after,)).fetchall()])

    def following(self) -> int:
        """How many follow another."""
        asked = "SELECT count(*) FROM entries WHERE first <> key"
        return self._guarded(lambda: int(self._connection.execute(asked).fetchall()[0][0]))

    def clear(self) -> None:
        """Remove all."""
        self._begin()

        def run() -> None:
            execute = self._connection.execute
            execute("INSERT OR IGNORE INTO undone SELECT * FROM entries WHERE generation <= ?", (self._generation,))
            execute("DELETE FROM marks")
            execute("DELETE FROM entries")

        self._guarded(run)

    def put(self, entries: Sequence[Entry], *, new: bool = False) -> None:
        """Write or replace; ``new``: none of these keys is there."""
        if not entries:
            return
        self._begin()
        if not new:
            self.remove([entry.key for entry in entries])
        for at in range(0, len(entries), _ROWS):
            self._guarded(lambda part=entries[at : at + _ROWS]: self._insert(part))  # type: ignore[misc]

    def remove(self, keys: Sequence[int]) -> None:
        """Remove those that are there."""
        if not keys:
            return
        self._begin()
        chosen = json.dumps(list(keys))
        these = "key IN (SELECT value FROM json_each(?))"
        old = [entry for entry in self.get_many(keys).values() if entry.marks]
        pairs = json.dumps([(mark, entry.key) for entry in old for mark in entry.marks])

        def run() -> None:
            execute = self._connection.execute
            # what this generation itself wrote has no old form
            execute(
                f"INSERT OR IGNORE INTO undone SELECT * FROM entries WHERE generation <= ? AND {these}",  # noqa: S608  constant
                (self._generation, chosen),
            )
            execute(
                "DELETE FROM marks WHERE (mark, key) IN"
                " (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))",
                (pairs,),
            )
            execute(f"DELETE FROM entries WHERE {these}", (chosen,))  # noqa: S608  constant

        self._guarded(run)

    def commit(self) -> int:
        """End the generation: on the disk when it returns. Its number; the same as before if nothing changed."""
        if self._open:

            def run() -> None:
                self._connection.execute(f"PRAGMA user_version = {self._generation + 1:d}")  # part of the transaction
                self._connection.execute("COMMIT")

            self._guarded(run)
            self._open = False
            self._generation += 1
        return self._generation

    def close(self) -> None:
        """Close the file, without what was not committed; a second call does nothing."""
        self._connection.close()

    def __len__(self) -> int:
        return self._guarded(lambda: int(self._connection.execute("SELECT count(*) FROM entries").fetchall()[0][0]))

    def _begin(self) -> None:
        if not self._open:

            def run() -> None:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.execute("DELETE FROM undone")

            self._guarded(run)
            self._open = True

    def _insert(self, entries: Sequence[Entry], generation: int | None = None) -> None:
        number = self._generation + 1 if generation is None else generation
        values: list[int | bytes] = []
        pairs: list[int] = []
        for key, first, data, marks in entries:
            packed = array("q", marks).tobytes()
            values += (key, first, packed, _checksum(key, first, packed + data) + data)
            for mark in marks:
                pairs += (mark, key)
        rows = ", ".join([f"(?, {number:d}, ?, ?, ?)"] * len(entries))
        self._connection.execute(f"INSERT INTO entries VALUES {rows}", values)  # noqa: S608  numbers and question marks
        for at in range(0, len(pairs), 4 * _ROWS):
            part = pairs[at : at + 4 * _ROWS]
            rows = ", ".join(["(?, ?)"] * (len(part) // 2))
            self._connection.execute(f"INSERT OR IGNORE INTO marks VALUES {rows}", part)  # noqa: S608  question marks

    def _undo(self, generation: int) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute("DELETE FROM marks WHERE key IN (SELECT key FROM entries WHERE generation > ?)", (generation,))
        execute("DELETE FROM entries WHERE generation > ?", (generation,))
        for row in execute("SELECT key, generation, first, marks, data FROM undone").fetchall():
            key, written, first, marks, data = row
            self._insert([self._read(key, first, marks, data)], written)
        execute("DELETE FROM undone")
        execute(f"PRAGMA user_version = {generation:d}")
        execute("COMMIT")

    def _entries(self, where: str, *values: str | int) -> list[Entry]:
        statement = f"SELECT key, first, marks, data FROM entries {where}"  # noqa: S608  constants of this file
        rows = self._guarded(lambda: self._connection.execute(statement, values).fetchall())
        return [self._read(*row) for row in rows]

    def _read(self, key: int, first: int, marks: bytes, data: bytes) -> Entry:
        whole = isinstance(marks, bytes) and isinstance(data, bytes) and len(marks) % 8 == 0
        if not whole or data[:4] != _checksum(key, first, marks + data[4:]):
            raise StorageError(f"{self._path}: record {key} is damaged; check the disk, then start over")
        return Entry(key, first, data[4:], tuple(array("q", marks)))

    def _ask(self, statement: str, value: str) -> str:
        return self._guarded(lambda: str(self._connection.execute(statement, (value,)).fetchall()[0][0]))

    def _guarded(self, run: Callable[[], _Result]) -> _Result:
        try:
            return run()
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(self._path, error) from error


def _checksum(key: int, first: int, data: bytes) -> bytes:
    return zlib.crc32(data, (key ^ first * 3) & 0xFFFF_FFFF).to_bytes(4, "big")
