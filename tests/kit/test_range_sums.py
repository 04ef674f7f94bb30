"""Checksums of ranges of a file that only grows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.range_sums import RANGE, RangeSum, Sums, damaged_ranges, read_sums, sums_of

LINE = b"a line of some bytes\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BlockStore]:
    with closing(BlockStore(tmp_path / "store")) as made:
        yield made


def noted(store: BlockStore, sums: Sums, path: Path) -> list[RangeSum]:
    """The ranges of the file after another checkpoint."""
    store.transaction(sums)
    sums.clear()
    return read_sums(store, path)


def test_range_grows_with_each_flush_until_it_is_long(tmp_path: Path, store: BlockStore) -> None:
    sums: Sums = {}
    ends = []
    with closing(AppendFile(tmp_path / "file.log", 0, sums=sums)) as file:
        for _ in range(8):
            file.append(LINE * 1_000)
            file.sync()
            ends.append([each.end for each in noted(store, sums, tmp_path / "file.log")])
    size = len(LINE) * 1_000
    assert ends[:4] == [[size], [2 * size], [3 * size], [4 * size]]
    assert ends[-1] == [4 * size, 8 * size]
    assert 4 * size > RANGE > 3 * size


@pytest.mark.parametrize("pieces", [[LINE] * 20_000, [LINE * 2_000] * 10], ids=["small", "large"])
def test_ranges_of_one_flush_cover_all_pieces_and_none_is_long(tmp_path: Path, store: BlockStore, pieces: list[bytes]) -> None:
    sums: Sums = {}
    with closing(AppendFile(tmp_path / "file.log", 0, auto=False, sums=sums)) as file:
        for piece in pieces:
            file.append(piece)
    ranges = noted(store, sums, tmp_path / "file.log")
    assert [each.begin for each in ranges] == [0, *(each.end for each in ranges[:-1])]
    assert ranges[-1].end == file.length == (tmp_path / "file.log").stat().st_size
    assert max(each.end - each.begin for each in ranges) < 2 * RANGE
    assert not list(damaged_ranges(tmp_path / "file.log", ranges))


def test_range_begins_where_a_start_goes_on(tmp_path: Path, store: BlockStore) -> None:
    sums: Sums = {}
    for _ in range(2):
        path = tmp_path / "file.log"
        with closing(AppendFile(path, path.stat().st_size if path.exists() else 0, sums=sums)) as file:
            file.append(LINE)
        ranges = noted(store, sums, tmp_path / "file.log")
    assert [each[:2] for each in ranges] == [(0, len(LINE)), (len(LINE), 2 * len(LINE))]


def test_changed_byte_is_found_in_its_range_alone(tmp_path: Path, store: BlockStore) -> None:
    path = tmp_path / "file.log"
    path.write_bytes(LINE * 20_000)
    ranges = noted(store, sums_of(path, len(LINE) * 19_000 - 1, path), path)
    assert ranges[-1].end == len(LINE) * 19_000 - 1
    data = bytearray(path.read_bytes())
    data[200_000] ^= 1
    path.write_bytes(data)
    (found,) = damaged_ranges(path, ranges)
    assert found.begin <= 200_000 < found.end
