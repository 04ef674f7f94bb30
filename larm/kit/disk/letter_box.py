"""letter_box: rows of bytes by *box*, a 63-bit number, in the order of arrival; a whole box is consumed at a time.

The rows are in sorted runs (`larm.kit.disk.sorted_runs`) in the database of their owner, and all changes are part of its
transactions. A box is consumed by one note of its last row, so no row is searched and deleted. Merges leave out consumed rows;
once they outnumber the others, all runs are merged into one.

All functions may raise StorageError. `read` may be called while another connection writes.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.kit.disk.database import Database, readable_rows
from larm.kit.disk.sorted_runs import Order, SortedRuns, catalogue_of
from larm.kit.disk.table import checksum

_COLUMNS = "(box INTEGER, number INTEGER, data BLOB NOT NULL, PRIMARY KEY (box, number)) WITHOUT ROWID"
_KEPT = "number > coalesce((SELECT last FROM letters_done WHERE letters_done.box = {table}.box), 0)"
"""SQL condition: the row is not consumed."""
_ORDER = Order("letters", _COLUMNS, ("box", "number", "data"), 2, "letters_runs", "letters_tail", top=2, kept=_KEPT)
_TABLES = (
    catalogue_of(_ORDER),
    f"CREATE TABLE IF NOT EXISTS {_ORDER.tail} {_COLUMNS}",
    "CREATE TABLE IF NOT EXISTS letters_size (there INTEGER NOT NULL, last INTEGER NOT NULL, spent INTEGER NOT NULL)",
    "INSERT INTO letters_size SELECT 0, 0, 0 WHERE NOT EXISTS (SELECT * FROM letters_size)",
    "CREATE TABLE IF NOT EXISTS letters_done (box INTEGER PRIMARY KEY, last INTEGER NOT NULL)",
)
RUN = 16_384
"""Rows of which a run is made, about: fewer than come between two checkpoints of a crawl of many hosts."""


class Letter(NamedTuple):
    """One row."""

    box: int
    """63 bits."""
    number: int
    """Of all; a later one has a higher one."""
    data: bytes


class Done(NamedTuple):
    """A box of which all was taken."""

    box: int
    last: int
    """The highest number that it had."""
    rows: int
    """That were taken."""


class Size(NamedTuple):
    """What there is."""

    there: int
    last: int
    """No row ever had a higher number."""


def size_of(database: Database) -> Size:
    """Costs nothing that grows."""
    if not database.rows("SELECT 1 FROM sqlite_master WHERE name = 'letters_size'"):
        return Size(0, 0)
    return Size(*database.row("SELECT there, last FROM letters_size"))


def read(database: Database, boxes: Iterable[int]) -> list[Letter]:
    """All that lies in them, in any order. Which runs there are and what is in them is of one moment."""
    asked = json.dumps(list(boxes))
    with database.moment():
        runs = _sorted(database, RUN)
        done = "(SELECT last FROM letters_done WHERE box = value)" if runs.noted else "0"
        select = " UNION ALL ".join(
            f"SELECT box, number, data FROM asked CROSS JOIN {table} ON box = value AND number > last"  # noqa: S608  names
            for table in runs.live
        )
        first = f"WITH asked AS MATERIALIZED (SELECT value, coalesce({done}, 0) AS last FROM json_each(?)) "  # noqa: S608
        rows = database.rows(first + select, (asked,)) if runs.live else []
    return [_whole(database, *row) for row in rows]


def write(database: Database, new: Sequence[Letter], done: Sequence[Done], *, run: int = RUN) -> None:
    """Add and take, and get on with merges; in a transaction. ``done``: what was there or is ``new``, up to a number.

    ``run``: of so many rows a run is made.
    """
    if not (new or done):
        return
    for statement in _TABLES:
        database.write(statement)
    runs = _sorted(database, run)
    runs.drop_obsolete()
    tail = _ORDER.tail
    database.write_many(
        f"INSERT INTO {tail} VALUES (?, ?, ?)",  # noqa: S608  a constant
        ((box, number, checksum(box, number, data) + data) for box, number, data in sorted(new)),
    )
    database.write_many("INSERT OR REPLACE INTO letters_done VALUES (?, ?)", sorted((each.box, each.last) for each in done))
    taken = sum(each.rows for each in done)
    last = max((each.number for each in new), default=0)
    size = "UPDATE letters_size SET there = there + ?, last = max(last, ?), spent = spent + ?"
    database.write(size, (len(new) - taken, last, taken))
    if database.row(f"SELECT count(*) FROM {tail}")[0] >= run:  # noqa: S608  a constant
        kept = _KEPT.format(table=tail)
        runs.add(f"SELECT box, number, data FROM {tail} WHERE {kept} ORDER BY box, number")  # noqa: S608  constants
        database.write(f"DELETE FROM {tail}")  # noqa: S608  a constant
    there, spent = database.row("SELECT there, spent FROM letters_size")
    if not there:
        _clear(database, runs)
    elif spent > max(there, run):
        runs.merge_all()
        database.write("UPDATE letters_size SET spent = 0")
    runs.step(len(new) + taken)


def _clear(database: Database, runs: SortedRuns) -> None:
    """All was taken."""
    runs.make_all_obsolete()
    for table in (_ORDER.tail, "letters_done"):
        database.write(f"DELETE FROM {table}")  # noqa: S608  constants
    database.write("UPDATE letters_size SET spent = 0")


def check(database: Database) -> None:
    """Whether as many rows are there as there have to be: reads all of them."""
    with database.moment():
        there = size_of(database).there
        runs = _sorted(database, RUN)
        counts = [f"SELECT count(*) FROM {table} WHERE {_KEPT.format(table=table)}" for table in runs.live]  # noqa: S608
        if there != sum(database.row(count)[0] for count in counts):
            raise database.damaged()


def check_rows(database: Database) -> None:
    """Read all rows, and compare their numbers with the last one that is noted. Raises StorageError."""
    check(database)
    with database.moment():
        noted, runs = size_of(database).last, _sorted(database, RUN)
        done = database.row("SELECT coalesce(max(last), 0) FROM letters_done")[0] if runs.noted else 0
        for table in runs.tables:
            box, number = -1, 0
            select = f"SELECT box, number, data FROM {table} WHERE (box, number) > (?, ?) ORDER BY 1, 2 LIMIT 5000"  # noqa: S608
            while rows := [_whole(database, *row) for row in database.rows(select, (box, number))]:
                done = max(done, *[row.number for row in rows])
                box, number, _ = rows[-1]
        if done > noted:
            raise database.damaged()


def readable_letters(path: Path) -> list[Letter]:
    """Return the whole letters of a database that may be damaged."""
    done = dict(readable_rows(path, "letters_done", "box, last", "box"))
    found: dict[tuple[int, int], Letter] = {}
    for box, number, data in readable_rows(path, rf"{_ORDER.tail}|{_ORDER.prefix}\d+", "box, number, data", "box, number"):
        if isinstance(data, bytes) and data[:4] == checksum(box, number, data[4:]) and number > done.get(box, 0):
            found[box, number] = Letter(box, number, data[4:])
    return list(found.values())


def _sorted(database: Database, run: int) -> SortedRuns:
    runs = SortedRuns(database, _ORDER, run)
    runs.load()
    return runs


def _whole(database: Database, box: int, number: int, data: bytes) -> Letter:
    if not isinstance(data, bytes) or data[:4] != checksum(box, number, data[4:]):
        raise database.damaged(f"row {number} of {box} is damaged")
    return Letter(box, number, data[4:])
