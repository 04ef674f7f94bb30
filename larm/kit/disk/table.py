"""Table: rows of bytes by number, in one SQLite file. A row is also found by its fingerprints, and listed under its parent.

New rows are in ``tail`` in the order of their arrival, and their fingerprints in memory. Once the tail is long, the next
generation makes sorted runs of it (`larm.kit.disk.sorted_runs`): by key, by fingerprint, by parent. Without them, SQLite would
write up to 95 KB for a row. Each row has the CRC-32 of all of it.

A generation is one transaction, open from its first change to `commit`; a killed process has changed nothing. `open_at` also
undoes the last generation, for a process that was killed before the checkpoint of it was written: later rows are removed, and
``undone`` has the old form of those that were changed or removed.

Used by one thread at a time, and written by one process; others may read. Many rows go through each statement, because Python
releases its lock for each statement and each row.
"""

import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from larm.errors import REPAIR, StorageError
from larm.kit.disk.bit_filter import BitFilter
from larm.kit.disk.database import Database, readable_generation, readable_rows, replace_database
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.sorted_runs import LIVE, Order, SortedRuns, add_to_digest, catalogue_of

_NAMES = ("key", "generation", "parent", "fingerprints", "data")
_CHOSEN = ", ".join(_NAMES)
_VALUES = "generation INTEGER NOT NULL, parent INTEGER NOT NULL, fingerprints BLOB NOT NULL, data BLOB NOT NULL"
_COLUMNS = f"key INTEGER PRIMARY KEY, {_VALUES}"
_PAIR = "({0} INTEGER, key INTEGER, PRIMARY KEY ({0}, key)) WITHOUT ROWID"
_BY_KEY = Order("rows", f"({_COLUMNS})", _NAMES, 1, "rows_runs", "tail")
_BY_FINGERPRINT = Order("prints", _PAIR.format("fingerprint"), ("fingerprint", "key"), 2, "prints_runs", "new_prints")
_BY_PARENT = Order("children", _PAIR.format("parent"), ("parent", "key"), 2, "children_runs", "tail")
_TABLES = f"""
    {"".join(map(catalogue_of, (_BY_KEY, _BY_FINGERPRINT, _BY_PARENT)))}
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, key INTEGER NOT NULL, {_VALUES});
    CREATE UNIQUE INDEX IF NOT EXISTS tail_keys ON tail (key);
    CREATE INDEX IF NOT EXISTS tail_children ON tail (parent, key) WHERE parent <> key;
    CREATE TABLE IF NOT EXISTS undone ({_COLUMNS});
"""
_IN_MEMORY = (
    "PRAGMA temp_store = MEMORY",
    f"CREATE TEMP TABLE new_prints {_PAIR.format('fingerprint')}",
)
_FIND = """
    SELECT asked.value AS fingerprint, found.key AS key
    FROM json_each(:fingerprints) AS asked JOIN {0} AS found ON found.fingerprint = asked.value
    WHERE found.key IN (SELECT key FROM {0} WHERE fingerprint = asked.value LIMIT 8)
"""
_SEEDS = 2**32 - 5
"""A prime: all bits of the numbers of a row change its checksum."""
_SHARED = 8
"""Matches that are returned for one fingerprint: one that more rows share says little."""
_AT_ONCE = 500
"""Rows in one statement."""
TAIL = 8_192
"""Rows of which runs are made: at most 4 MB of rows, 1.5 MB of fingerprints in memory."""
_PAIRS = "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:pairs))"
_KEYS = "key IN (SELECT value FROM json_each(:keys))"


class TableRow(NamedTuple):
    """One row."""

    key: int
    """63 bits, as parents and fingerprints."""
    parent: int
    """The number under which it is listed, often the key of another row; its own key: under none."""
    data: bytes
    fingerprints: tuple[int, ...] = ()
    generation: int = 0
    """The one that wrote it; set by the table."""


Restore = Callable[[TableRow, TableRow], TableRow]


class Table:
    """Rows by key, fingerprint and parent. Every method may raise StorageError."""

    def __init__(self, path: Path, *, read_only: bool = False, tail: int | None = None) -> None:
        """Open the table, or make it; ``read_only``: read what was committed last, without `find`.

        ``tail``: number of rows of which runs are made; None: `TAIL`.
        """
        # constant after construction
        self._path = path
        self._database = Database(path, _TABLES, read_only=read_only)
        self._most = tail = tail or TAIL
        self._rows, self._prints, self._children = self._orders = tuple(
            SortedRuns(self._database, order, least)
            for order, least in ((_BY_KEY, tail), (_BY_FINGERPRINT, 8 * tail), (_BY_PARENT, tail))
        )
        # only the calling thread
        self._alone = False
        """No other process writes, so the runs need not be read again."""
        self._last = 0  # generation that was committed
        self._next = 0  # generation that is open; 0: none
        self._new = 0  # rows of it
        self._added = 0  # rows with fingerprints by this process
        self._filter: BitFilter | None = None
        try:
            if not read_only:  # else each look reads the runs, as another process may write
                self._load()
                self._load_fingerprints()
        except BaseException:
            self.close()
            raise

    @classmethod
    def of_checkpoint(cls, path: Path, generation: int | None, restore: Restore = lambda old, _: old) -> Self:
        """Open the table and call `open_at`; None: of a new crawl, which removes an old table."""
        if generation is None:
            with disk_failures(path):
                for ending in ("", "-wal", "-shm"):
                    path.with_name(path.name + ending).unlink(missing_ok=True)
        table = cls(path)
        try:
            table.open_at(generation or 0, restore)
        except BaseException:
            table.close()
            raise
        return table

    def open_at(self, generation: int, restore: Restore = lambda old, _: old) -> None:
        """Continue after that generation, and undo a later one. From now on only this process writes.

        ``restore`` makes the row to write of an old row and its later form. Raises StorageError if the table belongs to
        another checkpoint.
        """
        found = self.generation
        if found == generation + 1:
            with self._database.transaction():
                self._undo(generation, restore)
        elif found != generation:
            raise StorageError(
                f"{self._path}: it is of generation {found}, the last checkpoint of {generation}: it was removed or "
                f"replaced; put the file back as it was, or {REPAIR}"
            )
        self._alone = True

    @contextmanager
    def moment(self) -> Iterator[None]:
        """All that is read within it is of one moment, whatever another process writes."""
        if self._alone or self._database.in_transaction:
            yield
            return
        with self._database.moment():
            self._load()
            yield

    @property
    def generation(self) -> int:
        """The last one that was committed, 0 before the first."""
        return self._database.generation

    def get(self, key: int) -> TableRow | None:
        """Return one row."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[int]) -> dict[int, TableRow]:
        """Return the rows that exist."""
        asked = json.dumps(list(keys))
        return {} if asked == "[]" else {row.key: row for row in self._select(_KEYS, keys=asked)}

    def after(self, key: int, limit: int) -> list[TableRow]:
        """Return the next ``limit`` rows by key; begin with -1."""
        return self._select("key > :key", f"ORDER BY key LIMIT {limit:d}", key=key)

    def find(self, fingerprints: Iterable[int]) -> list[tuple[int, int]]:
        """Return (fingerprint, key) of the rows with one of these; at most 8 rows per fingerprint."""
        asked = list(fingerprints) if self._filter is None else self._filter.known(list(fingerprints))
        if not asked:
            return []
        select = " UNION ALL ".join(_FIND.format(table) for table in self._prints.live)
        select = f"SELECT json_group_array(json_array(fingerprint, key)) FROM ({select})"  # noqa: S608  names of tables
        found: dict[int, list[int]] = {}
        for each, key in json.loads(self._database.row(select, {"fingerprints": json.dumps(asked)})[0]):
            found.setdefault(each, []).append(key)
        return [(each, key) for each, keys in found.items() for key in sorted(keys)[:_SHARED]]

    def children(self, parent: int, after: int = -1, limit: int = 200) -> list[TableRow]:
        """Return the next rows under ``parent`` by key, behind the key ``after``."""
        where = f"SELECT key FROM {{0}} WHERE parent = :parent AND parent <> key AND key > :after ORDER BY key LIMIT {limit:d}"  # noqa: S608
        with self.moment():
            keys = {key for (key,) in self._all(self._children, where, parent=parent, after=after)}
            return sorted(self.get_many(sorted(keys)[:limit]).values())

    def with_children(self, keys: Iterable[int]) -> set[int]:
        """Return those of the keys that others have as their parent."""
        select = "SELECT DISTINCT parent FROM {0} WHERE parent <> key AND parent IN (SELECT value FROM json_each(:keys))"
        return {int(parent) for (parent,) in self._all(self._children, select, keys=json.dumps(list(keys)))}

    def parents(self, after: int = -1, limit: int = 200) -> list[int]:
        """Return the next parents in order, behind ``after``."""
        select = f"SELECT DISTINCT parent FROM {{0}} WHERE parent <> key AND parent > :after ORDER BY parent LIMIT {limit:d}"  # noqa: S608
        return sorted({int(parent) for (parent,) in self._all(self._children, select, after=after)})[:limit]

    def count_children(self) -> int:
        """Return the number of rows with a parent."""
        return sum([int(count) for (count,) in self._all(self._children, "SELECT count(*) FROM {0} WHERE parent <> key")])

    def __len__(self) -> int:
        return sum([int(count) for (count,) in self._all(self._rows, "SELECT count(*) FROM {0}")])

    # -- written

    def write(self, generation: int, rows: Iterable[TableRow], gone: Sequence[int] = ()) -> None:
        """Put ``rows`` and remove the keys ``gone`` in one generation, all of it or nothing; on the disk when it returns.

        ``generation``: a later one, or the last one once more: that can't be undone then.
        """
        try:
            self._begin(generation)
            self.put(list({row.key: row for row in rows}.values()))
            self.remove(gone)
            self.commit()
        except BaseException:
            self._next = 0
            self._database.rollback()
            self._load()
            raise

    def put(self, rows: Sequence[TableRow], *, new: bool = False) -> None:
        """Write or replace; ``new``: none of these keys is in the table."""
        if not rows:
            return
        self._begin()
        if not new:
            self.remove([row.key for row in rows])
        self._add(rows, self._next)

    def remove(self, keys: Sequence[int]) -> None:
        """Remove the rows that exist."""
        if keys and (old := self.get_many(keys)):
            self._begin()
            if self._next > self._last:  # else the last generation is written once more, and can't be undone
                self._insert("undone", [row for row in old.values() if row.generation <= self._last])
            self._delete(old.values())

    def clear(self) -> None:
        """Remove all rows, by one statement for each table."""
        self._begin()
        for table in self._rows.live if self._next > self._last else ():
            select = f"SELECT {_CHOSEN} FROM {table} WHERE generation <= ?"  # noqa: S608  constants
            self._database.write(f"INSERT INTO undone {select}", (self._last,))
        for table in {table for order in self._orders for table in order.tables}:
            self._database.write(f"DELETE FROM {table}")  # noqa: S608  a name

    def commit(self) -> int:
        """End the generation: on the disk when it returns. Return its number; the last one if nothing changed."""
        if self._next:
            for order, rows in zip(self._orders, (1, 8, 1), strict=True):
                order.step(rows * self._new)
            self._database.generation = self._next
            self._database.commit()
            self._last, self._next = self._next, 0
        return self.generation

    def check(self, generation: int) -> None:
        """Read all rows, and compare their other orders with them. Raises StorageError.

        ``generation``: of the checkpoint; one more may be undone.
        """
        found = self.generation
        if found not in (generation, generation + 1):
            raise self._database.damaged(f"it is of generation {found}, the last checkpoint of {generation}")
        with self.moment():
            children, prints, live = [0, 0], [0, 0], {run.table for run in self._rows.of(LIVE)}
            for table in (*self._rows.tables, "undone"):
                for row in self._all_rows(table):
                    if table in live:
                        if row.parent != row.key:
                            add_to_digest(children, (row.parent,), row.key)
                        add_to_digest(prints, set(row.fingerprints), row.key)
            if self._children.digest() != children or self._prints.digest() != prints:
                raise self._database.damaged("the orders of its rows are damaged")
            for order in (self._children, self._prints):
                order.check_merges()

    def _all_rows(self, table: str) -> Iterator[TableRow]:
        select, last = f"SELECT {_CHOSEN} FROM {table} WHERE key > ? ORDER BY key LIMIT 5000", -1  # noqa: S608  constants
        while rows := self._database.rows(select, (last,)):
            yield from (self._read(*row) for row in rows)
            last = rows[-1][0]

    def compact(self) -> None:
        """Write the file again without deleted rows; its last generation can't be undone then."""
        self._database.write("DELETE FROM undone")
        self._database.compact()

    def close(self) -> None:
        """Close the file, without what was not committed; a second call does nothing."""
        self._database.close()

    def _load(self) -> None:
        for order in self._orders:
            order.load()

    def _load_fingerprints(self) -> None:
        for statement in _IN_MEMORY:
            self._database.write(statement)
        for key, packed in self._database.rows("SELECT key, fingerprints FROM tail WHERE length(fingerprints)"):
            if not isinstance(packed, bytes) or len(packed) % 8:
                raise self._damaged(key)
            self._insert_fingerprints([(each, key) for each in array("q", packed)])

    def _begin(self, generation: int = 0) -> None:
        """Begin the generation (0: the next one), unless it is open. Make runs of a tail that earlier ones left long."""
        if self._next:
            return
        self._database.begin()
        self._load()
        self._last = self.generation
        self._next, self._new = generation or self._last + 1, 0
        write = self._database.write
        write("DELETE FROM undone")
        for order in self._orders:
            order.drop_obsolete()
        if self._database.row("SELECT count(*) FROM tail")[0] >= self._most:
            self._rows.add(f"SELECT {_CHOSEN} FROM tail ORDER BY key")  # noqa: S608  a constant
            self._children.add("SELECT parent, key FROM tail WHERE parent <> key ORDER BY parent, key")
            self._prints.add("SELECT fingerprint, key FROM new_prints ORDER BY fingerprint, key")
            write("DELETE FROM tail")
            write("DELETE FROM new_prints")
            if self._filter is None and self._added >= self._most // 2:
                self._fill_filter()

    def _fill_filter(self) -> None:
        self._filter = BitFilter()
        for run in self._prints.of(LIVE):
            last = -1
            select = f"SELECT fingerprint FROM {run.table} WHERE fingerprint > ? ORDER BY fingerprint LIMIT 5000"  # noqa: S608
            while rows := self._database.rows(select, (last,)):
                last = rows[-1][0]
                self._filter.add([each for (each,) in rows])

    def _delete(self, rows: Iterable[TableRow]) -> None:
        rows, write = list(rows), self._database.write
        chosen = json.dumps([row.key for row in rows])
        for table in self._rows.tables:
            write(f"DELETE FROM {table} WHERE {_KEYS}", {"keys": chosen})  # noqa: S608  a name and a constant
        for tables, columns, pairs in (
            (self._prints.tables, "(fingerprint, key)", [(each, row.key) for row in rows for each in row.fingerprints]),
            (self._children.tables, "(parent, key)", [(row.parent, row.key) for row in rows if row.parent != row.key]),
        ):
            for table in tables if pairs else ():
                write(f"DELETE FROM {table} WHERE {columns} {_PAIRS}", {"pairs": json.dumps(pairs)})  # noqa: S608  constants

    def _add(self, rows: Sequence[TableRow], generation: int = 0) -> None:
        """Insert new rows; ``generation``: the one to write, 0: that of each row."""
        self._insert("tail", rows, generation)
        self._insert_fingerprints([(each, row.key) for row in rows for each in row.fingerprints])
        self._new += len(rows)
        self._added += sum([bool(row.fingerprints) for row in rows])

    def _insert(self, table: str, rows: Sequence[TableRow], generation: int = 0) -> None:
        for at in range(0, len(rows), _AT_ONCE):
            some = rows[at : at + _AT_ONCE]
            values: list[int | bytes] = []
            for key, parent, data, fingerprints, written in some:
                packed = array("q", fingerprints).tobytes() if fingerprints else b""
                written = generation or written  # noqa: PLW2901
                values += (key, written, parent, packed, checksum(key, parent, packed + data, written) + data)
            places = ", ".join(["(?, ?, ?, ?, ?)"] * len(some))
            self._database.write(f"INSERT INTO {table} ({_CHOSEN}) VALUES {places}", values)  # noqa: S608  constants

    def _insert_fingerprints(self, pairs: Sequence[tuple[int, int]]) -> None:
        if self._filter is not None:
            self._filter.add([each for each, _ in pairs])
        for at in range(0, len(pairs), 4 * _AT_ONCE):
            part = [number for pair in pairs[at : at + 4 * _AT_ONCE] for number in pair]
            places = ", ".join(["(?, ?)"] * (len(part) // 2))
            self._database.write(f"INSERT OR IGNORE INTO new_prints VALUES {places}", part)  # noqa: S608  question marks

    def _take_in(self, rows: Iterable[tuple[Any, ...]], generation: int) -> None:
        """Add the whole rows up to ``generation`` that are missing."""
        whole: dict[int, TableRow] = {}
        for _, *row in rows:
            with suppress(StorageError, TypeError, ValueError, OverflowError):
                each = self._read(*row)
                if each.generation <= generation:
                    whole[each.key] = each
        there = self.get_many(whole)
        self._add([row for key, row in whole.items() if key not in there])

    def _undo(self, generation: int, restore: Restore) -> None:
        later = {row.key: row for row in self._select("generation > :last", last=generation)}
        self._delete(later.values())
        old = [self._read(*row) for row in self._database.rows(f"SELECT {_CHOSEN} FROM undone")]  # noqa: S608  a constant
        self._add([restore(row, later[row.key]) if row.key in later else row for row in old])
        self._database.write("DELETE FROM undone")
        self._database.generation = generation

    # -- read

    def _all(self, order: SortedRuns, select: str, then: str = "", **values: str | int) -> list[tuple[Any, ...]]:
        """Return the answers of all tables of an order to ``select``; ``then`` orders and limits all of them."""
        with self.moment():
            parts = [f"SELECT * FROM ({select.format(table)})" for table in order.live]  # noqa: S608  names of tables
            return self._database.rows(f"{' UNION ALL '.join(parts)} {then}", values) if parts else []

    def _select(self, where: str, then: str = "", **values: str | int) -> list[TableRow]:
        select = f"SELECT {_CHOSEN} FROM {{0}} WHERE {where}"  # noqa: S608  constants
        return [self._read(*row) for row in self._all(self._rows, select, then, **values)]

    def _read(self, key: int, generation: int, parent: int, packed: bytes, data: bytes) -> TableRow:
        whole = isinstance(packed, bytes) and isinstance(data, bytes) and len(packed) % 8 == 0
        if not whole or data[:4] != checksum(key, parent, packed + data[4:], generation):
            raise self._damaged(key)
        return TableRow(key, parent, data[4:], tuple(array("q", packed)) if packed else (), generation)

    def _damaged(self, key: object) -> StorageError:
        return self._database.damaged(f"record {key} is damaged")


def salvage_table(path: Path, generation: int) -> int:
    """Rebuild a closed table from its whole rows as of ``generation``. Return their number. Raises StorageError.

    Can be killed and repeated.
    """
    new = path.with_name(f".{path.name}.new")
    with closing(Table.of_checkpoint(new, None)) as table:
        table._begin(generation)
        tables = r"tail|rows\d+" if readable_generation(path) <= generation else r"tail|rows\d+|undone"
        rows = readable_rows(path, tables, f"rowid, {_CHOSEN}", "rowid")
        while some := list(islice(rows, _AT_ONCE)):
            table._take_in(some, generation)
        table.commit()
        count = len(table)
    replace_database(path, new)
    return count


def checksum(key: int, second: int, data: bytes, third: int = 0) -> bytes:
    """Return the CRC-32 of a row and its numbers, 4 bytes."""
    return zlib.crc32(data, (key ^ second * 3 ^ third * 5) % _SEEDS).to_bytes(4, "big")
