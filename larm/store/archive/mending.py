"""Mending: WARC files without the records that are damaged, for ``larm repair``. Main thread, of a directory that is locked.

A file is written anew of the records that are whole, and takes the old one's place; its index is made anew. The old index
tells which captures are lost. It may be ended at any moment, and done again.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import PIECE, pieces
from larm.store.archive.cdxj import place_of
from larm.store.archive.indexing import index_lines
from larm.store.archive.names import OPEN, OURS
from larm.store.archive.payload_book import forget_payloads
from larm.store.archive.purge import url_of
from larm.store.archive.scanning import GZIP, next_start


def mend_archive(
    folder: Path, payloads: Path, place: Mapping[str, Any], damaged: Sequence[Path]
) -> tuple[dict[str, Any], set[str]]:
    """Mend the ``damaged`` files; the place for the checkpoint, and the addresses of the captures that are lost.

    ``payloads``: the table of them; what was lost is forgotten there, so that it is written again. Raises StorageError.
    """
    stems = {found[1] for path in damaged if (found := OURS.fullmatch(path.name))}
    complete = dict(place["complete"])
    if place["file"]:
        complete[place["file"]] = place["length"]
    lost: set[str] = set()
    for name, length in dict(complete).items():
        stem = name.partition(".warc.")[0]
        path = folder / name
        if stem not in stems:
            continue
        if not path.exists() and path.with_name(name + OPEN).exists():
            path.with_name(name + OPEN).rename(path)
        lost |= _mend(path, folder / f"{stem}.cdxj", length)
        complete[name] = path.stat().st_size if path.exists() else 0
    if lost and payloads.exists():
        forget_payloads(payloads, lost.__contains__)
    if place["file"] in complete and place["file"].partition(".warc.")[0] in stems:
        place = {**place, "file": "", "length": 0}
    else:
        complete.pop(place["file"], None)
    return {**place, "complete": {name: length for name, length in complete.items() if length}}, lost


def _mend(path: Path, index: Path, length: int) -> set[str]:
    """The addresses of the captures that are in the index, and in the file no more."""
    there = dict(_whole(path, length)) if path.exists() else {}
    lost = set[str]()
    for each in (index, index.with_name(index.name + OPEN)):
        for line in each.read_text("utf-8", "replace").splitlines() if each.exists() else ():
            with suppress(ValueError, KeyError, IndexError, msgspec.MsgspecError):
                offset, size = place_of(line)
                if offset + size <= length and offset not in there:
                    lost.add(url_of(line))
    if path.exists():
        rewrite_atomically(path, _parts(path, there))
        rewrite_atomically(index, (line.encode() for line in index_lines(path, lambda _offset, _why: None)))
    index.with_name(index.name + OPEN).unlink(missing_ok=True)
    return lost - {""}


def _whole(path: Path, length: int) -> Iterator[tuple[int, int]]:
    """Where the records begin and end that are whole: each is a gzip member, with a checksum."""
    with disk_failures(path), path.open("rb") as file:
        at: int | None = 0
        while at is not None and at < length:
            if end := _end(file, at):
                yield at, end
            at = end or next_start(file, at + 1, GZIP)


def _end(file: BinaryIO, at: int) -> int:
    """Where the gzip member ends that begins there; 0 where it is damaged."""
    unpack = zlib.decompressobj(31)
    file.seek(at)
    try:
        while not unpack.eof and (chunk := file.read(PIECE)):
            unpack.decompress(chunk)
    except zlib.error:
        return 0
    return file.tell() - len(unpack.unused_data) if unpack.eof else 0


def _parts(path: Path, there: Mapping[int, int]) -> Iterator[bytes]:
    with path.open("rb") as file:
        for begin, end in there.items():
            yield from pieces(file, begin, end)
