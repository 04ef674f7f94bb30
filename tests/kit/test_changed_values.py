"""A value that changes in a database which SQLite takes for whole: the checks that read all rows find it in any column."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk import letter_box
from larm.kit.disk.block_store import DATABASE, BlockStore
from larm.kit.disk.database import Database
from larm.kit.disk.fingerprint_table import FingerprintTable
from larm.kit.disk.letter_box import Done, Letter
from larm.kit.disk.sorted_runs import LIVE, OBSOLETE, TARGET
from larm.kit.disk.table import Table, TableRow

HARMLESS = {
    *(("tail", "number"), ("letters_size", "spent"), ("letters_size", "last"), ("letters_done", "last")),
    *(("Cache", name) for name in ("rowid", "access_time", "access_count", "expire_time", "tag", "size")),
    *(("Settings", "key"), ("Settings", "value")),
}
"""An order that nobody asks for; when to merge; numbers from which to go on, if that loses no row; what only diskcache uses."""


def make_table(path: Path, choose: random.Random) -> Callable[[], None]:
    """Rows in the tail, in runs, in a merge that is open; some of the last generation can be undone."""
    with closing(Table(path, tail=20)) as table:
        generation = 0
        while not any(run.state == TARGET for order in table._orders for run in order.runs):
            generation += 1
            rows = [row(choose, number) for number in range(20 if generation % 2 else 1)]
            table.write(generation, rows)
        old = table.after(-1, 6)
        generation += 1
        table.write(generation, [each._replace(data=b"new") for each in old[:3]], [each.key for each in old[3:]])
        assert {run.state for order in table._orders for run in order.runs} >= {LIVE, TARGET}

    def check() -> None:
        with closing(Table(path, read_only=True)) as table:
            table.check(generation)

    return check


def row(choose: random.Random, number: int) -> TableRow:
    key, parent, first, second = (choose.getrandbits(62) for _ in range(4))
    return TableRow(key, parent, b"data of %d" % number, (first, second))


def make_fingerprints(path: Path, choose: random.Random) -> Callable[[], None]:
    with closing(FingerprintTable(path, tail=64)) as table:
        epoch = 0
        while not any(run.state == TARGET for run in table._sorted.runs):
            epoch += 1
            table.write(sorted(choose.getrandbits(62) for _ in range(64 if epoch % 4 else 1)), [], epoch)

    def check() -> None:
        with closing(FingerprintTable(path, read_only=True)) as table:
            table.check()
            table.check_merges()

    return check


def make_letters(path: Path, choose: random.Random) -> Callable[[], None]:
    with closing(Database(path, "")) as database:
        for part in range(13):
            letters = [Letter(choose.randrange(1, 20), part * 30 + n, b"text %d" % n) for n in range(1, 31)]
            with database.transaction():
                letter_box.write(database, letters, [], run=20)
        taken = letter_box.read(database, [3])
        with database.transaction():
            letter_box.write(database, [], [Done(3, max(each.number for each in taken), len(taken))], run=20)

    def check() -> None:
        with closing(Database(path, "", read_only=True)) as database:
            letter_box.check_rows(database)

    return check


def make_blocks(path: Path, _: random.Random) -> Callable[[], None]:
    with closing(BlockStore(path.parent)) as store:
        store.put_many({f"block_{n}.cqb": b"some bytes %d" % n for n in range(30)})
        store.next_epoch()
        store.put_many({f"later_{n}.cqb": b"some bytes %d" % n for n in range(30)})

    def check() -> None:
        with closing(BlockStore(path.parent, read_only=True)) as store:
            store.check()

    return check


@pytest.mark.parametrize("make", [make_table, make_fingerprints, make_letters, make_blocks])
def test_changed_value_is_found_in_any_column(
    tmp_path: Path, make: Callable[[Path, random.Random], Callable[[], None]]
) -> None:
    path, choose = tmp_path / DATABASE, random.Random(1)
    check = make(path, choose)
    check()
    whole = path.read_bytes()
    seen = 0
    for table, column, values in list(cells(path)):
        for place in {0, len(values) // 2}:
            for new in changes(values[place][1]):
                with closing(sqlite3.connect(path)) as database, database:
                    keys = " AND ".join(f"{name} IS ?" for name in values[place][2])
                    try:
                        database.execute(f"UPDATE {table} SET {column} = ? WHERE {keys}", (new, *values[place][0]))
                    except sqlite3.IntegrityError:
                        continue
                assert refuses(check), f"{table}.{column}: {values[place][1]!r} became {new!r}"
                seen += 1
                path.write_bytes(whole)
    assert seen > 10
    check()


def refuses(check: Callable[[], None]) -> bool:
    try:
        check()
    except StorageError:
        return True
    return False


Cell = tuple[tuple[object, ...], object, list[str]]
"""Key of its row, value, names of the columns of the key."""


def cells(path: Path) -> Iterator[tuple[str, str, list[Cell]]]:
    """Each column of each table with rows; of no obsolete run."""
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        lists = [name for name in names if name == "runs" or name.endswith("_runs")]
        obsolete = {
            f"{'run' if each == 'runs' else each.removesuffix('_runs')}{number}"
            for each in lists
            for (number,) in database.execute(f"SELECT number FROM {each} WHERE state = 'obsolete'")
        }
        for name in [name for name in names if name not in obsolete]:
            columns = database.execute(f"PRAGMA table_info({name})").fetchall()
            keys = [each[1] for each in columns if each[5]] or [each[1] for each in columns]
            for each in columns:
                if (name, each[1]) not in HARMLESS:
                    rows = database.execute(f"SELECT {', '.join(keys)}, {each[1]} FROM {name}").fetchall()
                    if rows:
                        yield name, each[1], [(row[:-1], row[-1], keys) for row in rows]


def changes(value: object) -> list[object]:
    """What the value may become."""
    if isinstance(value, int):
        return [value + 1, value ^ 1 << 40]
    if isinstance(value, float):
        return [value + 1]
    if isinstance(value, bytes):
        return [value[:-1] + bytes([value[-1] ^ 1])] if value else [b"12345678"]
    if isinstance(value, str):
        states = {LIVE, TARGET, OBSOLETE}
        return [value[:-1] + "x", *(states - {value} if value in states else ())]
    return [7]
