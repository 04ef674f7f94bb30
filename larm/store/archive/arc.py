"""ARC files, the form before WARC: a copy in the form of WARC is made of one before it is crawled. Main thread.

By warcio, which is made for all the ARC files that there are; nothing else in larm knows it.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from larm.errors import ConfigError
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.store.archive.scanning import Damaged, Record, flaw_of, read_block

_FIRST = b"filedesc://"


def is_arc(path: Path) -> bool:
    """By its first bytes; also a compressed one."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_FIRST))
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                start = packed.read(len(_FIRST))
    except (OSError, EOFError, zlib.error):
        return False
    return start == _FIRST


def convert(path: Path, target: Path, damaged: Damaged) -> None:
    """Make a WARC file of it. A record that ends too early is kept as it is.

    Raises ConfigError where warcio is missing, StorageError.
    """
    iterator, unreadable = _warcio(path)
    from warcio.warcwriter import WARCWriter

    with (
        disk_failures(target),
        path.open("rb") as file,
        target.open("wb") as out,
        redirect_stderr(StringIO()),  # where warcio has its say
    ):
        writer = WARCWriter(out, gzip=False)
        records = iterator(file, arc2warc=True)
        try:
            for record in records:
                writer.write_record(record)
                if record.raw_stream.limit:
                    damaged(records.get_record_offset(), "it ends too early")
        except unreadable as error:
            damaged(file.tell(), f"what follows can't be read: {error}")


def scan_arc(path: Path, damaged: Damaged, most: int) -> Iterator[tuple[Record, int]]:
    """Its records as those of a WARC file, also damaged ones, and where each ends; ``most``: bytes of a block that are kept.

    Raises ConfigError where warcio is missing, StorageError.
    """
    iterator, unreadable = _warcio(path)
    at = 0
    try:
        with path.open("rb") as file:
            records = iterator(file, arc2warc=True, no_record_parse=True)
            while True:
                with redirect_stderr(StringIO()):
                    found = next(records, None)
                    if found is None:
                        return
                    block = read_block(found.raw_stream.read, most)  # first: to ask for the place skips it
                    at = records.get_record_offset()
                    end = at + records.get_record_length()
                record = Record(at, {name.lower(): value for name, value in found.rec_headers.headers}, *block)
                if record.get("warc-type") != "warcinfo" and (why := flaw_of(record)):  # that one is read for its header
                    damaged(at, why)
                yield record, end
    except unreadable as error:
        damaged(at, f"what follows can't be read: {error}")
    except OSError as error:
        raise disk_failure(path, error) from error


def _warcio(path: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    """Its iterator, and what that raises for a file that it can't read."""
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise ConfigError(f"{path}: ARC files need warcio: pip install 'larm[warc]' ({error})") from error
    return ArchiveIterator, (ArchiveLoadFailed, ValueError, EOFError, zlib.error)
