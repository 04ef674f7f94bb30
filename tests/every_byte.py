"""Every byte of a directory, unpacked: what `holding` finds is on the disk."""

from __future__ import annotations

import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

_ZSTD, _GZIP, _ZLIB = rb"\x28\xb5\x2f\xfd", rb"\x1f\x8b\x08", rb"\x78[\x01\x5e\x9c\xda]"


def holding(directory: Path, pattern: bytes) -> set[str]:
    """Files in which something matches, as they are, or as frames of zstd, gzip or zlib anywhere in them unpack.

    Blocks of LZ4, as tantivy has them, show a word where it comes first.
    """
    find = re.compile(pattern).search
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix() for path in files if any(map(find, _contents(path)))}


def _contents(path: Path) -> Iterator[bytes]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # SQLite has just put it into the database
        return
    yield from _unpacked(data)
    if data.startswith(b"SQLite format 3"):  # a value may lie on several pages
        with closing(sqlite3.connect(path)) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    for value in row:
                        yield from _unpacked(value if isinstance(value, bytes) else str(value).encode())


def _unpacked(data: bytes) -> Iterator[bytes]:
    yield data
    for sign, open_one in (
        (_ZSTD, zstd.ZstdDecompressor),
        (_GZIP, lambda: zlib.decompressobj(31)),
        (_ZLIB, zlib.decompressobj),
    ):
        for found in re.finditer(sign, data):
            with suppress(zlib.error, zstd.ZstdError):
                yield open_one().decompress(data[found.start() :])
