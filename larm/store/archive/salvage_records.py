"""salvage_archive: writes WARC files again without their damaged records.

Called by `larm.ops.repair` on the main thread, in a locked directory. `lost_captures` comes first, because the old index is the
only record of lost captures. Both can be killed and repeated.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import PIECE, pieces
from larm.store.archive.cdxj import place_of
from larm.store.archive.indexing import index_lines
from larm.store.archive.names import OPEN, OURS
from larm.store.archive.purge import url_of
from larm.store.archive.scanning import GZIP, next_start


def lost_captures(folder: Path, place: Mapping[str, Any], damaged: Sequence[Path]) -> set[str]:
    """Return the URLs of captures that the indexes of ``damaged`` files list and the files no longer have.

    ``place``: position of the files in the checkpoint. Raises StorageError.
    """
    lost: set[str] = set()
    for path, index, length in _files(folder, place, damaged):
        there = dict(_whole(path, length))
        for each in (index, index.with_name(index.name + OPEN)):
            for line in each.read_text("utf-8", "replace").splitlines() if each.exists() else ():
                with suppress(ValueError):
                    offset, size = place_of(line)
                    if offset + size <= length and offset not in there:
                        lost.add(url_of(line))
    return lost - {""}


def salvage_archive(folder: Path, place: Mapping[str, Any], damaged: Sequence[Path]) -> dict[str, Any]:
    """Write the ``damaged`` files and their indexes again. Return the new place for the checkpoint. Raises StorageError."""
    complete = dict(place["complete"])
    for path, index, length in _files(folder, place, damaged):
        written = path.with_name(path.name + OPEN)
        with disk_failures(path):
            if written.exists():
                written.rename(path)
        complete[path.name] = 0
        if path.exists():
            rewrite_atomically(path, _parts(path, dict(_whole(path, length))))
            rewrite_atomically(index, (line.encode() for line in index_lines(path, lambda _offset, _why: None)))
            complete[path.name] = path.stat().st_size
        index.with_name(index.name + OPEN).unlink(missing_ok=True)
    ended = {"file": "", "length": 0} if place["file"] in complete else {}
    return {**place, **ended, "complete": {name: length for name, length in complete.items() if length}}


def _files(folder: Path, place: Mapping[str, Any], damaged: Sequence[Path]) -> Iterator[tuple[Path, Path, int]]:
    """Yield the WARC file, its index and its noted length for each file that is damaged or whose index is."""
    stems = {found[1] for path in damaged if (found := OURS.fullmatch(path.name))}
    lengths = dict(place["complete"]) | ({place["file"]: place["length"]} if place["file"] else {})
    for name, length in lengths.items():
        if (stem := name.partition(".warc.")[0]) in stems:
            yield folder / name, folder / f"{stem}.cdxj", length


def _whole(path: Path, length: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each whole record. A record is a gzip member with a checksum."""
    path = path if path.exists() else path.with_name(path.name + OPEN)
    if not path.exists():
        return
    with disk_failures(path), path.open("rb") as file:
        at: int | None = 0
        while at is not None and at < length:
            if end := _end(file, at):
                yield at, end
            at = end or next_start(file, at + 1, GZIP)


def _end(file: BinaryIO, at: int) -> int:
    """Return the end of the gzip member that begins at ``at``; 0 if it is damaged."""
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
