"""salvage_logs: writes store.log, links.log and the page files again without their damaged records.

Called by `larm.ops.repair` on the main thread. A line of store.log is dropped if it or its stored bytes are damaged. In a range
with a wrong checksum, a line stays if the page book and the stored bytes confirm it. Missing lines of links.log are rebuilt
from the stored pages. Files are written as in `larm.store.retention`: the old ones count until the checkpoint notes the new.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from larm.config import LogSettings
from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures
from larm.store.log import LINKS_LOG, STORE_LOG, Position, put_in_place
from larm.store.page_file import PLAIN, found_file
from larm.store.reader import Bodies, lines_of
from larm.store.retention import Renewal
from larm.store.store_log import StoreEntry, parse_entry

Ranges = Sequence[tuple[int, int]]
"""Byte ranges of a file: first byte, and end (exclusive)."""


class Judge(Protocol):
    """The other sources about stored pages that confirm or replace log lines."""

    def is_last(self, entry: StoreEntry, body: bytes) -> bool:
        """Return True if the bytes are those of the page's last version, or if that is not known."""

    def confirms(self, entry: StoreEntry, body: bytes) -> bool:
        """Return True if every column of the line is confirmed."""

    def links(self, entry: StoreEntry, body: bytes) -> Sequence[bytes]:
        """Return the lines of links.log of a page."""

    def redirects(self) -> Sequence[bytes]:
        """Return the lines of links.log for start URLs and redirects."""


class SalvagedLogs(msgspec.Struct):
    """The result of `salvage_logs`."""

    position: Mapping[str, Any] = {}
    """Position of the log storage, for the checkpoint."""
    whole: dict[str, StoreEntry] = {}
    """Entries of the pages whose last version is whole, by access URL."""
    linked: set[str] = set()
    """Access URLs of pages that lost lines of links.log which can't be rebuilt."""
    versions: list[str] = []
    """Dropped lines of store.log: the URL, or the byte offset of an unreadable line."""


class _Bodies(Bodies):
    """Bodies that are empty if they are damaged."""

    def __init__(self, logs: Path, damaged: Mapping[Path, Ranges]) -> None:
        super().__init__(logs)
        self._path = logs
        self._damaged = damaged

    def read(self, entry: StoreEntry) -> bytes:
        """Return the stored bytes."""
        if entry.file and entry.place == PLAIN:
            path = found_file(self._path, entry.file, packed=False)
            if _overlaps(self._damaged.get(path, ()), entry.offset, entry.offset + entry.size):
                return b""
        with suppress(StorageError):
            return super().read(entry)
        return b""


def salvage_logs(
    logs: Path, noted: Mapping[str, Any], settings: LogSettings, damaged: Mapping[Path, Ranges], judge: Judge
) -> SalvagedLogs:
    """Write the logs again. Takes effect when the checkpoint has the returned position.

    ``damaged``: ranges with a wrong checksum, by file. Raises StorageError.
    """
    position = Position.read(noted)
    put_in_place(logs, position)
    found, out = SalvagedLogs(), bytearray()
    position, moving = _there(logs, position, damaged)
    bodies = _Bodies(logs, damaged)
    for place, line in _lines(logs / STORE_LOG, position.store):
        entry = _parsed(line)
        body = b"" if entry is None else bodies.read(entry)
        doubtful = _overlaps(damaged.get(logs / STORE_LOG, ()), place, place + len(line))
        lost = entry is None or (entry.file and not body) or (doubtful and not judge.confirms(entry, body))
        out.append(bool(lost))
        if lost:
            found.versions.append(f"byte {place} of {STORE_LOG}" if entry is None else entry.url)
        if entry is not None:
            found.whole.pop(entry.url, None)
            if lost and entry.file:
                moving.add(entry.file)
            elif not lost and judge.is_last(entry, body):
                found.whole[entry.url] = entry
    with disk_failures(logs):
        renewal = _SalvageRenewal(logs, position, settings, out, moving)
        renewal.prepare(bodies, damaged.get(logs / LINKS_LOG, ()), judge, found)
        found.position = renewal.done().noted()
    return found


def _there(logs: Path, position: Position, damaged: Collection[Path]) -> tuple[Position, set[int]]:
    """Return the position limited to existing bytes, and the numbers of damaged or shortened page files."""
    lengths = [*position.full, position.offset]
    sizes = [path.stat().st_size if (path := found_file(logs, x)).exists() else 0 for x in range(1, len(lengths) + 1)]
    left = [min(pair) for pair in zip(lengths, sizes, strict=True)]
    wrong = {x for x, (length, size) in enumerate(zip(lengths, left, strict=True), 1) if size < length}
    wrong |= {x for x in range(1, len(lengths) + 1) if found_file(logs, x) in damaged}
    number = position.page_file
    if not left[-1]:  # a new number: lines of the old file must not point into it
        left, number = [*left, 0], number + 1
    return msgspec.structs.replace(position, full=tuple(left[:-1]), offset=left[-1], page_file=number), wrong


class _SalvageRenewal(Renewal):
    def prepare(self, bodies: Bodies, links: Ranges, judge: Judge, found: SalvagedLogs) -> None:
        self._bodies = bodies
        self._damaged_links = links
        self._judge = judge
        self._found = found

    def _stored(self) -> Iterator[tuple[int, bytes]]:
        for n, (place, line) in enumerate(_lines(self._logs / STORE_LOG, self._position.store)):
            entry = None if self._out[n] else _parsed(line)
            if entry is None:
                continue
            yield place, self._moved(entry, line)
        self._pages.sync()

    def _linked(self) -> Iterator[tuple[int, bytes]]:
        """Yield the whole lines, then the missing lines of stored pages."""
        path, end, whole = self._logs / LINKS_LOG, self._position.links, self._found.whole
        pages, short = self._damaged_pages(path, end)
        there: dict[str, set[bytes]] = {}
        for place, line in _lines(path, end):
            if not _overlaps(self._damaged_links, place, place + len(line)):
                page = _page(line)
                if page in pages or page not in whole:
                    there.setdefault(page, set()).add(line)
                yield place, line
        for page in (page for page in whole if page in pages):
            known = there.get(page, set())
            lines = self._judge.links(whole[page], self._bodies.read(whole[page]))
            yield from ((end, line) for line in lines if line not in known)
        if pages or short:
            yield from ((end, line) for line in self._judge.redirects() if line not in there.get(_page(line), ()))
        self._found.linked = pages.difference(whole)

    def _damaged_pages(self, path: Path, end: int) -> tuple[set[str], bool]:
        """Return the pages that may have lost lines, and True if the log is shorter than noted.

        A damaged line belongs to the page that it names or to the page of a neighbouring line.
        """
        pages, seen = set[str](), set[str]()
        last, lost = "", False
        for place, line in _lines(path, end) if self._damaged_links else ():
            page, before = _page(line), lost
            lost = _overlaps(self._damaged_links, place, place + len(line))
            pages.update([page, last] if lost else [page] if before else [])
            last = page
        short = not path.exists() or path.stat().st_size < end
        if short:
            seen = {_page(line) for _, line in _lines(path, end)}
            pages |= self._found.whole.keys() - seen
        return pages, short


def _lines(path: Path, end: int) -> Iterator[tuple[int, bytes]]:
    """Return `lines_of` a log; nothing if the file is missing."""
    return lines_of(path, end) if path.exists() else iter(())


def _page(line: bytes) -> str:
    return line.partition(b"\t")[0].decode("utf-8", "replace")


def _parsed(line: bytes) -> StoreEntry | None:
    with suppress(ValueError):
        return parse_entry(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    return None


def _overlaps(ranges: Ranges, begin: int, end: int) -> bool:
    return any(first < end and begin < last for first, last in ranges)
