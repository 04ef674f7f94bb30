"""StoreLog: reads what the log storage has written (LARM-95), and `Bodies` the pages in its page files.

Used by ``larm cat``, by tools and by tests; `lines_of` and `entries_of` by those who write the logs again. Works while a crawl
writes: a last line without its end is left out. Any thread; `Bodies` only keeps the last frame that it read.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from larm.errors import StorageError, UsageError
from larm.kit.counted import counted
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import is_there
from larm.kit.logs.columns import clean
from larm.store.body_frames import read_frame
from larm.store.log import STORE_LOG
from larm.store.page_file import PLAIN, page_file
from larm.store.store_log import StoreEntry, parse_entry

T = TypeVar("T")


class LeftOut:
    """The damaged records that a reading command leaves out. Used on one thread."""

    def __init__(self) -> None:
        self._errors: dict[object, StorageError] = {}

    def __len__(self) -> int:
        return len(self._errors)

    def read(self, record: object, read: Callable[[], T]) -> T | None:
        """Return what ``read`` returns; None, and note it, where it raises StorageError. ``record``: its name or place."""
        try:
            return read()
        except StorageError as error:
            self._errors.setdefault(record, error)
            return None

    def refuse(self) -> None:
        """Raise StorageError if something was left out: when everything else was written."""
        if self._errors:
            first = str(next(iter(self._errors.values()))).partition("; ")[0]
            left = f"{counted(len(self), 'damaged record')} left out, the first: {first}"
            raise StorageError(f"{left}; 'larm repair' drops what is damaged, and the next run fetches it")


class Bodies:
    """Those of the folder ``logs``."""

    def __init__(self, logs: Path) -> None:
        # constant after construction
        self._logs = logs
        # replaced as a whole
        self._last: tuple[Path, int, bytes] | None = None

    def read(self, entry: StoreEntry) -> bytes:
        """The stored bytes of a page; empty where none were stored. Raises StorageError."""
        if not entry.file:
            return b""
        path = page_file(self._logs, entry.file, packed=entry.place != PLAIN)
        with disk_failures(path):
            if entry.place == PLAIN:
                with path.open("rb") as file:
                    file.seek(entry.offset)
                    body = file.read(entry.size)
            else:
                body = self._frame(path, entry.offset)[entry.place : entry.place + entry.size]
        if len(body) < entry.size:
            raise StorageError(f"{path}: ends before the page {entry.url} does: it was cut; restore it, or crawl again")
        return body

    def _frame(self, path: Path, offset: int) -> bytes:
        """Pages that were stored one after the other are mostly read so, too."""
        last = self._last
        if last is None or last[:2] != (path, offset):
            with path.open("rb") as file:
                last = self._last = path, offset, read_frame(file, offset, path)[0]
        return last[2]


_BLOCK = 8_000_000  # bytes searched at a time


class StoreLog:
    """The entries of ``directory/logs/store.log``, oldest first, those from the byte ``begin`` on and before the byte ``end``.

    Raises UsageError if there is no such file.

    A line or a page file that is not as it should be is a StorageError that names the file.

    ``left_out``: gets such lines, which are then passed over.
    """

    def __init__(self, directory: Path, end: int | None = None, begin: int = 0, left_out: LeftOut | None = None) -> None:
        # constant after construction
        self._begin = begin
        self._end = end
        self._left_out = left_out
        self._logs = directory / "logs"
        self._path = self._logs / STORE_LOG
        self._bodies = Bodies(self._logs)
        if not is_there(self._path):
            raise UsageError(f"no {STORE_LOG} in {self._logs}: 'larm crawl URL' makes one; --dir names another directory")

    def __iter__(self) -> Iterator[StoreEntry]:
        if self._left_out is None:
            yield from (entry for _, entry, _ in entries_of(self._path, self._end, self._begin))
            return
        for number, (place, line) in enumerate(lines_of(self._path, self._end, self._begin), 1):
            entry = self._left_out.read(place, partial(_parsed, self._path, line, f"line {number}"))
            if entry is not None:
                yield entry

    def latest(self) -> Iterator[StoreEntry]:
        """The last entry of each page. The log is read twice, for some 100 bytes of memory a page."""
        last = {hash(entry.normalised): n for n, entry in enumerate(self)}
        return (entry for n, entry in enumerate(self) if last.get(hash(entry.normalised)) == n)

    def body(self, entry: StoreEntry) -> bytes:
        """The stored bytes of a page; empty where none were stored."""
        return self._bodies.read(entry)

    def find(self, url: str) -> StoreEntry | None:
        """The latest entry whose URL, as fetched or normalised, is ``url``. Reads the file backwards, about 1 GB/s."""
        needle = f"\t{clean(url)}\t".encode("utf-8", "replace")
        with _open(self._path) as file:
            for block, start in _blocks_backwards(file):
                end = len(block)
                while (hit := block.rfind(needle, 0, end)) >= 0:
                    first = block.rfind(b"\n", 0, hit) + 1
                    last = block.index(b"\n", hit)
                    parse = partial(_parsed, self._path, block[first:last], f"byte {start + first}")
                    entry = parse() if self._left_out is None else self._left_out.read(start + first, parse)
                    if entry is not None and needle[1:-1] in (entry.url.encode(), entry.normalised.encode()):
                        return entry
                    end = first  # it was the title, or some other column
        return None


def lines_of(path: Path, end: int | None = None, begin: int = 0) -> Iterator[tuple[int, bytes]]:
    """Each whole line of a log from the byte ``begin`` on and before the byte ``end``, and where it begins.

    Raises StorageError.
    """
    if end == 0:  # nothing may be there yet
        return
    with _open(path) as file:
        place = file.seek(begin)
        for line in file:
            if not line.endswith(b"\n") or (end is not None and place + len(line) > end):
                return
            yield place, line
            place += len(line)


def entries_of(path: Path, end: int | None = None, begin: int = 0) -> Iterator[tuple[int, StoreEntry, bytes]]:
    """The same of store.log: place, entry and line."""
    for number, (place, line) in enumerate(lines_of(path, end, begin), 1):
        yield place, _parsed(path, line, f"line {number}"), line


def _open(path: Path) -> BinaryIO:
    with disk_failures(path):
        return path.open("rb")


def _parsed(path: Path, line: bytes, where: str) -> StoreEntry:
    try:
        return parse_entry(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    except ValueError as error:
        raise StorageError(f"{path}: {where} can't be read: {error}") from error


def _blocks_backwards(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines with their offsets, the last block first. A last line without its end is left out."""
    start = file.seek(0, os.SEEK_END)
    carry = b""  # the end of the line that the block before it begins
    newest = True
    while start:
        size = min(_BLOCK, start)
        start -= size
        file.seek(start)
        block = file.read(size) + carry
        if newest:
            block = block[: block.rfind(b"\n") + 1]
        newest = newest and not block
        cut = block.find(b"\n") + 1 if start else 0  # the first line may have begun earlier
        if start and not cut:
            carry = block
            continue
        carry = block[:cut]
        if cut < len(block):
            yield block[cut:], start + cut
