"""Takes pages out of the logs and the page files, for ``larm forget``. Main thread, of a directory that is locked.

Bodies are overwritten with zeros where they lie, since the places of all others are noted, those in frames in a copy of their
page file, which takes its place; then their lines leave store.log, and from all other logs goes each line with their address.
A log is replaced as a whole, too. So it may be ended at any moment, and done again.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import escape
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.disk.atomic import rewrite_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import PIECE, pieces
from larm.model.forgotten import NO_LONGER
from larm.store.body_frames import pack_again, read_frame, room_at
from larm.store.log import LINKS_LOG, STORE_LOG
from larm.store.page_file import PLAIN, page_file
from larm.store.reader import entries_of
from larm.store.store_log import StoreEntry, format_entry, parse_entry

Unwanted = Callable[[str], bool]
"""Whether a page is, by its address in either form."""
_ZEROS = bytes(PIECE)


class Purged(msgspec.Struct):
    """What was taken out."""

    lines: int = 0
    """Of store.log: versions of pages."""
    size: int = 0
    """Bytes of them that were overwritten."""


def purge_logs(logs: Path, names: Iterable[str], unwanted: Unwanted, hint: re.Pattern[str]) -> Purged:
    """``names``: of logs beside the storage's two. ``unwanted``: of addresses in any form, all of which ``hint`` finds.

    Raises StorageError.
    """
    found, framed = Purged(), defaultdict[int, list[StoreEntry]](list)
    store = logs / STORE_LOG
    for _, entry, _ in entries_of(store) if store.exists() else ():
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
    for path in sorted(file for name in ("store", "links", *names) for file in logs.glob(f"{escape(name)}.log*")):
        wanted = _store_line if path == store else _line
        if any(kept != lines for lines, kept in _kept(path, wanted, unwanted, hint)):
            rewrite_atomically(path, (b"".join(kept) for _, kept in _kept(path, wanted, unwanted, hint)))
    return found


def moved_days(
    logs: Path, days: Sequence[tuple[int, int, int]], unwanted: Unwanted, hint: re.Pattern[str]
) -> tuple[tuple[int, int, int], ...]:
    """`larm.store.log.Day` as it will be when `purge_logs` has done the same. Changes nothing. Raises StorageError."""
    if not days:
        return ()
    store = _moved(logs / STORE_LOG, [day[1] for day in days], _store_line, unwanted, hint)
    links = _moved(logs / LINKS_LOG, [day[2] for day in days], _line, unwanted, hint)
    return tuple(zip((day[0] for day in days), store, links, strict=True))


def _moved(
    path: Path, marks: list[int], wanted: Callable[[bytes, Unwanted], bytes], unwanted: Unwanted, hint: re.Pattern[str]
) -> list[int]:
    """Where these places of a log, at which lines begin, are when others have left."""
    found, old, new = list[int](), 0, 0
    for lines, kept in _kept(path, wanted, unwanted, hint) if path.exists() else ():
        for line, left in zip(lines, kept, strict=True):
            found += [new] * sum(mark <= old for mark in marks[len(found) :])
            old, new = old + len(line), new + len(left)
    return found + [new] * (len(marks) - len(found))


def _kept(
    path: Path, wanted: Callable[[bytes, Unwanted], bytes], unwanted: Unwanted, hint: re.Pattern[str]
) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Some lines of a log, and what is left of them."""
    find = re.compile(hint.pattern.encode()).search
    with disk_failures(path), path.open("rb") as file:
        while lines := file.readlines(PIECE):
            suspect = find(b"".join(lines)) is not None
            yield lines, [wanted(line, unwanted) if find(line) else line for line in lines] if suspect else lines


def _line(line: bytes, unwanted: Unwanted) -> bytes:
    words = line.decode("utf-8", "replace").split()
    return b"" if any(unwanted(word.strip("\"'()<>,;")) for word in words if ":" in word) else line


def _store_line(line: bytes, unwanted: Unwanted) -> bytes:
    """The line of another page, without the address of the one that led there."""
    entry = parse_entry(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    if unwanted(entry.normalised):
        return b""
    return format_entry(entry._replace(from_page=NO_LONGER)).encode("utf-8", "replace") if unwanted(entry.from_page) else line


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
