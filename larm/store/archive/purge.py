"""Takes pages out of the WARC files of a crawl, for ``larm forget``. Main thread, of a directory that is locked.

A file is written anew without the records of these pages, and takes the old one's place; then its index is made anew. The
index tells which files have any, so it may be ended at any moment, and done again.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.files import pieces
from larm.store.archive.indexing import index_lines, with_ends
from larm.store.archive.names import OPEN, OURS
from larm.store.archive.payload_book import forget_payloads
from larm.store.archive.scanning import Record

Unwanted = Callable[[str], bool]
"""Whether a page is, by its address as it was fetched."""


class Purged(msgspec.Struct):
    """What was taken out, and what it meant for others."""

    records: int = 0
    without: int = 0
    """Pages that are kept, of which the archive had only a reference to the payload of one that is gone."""


class _Range(NamedTuple):
    first: int
    end: int


def purge_archive(folder: Path, payloads: Path, unwanted: Unwanted) -> Purged:
    """``payloads``: the table of them. All files must be complete. Raises StorageError."""
    found = Purged()
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        ours = OURS.fullmatch(path.name)
        if ours is None or not ours[2] or path.name.endswith(OPEN):
            continue
        index = folder / f"{ours[1]}.cdxj"
        if index.exists() and not any(unwanted(url_of(line)) for line in index.read_text("utf-8").splitlines()):
            continue
        out = list(_ranges(path, unwanted, found))
        if out:
            rewrite_atomically(path, _rest(path, out))
        rewrite_atomically(index, (line.encode() for line in index_lines(path, lambda _offset, _why: None)))
    if payloads.exists():
        forget_payloads(payloads, unwanted)
    return found


def url_of(line: str) -> str:
    """The address of a capture by its line in an index; empty where that is damaged."""
    try:
        return str(msgspec.json.decode(line.split(" ", 2)[2])["url"])
    except (msgspec.DecodeError, IndexError, KeyError):
        return ""  # `larm warc verify` tells of damage


def _ranges(path: Path, unwanted: Unwanted, found: Purged) -> Iterator[_Range]:
    for record, end in with_ends(path, lambda _offset, _why: None):
        if unwanted(_target(record, "warc-target-uri")):
            found.records += 1
            yield _Range(record.offset, end)
        elif record.get("warc-type") == "revisit" and unwanted(_target(record, "warc-refers-to-target-uri")):
            found.without += 1


def _target(record: Record, name: str) -> str:
    return record.get(name).strip("<>")


def _rest(path: Path, out: list[_Range]) -> Iterator[bytes]:
    """The bytes of the file that are in none of these."""
    with path.open("rb") as file:
        at = 0
        for first, end in out:
            yield from pieces(file, at, first)
            at = end
        yield from pieces(file, at, path.stat().st_size)
