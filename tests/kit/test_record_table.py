"""Records by number, and what a crash or a bad disk makes of them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.record_table import Record, RecordTable


@pytest.fixture
def table(tmp_path: Path) -> Iterator[RecordTable]:
    table = RecordTable(tmp_path / "records.db")
    yield table
    table.close()


def test_written_replaced_and_read(table: RecordTable) -> None:
    assert table.generation == 0
    table.write(1, [(5, b"one"), (2**63 - 1, b"")])
    table.write(2, [(5, b"five")])
    assert table.get(1) is None
    assert list(table.after(-1, 10)) == [Record(5, 2, b"five"), Record(2**63 - 1, 1, b"")]
    assert list(table.younger(1)) == [Record(5, 2, b"five")]
    assert (len(table), table.generation) == (2, 2)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tail SET record = CAST(zeroblob(8) AS BLOB)",
        "UPDATE tail SET key = 2",
        "UPDATE tail SET record = 'text'",
        "UPDATE tail SET record = substr(record, 1, 5)",
    ],
)
def test_a_record_that_is_not_what_was_written_is_refused(table: RecordTable, tmp_path: Path, damage: str) -> None:
    table.write(1, [(1, b"one")])
    with closing(sqlite3.connect(tmp_path / "records.db", isolation_level=None)) as other:
        other.execute(damage)
    with pytest.raises(StorageError, match=r"records.db: record \d is damaged"):
        table.after(-1, 10)


def test_half_a_generation_is_none(table: RecordTable) -> None:
    def rows() -> Iterator[tuple[int, bytes]]:
        yield 1, b"one"
        raise KeyError("no more")

    with pytest.raises(KeyError):
        table.write(1, rows())
    assert (len(table), table.generation) == (0, 0)


def test_records_of_a_part(tmp_path: Path) -> None:
    """In the order of their keys, some at a time."""
    path = tmp_path / "records.db"
    with closing(RecordTable(path)) as table:
        table.write_parts(2, [(number, b"new", 7 + number % 2) for number in (9, 1, 5, 3, 2)])
        assert [each.key for each in table.of_part(8, -1, 2)] == [1, 3]
        assert [each.key for each in table.of_part(8, 3, 3)] == [5, 9]
        table.write_parts(3, [(4, b"new", 7)], [1, 5, 77])
        assert [each.key for each in table.of_part(8, -1, 9)] == [3, 9]
    with closing(RecordTable(path)) as table, closing(RecordTable(path, read_only=True)) as reader:
        assert (len(table), table.generation) == (4, 3)
        assert [each.data for each in reader.of_part(7, -1, 9)] == [b"new", b"new"]


def write_all(table: RecordTable, model: dict[int, Record], choose: random.Random, generation: int) -> None:
    """New ones, some that were there, and some that go."""
    puts = {choose.getrandbits(62): bytes([generation % 256]) for _ in range(choose.randrange(6))}
    known = sorted(model)
    puts |= dict.fromkeys(choose.sample(known, min(3, len(known))), b"again")
    gone = [key for key in choose.sample(known, min(2, len(known))) if key not in puts]
    table.write_parts(generation, [(key, data, 1 + key % 3) for key, data in puts.items()], gone)
    model |= {key: Record(key, generation, data) for key, data in puts.items()}
    for key in gone:
        del model[key]


def check(table: RecordTable, model: dict[int, Record]) -> None:
    """It has what the model has, and nothing else."""
    assert len(table) == len(model)
    assert table.get_many([*model, 5]) == model
    assert walked(lambda last: table.after(last, 7)) == sorted(model.values())
    for part in (1, 2, 3):
        assert walked(lambda last, part=part: table.of_part(part, last, 7)) == sorted(  # type: ignore[misc]
            record for record in model.values() if 1 + record.key % 3 == part
        )


def walked(some: Callable[[int], Sequence[Record]]) -> list[Record]:
    found: list[Record] = []
    while more := some(found[-1].key if found else -1):
        found += more
    return found


@pytest.mark.parametrize("tail", [4, 25])
def test_it_has_what_was_written_in_whatever_state_its_runs_are(tmp_path: Path, tail: int) -> None:
    """With another process every now and then, and one that only looks beside it."""
    path, choose, model = tmp_path / "records.db", random.Random(tail), dict[int, Record]()
    table, looked = RecordTable(path, tail=tail), RecordTable(path)
    for generation in range(1, 200):
        write_all(table, model, choose, generation)
        if choose.random() < 0.1:
            table.close()
            table = RecordTable(path, tail=tail)
            check(looked, model)
    check(table, model)
    check(looked, model)
    assert sorted(table.younger(197)) == sorted(record for record in model.values() if record.generation > 197)
    looked.close()
    table.close()
    with closing(RecordTable(path, read_only=True)) as looked:
        check(looked, model)
