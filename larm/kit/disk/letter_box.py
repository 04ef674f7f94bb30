"""letter_box: rows of bytes by a number, any many for each, which come in any order and are taken by their number.

They are written in order (`larm.kit.disk.tiers`), in the database of their owner and as a part of its transactions, so that a
row is there exactly where what its owner knows of it is on the disk. A row is read in a few runs, together with all others of
its number, and removed with what its owner writes of them next.

All functions may raise StorageError. `read` may be called while another connection writes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from larm.kit.disk.database import Database
from larm.kit.disk.tiers import Form, Tiers, catalogue_of

_COLUMNS = "(box INTEGER, number INTEGER, data BLOB NOT NULL, PRIMARY KEY (box, number)) WITHOUT ROWID"
_FORM = Form("letters", _COLUMNS, ("box", "number", "data"), 2, "letters_runs", "", "letters_tail", top=2)
_TABLES = (
    catalogue_of(_FORM),
    f"CREATE TABLE IF NOT EXISTS {_FORM.tail} {_COLUMNS}",
    "CREATE TABLE IF NOT EXISTS letters_size (there INTEGER NOT NULL, last INTEGER NOT NULL)",
    "INSERT INTO letters_size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM letters_size)",
)
_ROWS = 500  # in one statement
RUN = 16_384
"""Rows of which a run is made, about: fewer than come between two checkpoints of a crawl of many hosts."""


class Letter(NamedTuple):
    """One row."""

    box: int
    """63 bits."""
    number: int
    """Of all; a later one has a higher one."""
    data: bytes


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
        tables = _tiers(database, RUN).live
        select = " UNION ALL ".join(
            f"SELECT box, number, data FROM {table} WHERE box IN (SELECT value FROM json_each(?1))"  # noqa: S608  names
            for table in tables
        )
        rows = database.rows(select, (asked,)) if tables else []
    return [_whole(database, *row) for row in rows]


def write(database: Database, new: Sequence[Letter], gone: Sequence[tuple[int, int]], *, run: int = RUN) -> None:
    """Add and remove, and get on with merges; in a transaction. ``gone``: (box, number), all of them there or ``new``.

    ``run``: of so many rows a run is made.
    """
    if not (new or gone):
        return
    for statement in _TABLES:
        database.write(statement)
    tiers = _tiers(database, run)
    tiers.drop_dead()
    tiers.drop_empty()
    tail = _FORM.tail
    database.write_many(
        f"INSERT INTO {tail} VALUES (?, ?, ?)",  # noqa: S608  a constant
        ((box, number, _checksum(box, number, data) + data) for box, number, data in sorted(new)),
    )
    for at in range(0, len(gone), _ROWS):
        pairs = json.dumps(gone[at : at + _ROWS])
        chosen = "IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
        for table in tiers.tables:
            database.write(f"DELETE FROM {table} WHERE (box, number) {chosen}", (pairs,))  # noqa: S608  constants
    if database.row(f"SELECT count(*) FROM {tail}")[0] >= run:  # noqa: S608  a constant
        tiers.add(f"SELECT box, number, data FROM {tail} ORDER BY box, number")  # noqa: S608  a constant
        database.write(f"DELETE FROM {tail}")  # noqa: S608  a constant
    tiers.step(len(new))
    last = max((each.number for each in new), default=0)
    database.write("UPDATE letters_size SET there = there + ?, last = max(last, ?)", (len(new) - len(gone), last))


def check(database: Database) -> None:
    """Whether as many rows are there as there have to be: reads all of them."""
    with database.moment():
        there = size_of(database).there
        tables = _tiers(database, RUN).live
        if there != sum(database.row(f"SELECT count(*) FROM {table}")[0] for table in tables):  # noqa: S608  names
            raise database.damaged()


def _tiers(database: Database, run: int) -> Tiers:
    tiers = Tiers(database, _FORM, run)
    tiers.load(0)
    return tiers


def _whole(database: Database, box: int, number: int, data: bytes) -> Letter:
    if not isinstance(data, bytes) or data[:4] != _checksum(box, number, data[4:]):
        raise database.damaged(f"row {number} of {box} is damaged")
    return Letter(box, number, data[4:])


def _checksum(box: int, number: int, data: bytes) -> bytes:
    return zlib.crc32(data, (box ^ number * 3) & 0xFFFF_FFFF).to_bytes(4, "big")
