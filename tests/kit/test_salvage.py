"""Tables, block stores and journals that were damaged, made anew of what is whole in them."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.block_store import DATABASE, BlockStore, salvage_blocks
from larm.kit.disk.journal import Journal, salvage_journal
from larm.kit.disk.letter_box import Done, Letter, read, write
from larm.kit.disk.table import Table, TableRow, salvage_table

ROWS = 300


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two generations; the second has changed a row and removed one."""
    path = tmp_path / "rows.db"
    with closing(Table(path, tail=64)) as table:
        table.write(1, [row(key) for key in range(1, ROWS + 1)])
        table.write(2, [row(1)._replace(data=b"changed"), row(ROWS + 1)], [2])
    return path


def row(key: int) -> TableRow:
    return TableRow(key, key % 7 + 1000, f"row {key} ".encode() * 20, (key * 1_000_003,))


def rows_of(path: Path, generation: int) -> dict[int, bytes]:
    with closing(Table(path)) as table:
        table.open_at(generation)
        table.check(generation)
        return {row.key: row.data for row in table.after(-1, 10 * ROWS)}


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_a_table_that_are_whole_stay(table: Path, seed: int) -> None:
    whole = rows_of(table, 2)
    flip(table, random.Random(seed), 8)
    count = salvage_table(table, 2)
    left = rows_of(table, 2)
    assert len(left) == count
    assert left.items() <= whole.items()
    assert len(left) >= ROWS - 60  # the rows of a page of the database, at most two


@pytest.mark.parametrize("damage", [b"", b"\0" * 50_000, None], ids=["empty", "zeros", "removed"])
def test_of_a_table_nothing_may_be_left(table: Path, damage: bytes | None) -> None:
    table.unlink() if damage is None else table.write_bytes(damage)
    assert salvage_table(table, 2) == 0
    assert rows_of(table, 2) == {}


def test_a_table_is_as_it_was_at_the_generation(table: Path) -> None:
    """Of a process that was killed after the second one, before the checkpoint of it."""
    salvage_table(table, 1)
    assert rows_of(table, 1) == {key: row(key).data for key in range(1, ROWS + 1)}


@pytest.mark.parametrize("seed", range(12))
def test_blocks_and_letters_that_are_whole_stay(tmp_path: Path, seed: int) -> None:
    blocks = {f"host/{number}": b"%d" % number * 50 for number in range(ROWS)}
    letters = [Letter(number % 5, number, b"%d" % number * 10) for number in range(1, 60)]
    with closing(BlockStore(tmp_path)) as store:
        store.transaction(blocks, (), lambda database: write(database, letters, [Done(3, 60, 12)]))
    flip(tmp_path / DATABASE, random.Random(seed), 8)
    salvage_blocks(tmp_path)
    with closing(BlockStore(tmp_path)) as store:
        store.check()
        left = store.get_many(store.keys())
        boxes = store.ask(lambda database: read(database, range(5)))
    assert left.items() <= blocks.items()
    assert len(left) >= ROWS - 30
    assert set(boxes) <= {letter for letter in letters if letter.box != 3}
    assert len(boxes) in (0, 47) or len(boxes) >= 20


def test_an_epoch_stays_that_of_its_block(tmp_path: Path) -> None:
    with closing(BlockStore(tmp_path)) as store:
        store.put("old.cqb", b"1")
        store.next_epoch()
        store.put("new.cqb", b"2")
    salvage_blocks(tmp_path)
    with closing(BlockStore(tmp_path)) as store:
        store.go_back(1, ".cqb")
        assert store.keys() == ["old.cqb"]


ORDERS = [b"one", b"two", b"three"]


@pytest.mark.parametrize(
    ("at", "left", "lost"),
    [(0, [], 1), (20, [], 1), (28, [], 1), (40, [b"two", b"three"], 1), (-2, [b"one", b"two"], 1), (None, ORDERS, 0)],
    ids=["magic", "base", "length", "record", "last record", "none"],
)
def test_orders_that_are_whole_stay(tmp_path: Path, at: int | None, left: list[bytes], lost: int) -> None:
    path = tmp_path / "journal"
    with closing(Journal(path, 0)) as journal:
        for order in ORDERS:
            journal.append(order)
    if at is not None:
        data = bytearray(path.read_bytes())
        data[at] ^= 0xFF
        path.write_bytes(data)
    found = salvage_journal(path, 0)
    with closing(Journal(path, 0)) as journal:
        assert [record for record, _ in journal.left] == left
    assert found == lost or (at == -2 and not found)  # the last one may have been written when the process died


def test_orders_that_were_carried_out_do_not_come_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with closing(Journal(path, 0)) as journal:
        ends = [journal.append(order) for order in ORDERS]
    assert salvage_journal(path, ends[1]) == 0
    with closing(Journal(path, ends[1])) as journal:
        assert [record for record, _ in journal.left] == ORDERS[2:]
    with pytest.raises(StorageError):
        Journal(path, 0)


def flip(path: Path, choose: random.Random, count: int) -> None:
    data = bytearray(path.read_bytes())
    at = choose.randrange(100, len(data) - count)  # page 1 has the names of the tables
    for place in range(at, at + count):
        data[place] ^= choose.randrange(1, 256)
    path.write_bytes(data)
