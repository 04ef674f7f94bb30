"""Records by number, and what a crash or a bad disk makes of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
        "UPDATE records SET record = CAST(zeroblob(8) AS BLOB)",
        "UPDATE records SET key = 2",
        "UPDATE records SET record = 'text'",
        "UPDATE records SET record = substr(record, 1, 5)",
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
    """In the order of their keys, some at a time; those that an earlier version wrote may be of any part."""
    path = tmp_path / "records.db"
    with closing(RecordTable(path)) as older:
        older.write(1, [(4, b"old")])
    with closing(RecordTable(path, parts=True)) as table:
        table.write_parts(2, [(number, b"new", 7 + number % 2) for number in (9, 1, 5, 3, 2)])
        assert [each.key for each in table.of_part(8, -1, 3)] == [1, 3, 4]
        assert [each.key for each in table.of_part(8, 4, 3)] == [5, 9]
        table.write_parts(3, [(4, b"new", 7)], [1, 5, 77])
        assert [each.key for each in table.of_part(8, -1, 9)] == [3, 9]
    with closing(RecordTable(path, parts=True)) as table, closing(RecordTable(path, read_only=True)) as reader:
        assert (len(table), table.generation) == (4, 3)
        assert [each.data for each in reader.of_part(7, -1, 9)] == [b"new", b"new"]
