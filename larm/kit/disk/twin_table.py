"""TwinTable: records by number, each with the *marks* by which its like is found, and the number of the one it is like.

A record that is like no earlier one *leads* (``first`` is its own key) and is found by its marks; the others *follow* it. One
SQLite file; what is asked of it is on the disk, so any number of records needs no memory.

A generation is one transaction, open from its first change to `commit`: whoever dies before has changed nothing. `open_at` also
undoes the last generation that was committed, for the case that the checkpoint it belonged to was not written any more: new
records are known by their generation, of those that were changed or removed ``undone`` has the old form.

New records are in ``tail`` in the order in which they came, their marks in memory. When it has grown long, the next generation
makes runs of it (`larm.kit.disk.tiers`), in the order of keys, of marks, and of who follows whom: were each record and each
mark written to a place of its own, a record would cost 95 KB. Most marks that are looked for are
new: once a process has added so many records that it pays to read all marks, a filter in memory says so.

Used by one thread at a time. Many records go through each statement, and each returns one row, because Python gives its lock
away for each row and each execution.
"""

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from larm.errors import StorageError
from larm.kit.disk.bit_filter import BitFilter
from larm.kit.disk.database import Database
from larm.kit.disk.tiers import LIVE, Form, Tiers, catalogue_of

_COLUMNS = (
    "key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, first INTEGER NOT NULL, marks BLOB NOT NULL, data BLOB NOT NULL"
)
_NAMES = ("key", "generation", "first", "marks", "data")
_ENTRIES = Form("entries", f"({_COLUMNS})", _NAMES, 1, "entries_runs", "tail")
_PAIR = "({0} INTEGER, key INTEGER, PRIMARY KEY ({0}, key)) WITHOUT ROWID"
_MARKS = Form("marks", _PAIR.format("mark"), ("mark", "key"), 2, "marks_runs", "new_marks")
_FOLLOWERS = Form("followers", _PAIR.format("first"), ("first", "key"), 2, "followers_runs", "tail")
_TABLES = f"""
    {"".join(map(catalogue_of, (_ENTRIES, _MARKS, _FOLLOWERS)))}
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, {_COLUMNS.replace("PRIMARY KEY", "NOT NULL")});
    CREATE UNIQUE INDEX IF NOT EXISTS tail_keys ON tail (key);
    CREATE INDEX IF NOT EXISTS tail_followers ON tail (first, key) WHERE first <> key;
    CREATE TABLE IF NOT EXISTS undone ({_COLUMNS});
"""
_IN_MEMORY = (
    "PRAGMA temp_store = MEMORY",
    f"CREATE TEMP TABLE new_marks {_PAIR.format('mark')}",
)
_FIND = """
    SELECT asked.value AS mark, found.key AS key FROM json_each(:marks) AS asked JOIN {0} AS found ON found.mark = asked.value
    WHERE found.key IN (SELECT key FROM {0} WHERE mark = asked.value LIMIT 8)
"""
_SHARED = 8
"""Of a mark that more share no more are told, as it says little."""
_ROWS = 500  # in one statement
TAIL = 8_192
"""Records of which runs are made: 4 MB of records, 1.5 MB of marks in memory."""
_PAIRS = "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:pairs))"
_KEYS = "key IN (SELECT value FROM json_each(:keys))"


_GET = f"SELECT key, first, marks, data FROM {{0}} WHERE {_KEYS}"  # noqa: S608  a constant


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

    def __init__(self, path: Path, *, read_only: bool = False, tail: int = TAIL) -> None:
        """Open the table, or make it; ``read_only``: look at what was committed last, without `find`; ``tail``: of so many
        records runs are made.
        """
        # constant after construction
        self._database = Database(path, _TABLES, read_only=read_only)
        self._most = tail
        self._entries, self._marks, self._followers = (
            Tiers(self._database, form, least) for form, least in ((_ENTRIES, tail), (_MARKS, 8 * tail), (_FOLLOWERS, tail))
        )
        # only the calling thread
        self._generation = 0
        self._open = False  # a generation has begun
        self._new = 0  # records of it
        self._added = 0  # by this process
        self._filter: BitFilter | None = None
        try:
            self._load(read_only=read_only)
        except BaseException:
            self.close()
            raise

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
        marks = list(marks) if self._filter is None else self._filter.known(list(marks))
        if not marks:
            return []
        select = " UNION ALL ".join(_FIND.format(table) for table in self._marks.live)
        select = f"SELECT json_group_array(json_array(mark, key)) FROM ({select})"  # noqa: S608  names of tables
        found: dict[int, list[int]] = {}
        for mark, key in json.loads(self._database.row(select, {"marks": json.dumps(marks)})[0]):
            found.setdefault(mark, []).append(key)
        return [(mark, key) for mark, keys in found.items() for key in sorted(keys)[:_SHARED]]

    def get_many(self, keys: Iterable[int]) -> dict[int, Entry]:
        """Those of the keys that are there."""
        rows = self._all(self._entries, _GET, keys=json.dumps(list(keys)))
        return {entry.key: entry for entry in (self._read(*row) for row in rows)}

    def followers(self, first: int, after: int = -1, limit: int = 200) -> list[Entry]:
        """Who follows ``first``, by key; the next ones after the key ``after``."""
        where = "SELECT key FROM {0} WHERE first = :first AND first <> key AND key > :after"
        keys = [key for (key,) in self._all(self._followers, f"{where} ORDER BY key LIMIT {limit:d}", first=first, after=after)]
        return sorted(self.get_many(sorted(keys)[:limit]).values())

    def followed(self, keys: Iterable[int]) -> set[int]:
        """Those of the keys that others follow."""
        select = "SELECT DISTINCT first FROM {0} WHERE first <> key AND first IN (SELECT value FROM json_each(:keys))"
        return {int(first) for (first,) in self._all(self._followers, select, keys=json.dumps(list(keys)))}

    def leads(self, after: int = -1, limit: int = 200) -> list[int]:
        """The keys of those that others follow, in order; the next ones after the key ``after``."""
        select = "SELECT DISTINCT first FROM {0} WHERE first <> key AND first > :after ORDER BY first LIMIT {1}"
        return sorted({int(first) for (first,) in self._all(self._followers, select.format("{0}", limit), after=after)})[:limit]

    def following(self) -> int:
        """How many follow another."""
        return sum([int(count) for (count,) in self._all(self._followers, "SELECT count(*) FROM {0} WHERE first <> key")])

    def clear(self) -> None:
        """Remove all."""
        self._begin()
        self._remember("TRUE")
        for table in {*self._entries.tables, *self._marks.tables, *self._followers.tables}:
            self._database.write(f"DELETE FROM {table}")  # noqa: S608  a name

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
        if keys and (old := self.get_many(keys)):
            self._begin()
            self._remember(_KEYS, keys=json.dumps(list(old)))
            self._delete(old.values())

    def commit(self) -> int:
        """End the generation: on the disk when it returns. Its number; the same as before if nothing changed."""
        if self._open:
            for tiers, rows in ((self._entries, 1), (self._marks, 8), (self._followers, 1)):
                tiers.step(rows * self._new)
            self._database.generation = self._generation + 1
            self._database.commit()
            self._open = False
            self._generation += 1
        return self._generation

    def compact(self) -> None:
        """Write the file anew, without what was deleted; its last generation can't be undone then."""
        self._database.write("DELETE FROM undone")
        self._database.compact()

    def close(self) -> None:
        """Close the file, without what was not committed; a second call does nothing."""
        self._database.close()

    def __len__(self) -> int:
        return sum([int(count) for (count,) in self._all(self._entries, "SELECT count(*) FROM {0}")])

    # -- written

    def _load(self, *, read_only: bool) -> None:
        if read_only:
            self._database.write("BEGIN")  # or who writes meanwhile would drop what is asked
        for tiers in (self._entries, self._marks, self._followers):
            tiers.load()
        if read_only:
            return
        for statement in _IN_MEMORY:
            self._database.write(statement)
        for key, marks in self._database.rows("SELECT key, marks FROM tail"):
            if not isinstance(marks, bytes) or len(marks) % 8:
                raise self._damaged(key)
            self._insert_marks([(mark, key) for mark in array("q", marks)])

    def _begin(self) -> None:
        """Of what earlier generations left, make runs: so the rows of the last one are in the tail."""
        if self._open:
            return
        self._database.begin()
        self._open, self._new = True, 0
        write = self._database.write
        write("DELETE FROM undone")
        for tiers in (self._entries, self._marks, self._followers):
            tiers.drop_dead()
        if self._database.row("SELECT count(*) FROM tail")[0] >= self._most:
            self._entries.add("SELECT key, generation, first, marks, data FROM tail ORDER BY key")
            self._followers.add("SELECT first, key FROM tail WHERE first <> key ORDER BY first, key")
            self._marks.add("SELECT mark, key FROM new_marks ORDER BY mark, key")
            write("DELETE FROM tail")
            write("DELETE FROM new_marks")
            if self._filter is None and self._added >= self._most // 2:
                self._fill_filter()

    def _fill_filter(self) -> None:
        self._filter = BitFilter()
        for run in self._marks.of(LIVE):
            last = -1
            while rows := self._database.rows(f"SELECT mark FROM {run.table} WHERE mark > ? ORDER BY mark LIMIT 5000", (last,)):  # noqa: S608
                last = rows[-1][0]
                self._filter.add([mark for (mark,) in rows])

    def _remember(self, where: str, **values: str) -> None:
        """What is there of earlier generations: what this one itself wrote has no old form."""
        for table in self._entries.live:
            self._database.write(
                f"INSERT OR IGNORE INTO undone SELECT key, generation, first, marks, data FROM {table}"  # noqa: S608  constants
                f" WHERE generation <= {self._generation:d} AND {where}",
                values,
            )

    def _delete(self, entries: Iterable[Entry]) -> None:
        entries, write = list(entries), self._database.write
        chosen = json.dumps([entry.key for entry in entries])
        for table in self._entries.tables:
            write(f"DELETE FROM {table} WHERE {_KEYS}", {"keys": chosen})  # noqa: S608  a name and a constant
        for tables, columns, pairs in (
            (self._marks.tables, "(mark, key)", [(mark, each.key) for each in entries for mark in each.marks]),
            (self._followers.tables, "(first, key)", [(each.first, each.key) for each in entries if each.first != each.key]),
        ):
            for table in tables if pairs else ():
                write(f"DELETE FROM {table} WHERE {columns} {_PAIRS}", {"pairs": json.dumps(pairs)})  # noqa: S608  constants

    def _insert(self, entries: Sequence[Entry], generation: int) -> None:
        values: list[int | bytes] = []
        for key, first, data, marks in entries:
            packed = array("q", marks).tobytes()
            values += (key, first, packed, _checksum(key, first, packed + data) + data)
        rows = ", ".join([f"(?, {generation:d}, ?, ?, ?)"] * len(entries))
        self._database.write(f"INSERT INTO tail (key, generation, first, marks, data) VALUES {rows}", values)  # noqa: S608
        self._insert_marks([(mark, entry.key) for entry in entries for mark in entry.marks])
        self._new += len(entries)
        self._added += len(entries)

    def _insert_marks(self, pairs: Sequence[tuple[int, int]]) -> None:
        if self._filter is not None:
            self._filter.add([mark for mark, _ in pairs])
        for at in range(0, len(pairs), 4 * _ROWS):
            part = [number for pair in pairs[at : at + 4 * _ROWS] for number in pair]
            rows = ", ".join(["(?, ?)"] * (len(part) // 2))
            self._database.write(f"INSERT OR IGNORE INTO new_marks VALUES {rows}", part)  # noqa: S608  question marks

    def _undo(self, generation: int) -> None:
        later = f"SELECT key, first, marks, data FROM {{0}} WHERE generation > {generation:d}"  # noqa: S608  a number
        self._delete([self._read(*row) for row in self._all(self._entries, later)])
        for key, written, first, marks, data in self._database.rows("SELECT key, generation, first, marks, data FROM undone"):
            self._insert([self._read(key, first, marks, data)], written)
        self._database.write("DELETE FROM undone")
        self._database.generation = generation

    # -- read

    def _all(self, tiers: Tiers, select: str, **values: str | int) -> list[tuple[Any, ...]]:
        """What ``select`` answers of each table that is to be looked into."""
        parts = [f"SELECT * FROM ({select.format(table)})" for table in tiers.live]  # noqa: S608  names of tables
        return self._database.rows(" UNION ALL ".join(parts), values) if parts else []

    def _read(self, key: int, first: int, marks: bytes, data: bytes) -> Entry:
        whole = isinstance(marks, bytes) and isinstance(data, bytes) and len(marks) % 8 == 0
        if not whole or data[:4] != _checksum(key, first, marks + data[4:]):
            raise self._damaged(key)
        return Entry(key, first, data[4:], tuple(array("q", marks)))

    def _damaged(self, key: object) -> StorageError:
        return self._database.damaged(f"record {key} is damaged")


def _checksum(key: int, first: int, data: bytes) -> bytes:
    return zlib.crc32(data, (key ^ first * 3) & 0xFFFF_FFFF).to_bytes(4, "big")
