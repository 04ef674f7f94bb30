"""Range sums: a CRC-32 for each range of a file that only grows, as rows of the block store.

`AppendFile` makes the rows while it writes. The checkpoint that notes the length of the file writes them in one transaction
with it, so they are always in step. A range ends where a piece ends. The row of the last range is replaced while that grows.
Functions of any thread; those that read files may raise StorageError. A page with 7 KB of links costs 6 us; Adler-32 is as fast
and finds less.
"""

import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.disk_failure import disk_failures

PREFIX = "sums/"
"""Beginning of the keys of these rows; folder and name of the file follow, then the first byte of the range."""
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


def note_sum(sums: Sums, path: Path, found: RangeSum) -> None:
    """Put the row of a range."""
    sums[f"{PREFIX}{_name(path)}/{found.begin:016d}"] = msgspec.msgpack.encode(found[1:])


def take_sums(sums: Sums) -> Sums:
    """Return all rows, and remove them."""
    taken = dict(sums)
    sums.clear()
    return taken


def sums_of(path: Path, length: int, named: Path, data: bytes = b"") -> Sums:
    """Return the rows of a file that was written again; ``named``: the path in their keys; ``data``: in place of its bytes."""
    sums: Sums = {}
    with disk_failures(path), _opened(path, data) as file:
        begin = 0
        while begin < length and (lines := file.readlines(min(RANGE, length - begin))):
            piece = b"".join(lines)[: length - begin]  # the file may be longer, and has no lines if it is a page file
            note_sum(sums, named, RangeSum(begin, begin + len(piece), zlib.crc32(piece)))
            begin += len(piece)
    return sums


def read_sums(store: BlockStore, path: Path) -> list[RangeSum]:
    """Return the ranges of a file, in order."""
    rows = store.get_many(store.keys(f"{PREFIX}{_name(path)}/"))
    return [RangeSum(int(key.rpartition("/")[2]), *_decoder.decode(rows[key])) for key in sorted(rows)]


def damaged_ranges(path: Path, ranges: list[RangeSum], data: bytes = b"") -> Iterator[RangeSum]:
    """Yield the ranges that are not as they were written; ``data``: in place of the bytes of the file."""
    with disk_failures(path), _opened(path, data) as file:
        for each in ranges:
            file.seek(each.begin)
            if zlib.crc32(file.read(each.end - each.begin)) != each.crc:
                yield each


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _opened(path: Path, data: bytes) -> BinaryIO:
    return BytesIO(data) if data else path.open("rb")
