"""letter_box: rows of bytes by a number (their *box*), any many for each, which come in any order and are taken by box.

They are written in order (`larm.kit.disk.tiers`), in the database of their owner and as a part of its transactions, so that a
row is there exactly where what its owner knows of it is on the disk. The rows of a box are read in a few runs, and taken all at
once: that leaves a mark up to where the box is *done*, instead of a search for each of them in each run. Merges leave out what
is done; when it is more than what is there, all runs become one.

All functions may raise StorageError. `read` may be called while another connection writes.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.kit.disk.tiers import Form, Tiers, catalogue_of

_COLUMNS = "(box INTEGER, number INTEGER, data BLOB NOT NULL, PRIMARY KEY (box, number)) WITHOUT ROWID"
_KEPT = "number > coalesce((SELECT last FROM letters_done WHERE letters_done.box = {table}.box), 0)"
"""It was not taken."""
_FORM = Form("letters", _COLUMNS, ("box", "number", "data"), 2, "letters_runs", "letters_tail", top=2, kept=_KEPT)
_TABLES = (
    catalogue_of(_FORM),
    f"CREATE TABLE IF NOT EXISTS {_FORM.tail} {_COLUMNS}",
    "CREATE TABLE IF NOT EXISTS letters_size (there INTEGER NOT NULL, last INTEGER NOT NULL)",
    "INSERT INTO letters_size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM letters_size)",
    "CREATE TABLE IF NOT EXISTS letters_done (box INTEGER PRIMARY KEY, last INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS letters_spent (rows INTEGER NOT NULL)",
    "INSERT INTO letters_spent SELECT 0 WHERE NOT EXISTS (SELECT * FROM letters_spent)",
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
        tiers = _tiers(database, RUN)
        done = "(SELECT last FROM letters_done WHERE box = value)" if tiers.noted else "0"
        select = " UNION ALL ".join(
            f"SELECT box, number, data FROM asked CROSS JOIN {table} ON box = value AND number > last"  # noqa: S608  names
            for table in tiers.live
        )
        first = f"WITH asked AS MATERIALIZED (SELECT value, coalesce({done}, 0) AS last FROM json_each(?)) "  # noqa: S608
        rows = database.rows(first + select, (asked,)) if tiers.live else []
    return [_whole(database, *row) for row in rows]


def write(database: Database, new: Sequence[Letter], done: Sequence[Done], *, run: int = RUN) -> None:
    """Add and take, and get on with merges; in a transaction. ``done``: what was there or is ``new``, up to a number.

    ``run``: of so many rows a run is made.
    """
    if not (new or done):
        return
    for statement in _TABLES:
        database.write(statement)
    tiers = _tiers(database, run)
    tiers.drop_dead()
    tail = _FORM.tail
    database.write_many(
        f"INSERT INTO {tail} VALUES (?, ?, ?)",  # noqa: S608  a constant
        ((box, number, _checksum(box, number, data) + data) for box, number, data in sorted(new)),
    )
    database.write_many("INSERT OR REPLACE INTO letters_done VALUES (?, ?)", sorted((each.box, each.last) for each in done))
    taken = sum(each.rows for each in done)
    last = max((each.number for each in new), default=0)
    database.write("UPDATE letters_size SET there = there + ?, last = max(last, ?)", (len(new) - taken, last))
    database.write("UPDATE letters_spent SET rows = rows + ?", (taken,))
    if database.row(f"SELECT count(*) FROM {tail}")[0] >= run:  # noqa: S608  a constant
        kept = _KEPT.format(table=tail)
        tiers.add(f"SELECT box, number, data FROM {tail} WHERE {kept} ORDER BY box, number")  # noqa: S608  constants
        database.write(f"DELETE FROM {tail}")  # noqa: S608  a constant
    (spent,), there = database.row("SELECT rows FROM letters_spent"), size_of(database).there
    if not there:
        _clear(database, tiers)
    elif spent > max(there, run):
        tiers.merge_all()
        database.write("UPDATE letters_spent SET rows = 0")
    tiers.step(len(new) + taken)


def _clear(database: Database, tiers: Tiers) -> None:
    """All was taken."""
    tiers.drop_all()
    for table in (_FORM.tail, "letters_done"):
        database.write(f"DELETE FROM {table}")  # noqa: S608  constants
    database.write("UPDATE letters_spent SET rows = 0")


def check(database: Database) -> None:
    """Whether as many rows are there as there have to be: reads all of them."""
    with database.moment():
        there = size_of(database).there
        tiers = _tiers(database, RUN)
        counts = [f"SELECT count(*) FROM {table} WHERE {_KEPT.format(table=table)}" for table in tiers.live]  # noqa: S608
        if there != sum(database.row(count)[0] for count in counts):
            raise database.damaged()


def _tiers(database: Database, run: int) -> Tiers:
    tiers = Tiers(database, _FORM, run)
    tiers.load()
    return tiers


def _whole(database: Database, box: int, number: int, data: bytes) -> Letter:
    if not isinstance(data, bytes) or data[:4] != _checksum(box, number, data[4:]):
        raise database.damaged(f"row {number} of {box} is damaged")
    return Letter(box, number, data[4:])


def _checksum(box: int, number: int, data: bytes) -> bytes:
    return zlib.crc32(data, (box ^ number * 3) & 0xFFFF_FFFF).to_bytes(4, "big")
