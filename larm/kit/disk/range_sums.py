"""Range sums: a CRC-32 for each range of a file that only grows, as rows of the block store.

`AppendFile` makes the rows while it writes. The checkpoint that notes the length of the file writes them in one transaction
with it, so they are always in step. A range ends where a piece ends. The row of the last range is replaced while that grows.
Functions of any thread; those that read files may raise StorageError.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.disk_failure import disk_failures

PREFIX = "sums/"
"""Beginning of the keys of these rows."""
RANGE = 65_536
"""Bytes after which a range ends with the next flush."""
Sums = dict[str, bytes]
"""Rows by key."""
_decoder = msgspec.msgpack.Decoder(tuple[int, int])


class RangeSum(NamedTuple):
    """One range of a file."""

    begin: int
    end: int
    crc: int


def note_sum(sums: Sums, name: str, found: RangeSum) -> None:
    """Put the row of a range of the file ``name``."""
    sums[f"{PREFIX}{name}/{found.begin:016d}"] = msgspec.msgpack.encode(found[1:])


def sums_of(path: Path, name: str, length: int) -> Sums:
    """Return the rows of a file that was written again; ``name``: the one that it will have."""
    sums: Sums = {}
    with disk_failures(path), path.open("rb") as file:
        begin = 0
        while begin < length and (lines := file.readlines(min(RANGE, length - begin))):
            piece = b"".join(lines)[: length - begin]  # the file may be longer, and has no lines if it is a page file
            note_sum(sums, name, RangeSum(begin, begin + len(piece), zlib.crc32(piece)))
            begin += len(piece)
    return sums


def read_sums(store: BlockStore) -> dict[str, list[RangeSum]]:
    """Return the ranges of all files, in order."""
    found: dict[str, list[RangeSum]] = {}
    rows = store.get_many(store.keys(PREFIX))
    for key in sorted(rows):
        name, _, begin = key.removeprefix(PREFIX).rpartition("/")
        found.setdefault(name, []).append(RangeSum(int(begin), *_decoder.decode(rows[key])))
    return found


def damaged_ranges(path: Path, ranges: list[RangeSum]) -> Iterator[RangeSum]:
    """Yield the ranges that are not as they were written."""
    with disk_failures(path), path.open("rb") as file:
        for each in ranges:
            file.seek(each.begin)
            if zlib.crc32(file.read(each.end - each.begin)) != each.crc:
                yield each
