"""What a refresh keeps in files without a name."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.graph.tables import Spool

COLUMNS = [memoryview(array(kind, numbers)) for kind, numbers in (("Q", (1, 2**64 - 1)), ("I", ()), ("I", (7,)), ("d", (0.5,)))]


@pytest.mark.parametrize("memory", [1, 1_000])
def test_columns_come_back_in_their_order_as_often_as_asked(tmp_path: Path, memory: int) -> None:
    spool = Spool(tmp_path, memory)
    spool.add(*COLUMNS[:2])
    assert list(spool) == COLUMNS[:2]
    spool.add(*COLUMNS[2:])
    assert [list(spool), list(spool)] == [COLUMNS, COLUMNS]
    assert [each.format for each in spool] == ["Q", "I", "I", "d"]
    assert list(tmp_path.iterdir()) == [], "it has no name"
    spool.close()
    spool.close()


def test_a_full_disk_and_a_file_that_was_cut_are_told(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1)
    spool.add(COLUMNS[0])
    spool._file.truncate(8)
    with pytest.raises(StorageError, match=f"{tmp_path}: a temporary file has changed"):
        list(spool)
    spool.close()
    with open("/dev/full", "w+b", buffering=0) as full:
        spool._file = full  # type: ignore[assignment]
        with pytest.raises(StorageError, match=str(tmp_path)):
            spool.add(COLUMNS[0])
