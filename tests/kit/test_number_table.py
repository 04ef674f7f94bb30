from __future__ import annotations

from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.number_table import NumberTable


def test_numbers_stay(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    table = NumberTable(path, 10, 2)
    assert table.get(3) == 0.0
    assert table.add(3, 1.5) == 1.5
    assert table.add(3, 0.25) == 1.75
    table.put(3, 7.0, 1)
    table.close()
    table.close()
    again = NumberTable(path, 10, 2)
    assert (again.get(3), again.get(3, 1), again.get(4)) == (1.75, 7.0, 0.0)
    assert again.get(13) == 1.75, "keys may share a row"
    again.close()


def test_numbers_of_another_size_or_without_sense_are_none(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"\xff" * 80)
    table = NumberTable(path, 10)
    assert table.get(3) == 0.0
    assert table.add(3, 1.0) == 1.0
    table.close()
    other = NumberTable(path, 20)
    assert other.get(3) == 0.0
    other.close()


@pytest.mark.parametrize("number", [1e300, -1e300, float("inf"), float("nan")])
def test_what_damage_makes_of_a_number_is_none(number: float) -> None:
    table = NumberTable(None, 4)
    table.put(1, number)
    assert table.get(1) == 0.0
    assert table.add(1, 1.0) == 1.0


def test_in_memory() -> None:
    table = NumberTable(None, 4)
    table.put(1, 2.0)
    assert table.get(1) == 2.0
    table.close()


def test_a_path_that_can_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="numbers"):
        NumberTable(tmp_path / "none" / "numbers", 4)
