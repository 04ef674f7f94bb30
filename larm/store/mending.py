"""Mending: store.log, links.log and page files without what is damaged in them, for ``larm repair``. Main thread.

Lines that are damaged are left out, and those of which the stored bytes are lost. Of a range of which only the checksum tells
that it is damaged, those lines stay that agree with what else is known of their pages. All is written as `larm.store.retention`
does it: beside the old files, which count until the checkpoint knows the new ones.
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
from larm.store.store_log import StoreEntry, format_entry, parse_entry

Ranges = Sequence[tuple[int, int]]
"""Bytes of a file: the first, and the one behind the last."""


class Judge(Protocol):
    """What else is known of the pages."""

    def is_last(self, entry: StoreEntry, body: bytes) -> bool:
        """Return True if this is the last version of a page, by its bytes; also where that is not known."""

    def confirms(self, entry: StoreEntry, body: bytes) -> bool:
        """Return True if every column is known to be right."""

    def links(self, entry: StoreEntry, body: bytes) -> Sequence[bytes]:
        """Return the lines of links.log of a page."""

    def redirects(self) -> Sequence[bytes]:
        """Return the lines of links.log that are of no stored page: of start URLs and of redirects."""


class MendedLogs(msgspec.Struct):
    """What is left."""

    position: Mapping[str, Any] = {}
    """For the checkpoint."""
    whole: dict[str, StoreEntry] = {}
    """The pages whose last version is there, as it was stored, by their access forms."""
    linked: set[str] = set()
    """Access forms of pages that have lost lines of links.log, and are not stored."""
    versions: list[str] = []
    """Lines of store.log that were left out: the address, or the place where that can't be read."""


class _Bodies(Bodies):
    """Empty where they are damaged."""

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


def mend_logs(
    logs: Path, noted: Mapping[str, Any], settings: LogSettings, damaged: Mapping[Path, Ranges], judge: Judge
) -> MendedLogs:
    """Write them anew; nothing of it counts before the position is in the checkpoint.

    ``damaged``: of each file the bytes that do not agree with their checksum. Raises StorageError.
    """
    position = Position.read(noted)
    put_in_place(logs, position)
    found, out = MendedLogs(), bytearray()
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
        renewal = _MendedRenewal(logs, position, settings, out, moving)
        renewal.mend(bodies, damaged.get(logs / LINKS_LOG, ()), judge, found)
        found.position = renewal.done().noted()
    return found


def _there(logs: Path, position: Position, damaged: Collection[Path]) -> tuple[Position, set[int]]:
    """What there is of the page files, and the numbers of those that are not as they should be."""
    lengths = [*position.full, position.offset]
    sizes = [path.stat().st_size if (path := found_file(logs, x)).exists() else 0 for x in range(1, len(lengths) + 1)]
    left = [min(pair) for pair in zip(lengths, sizes, strict=True)]
    wrong = {x for x, (length, size) in enumerate(zip(lengths, left, strict=True), 1) if size < length}
    wrong |= {x for x in range(1, len(lengths) + 1) if found_file(logs, x) in damaged}
    number = position.page_file
    if not left[-1]:  # not to be written to: pages that were in it have its number
        left, number = [*left, 0], number + 1
    return msgspec.structs.replace(position, full=tuple(left[:-1]), offset=left[-1], page_file=number), wrong


class _MendedRenewal(Renewal):
    def mend(self, bodies: Bodies, links: Ranges, judge: Judge, found: MendedLogs) -> None:
        self._bodies = bodies
        self._damaged_links = links
        self._judge = judge
        self._found = found

    def _stored(self) -> Iterator[tuple[int, bytes]]:
        for n, (place, line) in enumerate(_lines(self._logs / STORE_LOG, self._position.store)):
            entry = None if self._out[n] else _parsed(line)
            if entry is None:
                continue
            if entry.file in self._moving:
                file, offset, inside = self._pages.append(self._bodies.read(entry))
                moved = entry._replace(file=file, offset=offset, place=inside)
                line = format_entry(moved).encode("utf-8", "replace")  # noqa: PLW2901
            yield place, line
        self._pages.sync()

    def _linked(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are whole, and those of the stored pages that are missing."""
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
        """Pages that may have lost lines, and whether the log is shorter than it was.

        A line that is damaged belongs to the page that it names, or to that of a neighbour.
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
    """As `lines_of`; nothing where the file is gone."""
    return lines_of(path, end) if path.exists() else iter(())


def _page(line: bytes) -> str:
    return line.partition(b"\t")[0].decode("utf-8", "replace")


def _parsed(line: bytes) -> StoreEntry | None:
    with suppress(ValueError):
        return parse_entry(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    return None


def _overlaps(ranges: Ranges, begin: int, end: int) -> bool:
    return any(first < end and begin < last for first, last in ranges)
