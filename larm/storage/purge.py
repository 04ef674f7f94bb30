"""Takes pages out of store.log, links.log and the page files, for ``larm forget``. Main thread, of a directory that is locked.

Bodies are overwritten with zeros where they lie, since the places of all others are noted, those in frames in a copy of their
page file, which takes its place; then their lines leave the logs, each of which is replaced as a whole, too. So it may be ended
at any moment, and done again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import PIECE, pieces
from larm.storage.body_frames import pack_again, read_frame, room_at
from larm.storage.log import LINKS_LOG, STORE_LOG
from larm.storage.page_file import PLAIN, page_file
from larm.storage.reader import entries_of, lines_of
from larm.storage.store_log import StoreEntry

Unwanted = Callable[[str], bool]
"""Whether a page is, by its address in either form."""
_ZEROS = bytes(PIECE)


class Purged(msgspec.Struct):
    """What was taken out."""

    lines: int = 0
    """Of store.log: versions of pages."""
    size: int = 0
    """Bytes of them that were overwritten."""


def purge_logs(logs: Path, unwanted: Unwanted) -> Purged:
    """``unwanted``: of normalised addresses in store.log, of those that were fetched in links.log. Raises StorageError."""
    found, framed = Purged(), defaultdict[int, list[StoreEntry]](list)
    store = path = logs / STORE_LOG
    if not path.exists():
        return found
    for _, entry, _ in entries_of(path):
        if unwanted(entry.normalised):
            found.lines += 1
            if entry.file:
                found.size += entry.size
                if entry.place == PLAIN:
                    _overwrite(page_file(logs, entry.file, packed=False), entry)
                else:
                    framed[entry.file].append(entry)
    for number, entries in framed.items():
        path = page_file(logs, number, packed=True)
        rewrite_atomically(path, _without_bodies(path, entries))
    if found.lines:
        rewrite_atomically(store, (line for _, entry, line in entries_of(store) if not unwanted(entry.normalised)))
    links = logs / LINKS_LOG
    if links.exists():
        rewrite_atomically(links, _kept_links(links, unwanted))
    return found


def _kept_links(path: Path, unwanted: Unwanted) -> Iterator[bytes]:
    """The links of a page stand together, so it is looked at once."""
    last, wanted = b"", True
    for _, line in lines_of(path):
        page = line.partition(b"\t")[0]
        if page != last:
            last, wanted = page, not unwanted(page.decode("utf-8", "replace"))
        if wanted:
            yield line


def _without_bodies(path: Path, entries: Sequence[StoreEntry]) -> Iterator[bytes]:
    """The page file with zeros in the place of these bodies, of the same length. Raises StorageError."""
    by_frame = defaultdict[int, list[StoreEntry]](list)
    for entry in entries:
        by_frame[entry.offset].append(entry)
    try:
        with path.open("rb") as file:
            at = 0
            for offset in sorted(by_frame):
                yield from pieces(file, at, offset)
                bodies, size = read_frame(file, offset, path)
                left = bytearray(bodies)
                for entry in by_frame[offset]:
                    left[entry.place : entry.place + entry.size] = bytes(entry.size)
                end = offset + size + room_at(file, offset + size)
                yield pack_again(bytes(left), end - offset)
                at = end
            yield from pieces(file, at, path.stat().st_size)
    except ValueError as error:
        raise StorageError(
            f"{path}: a page can't be overwritten there ({error}); this is a mistake of larm's: please report it"
        ) from error
    except OSError as error:
        raise disk_failure(path, error) from error


def _overwrite(path: Path, entry: StoreEntry) -> None:
    with disk_failures(path), path.open("r+b") as file:
        file.seek(entry.offset)
        left = entry.size
        while left > 0:
            left -= file.write(_ZEROS[: min(left, PIECE)])
        file.flush()
        os.fsync(file.fileno())
