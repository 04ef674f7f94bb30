"""LogStorage: ``logs/store.log``, ``logs/links.log`` and the page files (LARM-89 to LARM-94).

Fit for ``tail -f``: whole lines, written at every commit or when a megabyte has come together. A line of store.log appears only
after the body and the links that belong to it. The body of a page that says ``noarchive`` is not kept.
Made by wiring; everything else happens on its writer thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from larm.config import Keep, LogSettings
from larm.config.section import Count, Positive
from larm.errors import REPAIR, StorageError
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import check_length, is_there, sync_directory
from larm.kit.disk.range_sums import Sums, damaged_ranges, read_sums, sums_of, take_sums
from larm.model.document import Visit
from larm.model.message import SITEMAP
from larm.seams import Clock
from larm.store.page_file import PageFiles, found_file
from larm.store.store_log import StoreEntry, format_entry, format_links

STORE_LOG = "store.log"
LINKS_LOG = "links.log"
KEEP_ALL = Keep()


NEW = ".new"
"""At the end of the name of a log that is to take the place of the one without it (`larm.store.retention`)."""


class Day(NamedTuple):
    """Where the logs were when the first thing of a day was stored."""

    day: int
    """Since 1970."""
    store: int
    """Bytes of store.log."""
    links: int
    """Bytes of links.log."""


class Position(msgspec.Struct, frozen=True):
    """What a checkpoint notes of the log storage."""

    store: Count
    """Bytes of store.log."""
    links: Count
    """Bytes of links.log."""
    page_file: Positive
    """Number of the last page file."""
    offset: Count
    """Bytes of the last page file."""
    full: tuple[Count, ...] = ()
    """Bytes of each page file before the last; 0: nothing was left of it, and it is gone."""
    dead: tuple[tuple[Count, Count], ...] = ()
    """Bytes of versions that were taken out of store.log and are still in a page file: its number, and how many."""
    days: tuple[Day, ...] = ()
    """Where ``storage.log.keep`` is set: what is of which day."""
    renewed: bool = False
    """Logs were made anew, and this is about the new ones, which may not be in their place yet."""

    def noted(self) -> Mapping[str, Any]:
        """For the checkpoint."""
        said: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in said.items() if value or name not in ("days", "dead", "renewed")}

    @classmethod
    def read(cls, position: Mapping[str, Any] | None) -> Position:
        """From a checkpoint; None is a new crawl."""
        if position is None:
            return cls(0, 0, 1, 0)
        try:
            return msgspec.convert(dict(position), cls)
        except msgspec.ValidationError as error:
            raise StorageError(f"the checkpoint's position of the log storage is damaged ({error}); {REPAIR}") from error


def put_in_place(logs: Path, position: Position) -> None:
    """New logs take the place of the old ones where a checkpoint is about them; else they are nobody's. Raises StorageError.

    Of another length than the checkpoint says they are not those that it is about.
    """
    with disk_failures(logs):
        for name, length in ((STORE_LOG, position.store), (LINKS_LOG, position.links)):
            new = logs / (name + NEW)
            if _is_meant(new, position, length):
                new.replace(logs / name)
            else:
                new.unlink(missing_ok=True)
        if logs.is_dir():
            sync_directory(logs)


def _is_meant(new: Path, position: Position, length: int) -> bool:
    """Whether the position is about this new log, and not about the one whose place it is to take."""
    return position.renewed and new.exists() and new.stat().st_size == length


class LogStorage:
    """Writes below ``directory/logs``, which it makes. Implements `larm.seams.Storage`."""

    name = "log"

    def __init__(self, directory: Path, settings: LogSettings, clock: Clock, *, marked: bool = False) -> None:
        """``marked``: lines of links.log say which links are not followed."""
        # constant after construction
        self._marked = marked
        self._logs = directory / "logs"
        self._settings = settings
        self._clock = clock
        # only the writer thread; None before open
        self._files: _Files | None = None
        self._days: list[Day] = []
        self._dead: tuple[tuple[int, int], ...] = ()
        self._sums: Sums = {}

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Cut all files back to ``position``, or remove them (None). Raises StorageError if one is shorter than noted."""
        with disk_failures(self._logs):
            self._logs.mkdir(parents=True, exist_ok=True)
        known = Position.read(position)
        put_in_place(self._logs, known)
        self._files = _Files(self._logs, self._settings, known, self._sums)
        self._days, self._dead = list(known.days), known.dead

    def store(self, visits: Sequence[Visit]) -> None:
        """Append the links, then the body and the line of each page."""
        files = self._open_files()
        if self._settings.keep != KEEP_ALL:
            today = int(self._clock.wall() // 86_400)
            if not self._days or self._days[-1].day < today:
                self._days.append(Day(today, files.store.length, files.links.length))
        for visit in visits:
            if visit.links and self._settings.links:
                files.links.append(format_links(visit.page, visit.links, marked=self._marked))
            if visit.document is not None and visit.url is not None:
                entry = StoreEntry(
                    visit.referrer,
                    visit.url.access,
                    visit.url.normalised,
                    visit.link_type & SITEMAP,
                    visit.status,
                    visit.document.mime,
                    len(visit.body),
                    visit.document.title,
                    *(files.pages.append(visit.body) if visit.body and visit.document.archive else ()),
                )
                files.store.append(format_entry(entry).encode("utf-8", "replace"))
        if files.store.full:
            files.flush()

    def commit(self) -> Mapping[str, Any]:
        """Write and sync all files; the position is their lengths."""
        files = self._open_files()
        files.sync()
        full, days = tuple(files.pages.full), tuple(self._days)
        pages = files.pages
        return Position(files.store.length, files.links.length, pages.number, pages.length, full, self._dead, days).noted()

    def checkpoint_rows(self) -> Sums:
        """Return the checksums of what the last commit made durable (`larm.kit.disk.range_sums`)."""
        return take_sums(self._sums)

    def close(self) -> None:
        """Write what is left and close all files."""
        if self._files is not None:
            self._files.close()

    def _open_files(self) -> _Files:
        if self._files is None:
            raise StorageError(f"{self._logs}: the log storage was not opened")
        return self._files


def covered_files(logs: Path, position: Position) -> Iterator[tuple[str, Path, int]]:
    """Yield logs and page files: name, path and noted length. New logs may not be in their place yet."""
    for name, length in ((STORE_LOG, position.store), (LINKS_LOG, position.links)):
        new = logs / (name + NEW)
        yield name, new if _is_meant(new, position, length) else logs / name, length
    for number, length in enumerate((*position.full, position.offset), 1):
        path = found_file(logs, number)
        yield path.name, path, length


def sums_of_logs(logs: Path, noted: Mapping[str, Any] | None) -> Sums:
    """Return the rows of all files that have any, read again; ``noted``: the position of the checkpoint that they go into."""
    files = covered_files(logs, Position.read(noted))
    return {key: row for name, path, length in files if length for key, row in sums_of(path, length, logs / name).items()}


def damaged_logs(logs: Path, noted: Mapping[str, Any], store: BlockStore) -> Iterator[tuple[Path, int, int]]:
    """Yield where logs and page files are damaged: path, begin and end; ``store`` has the sums. Raises StorageError."""
    for name, path, length in covered_files(logs, Position.read(noted)):
        if is_there(path) and (ranges := [each for each in read_sums(store, logs / name) if each.end <= length]):
            yield from ((path, each.begin, each.end) for each in damaged_ranges(path, ranges))


def check_lengths(directory: Path, position: Mapping[str, Any]) -> None:
    """All files have what the checkpoint noted. Changes nothing. Raises StorageError for the first one that was cut."""
    for _, path, length in covered_files(directory / "logs", Position.read(position)):
        check_length(path, length)


class _Files:
    """The open files. Bodies and links are always written before the lines of store.log that speak of them."""

    def __init__(self, logs: Path, settings: LogSettings, position: Position, sums: Sums) -> None:
        with ExitStack() as undo:
            self.pages = PageFiles(
                logs,
                settings.page_file_size,
                position.full,
                position.page_file,
                position.offset,
                sums,
                packed=settings.compress,
            )
            undo.callback(self.pages.close)
            self.links = AppendFile(logs / LINKS_LOG, position.links, sums=sums)
            undo.callback(self.links.close)
            self.store = AppendFile(logs / STORE_LOG, position.store, auto=False, sums=sums)
            undo.callback(self.store.close)
            undo.pop_all()

    def flush(self) -> None:
        for files in (self.pages, self.links, self.store):
            files.flush()

    def sync(self) -> None:
        for files in (self.pages, self.links, self.store):
            files.sync()

    def close(self) -> None:
        with ExitStack() as last_first:
            for files in (self.store, self.links, self.pages):
                last_first.callback(files.close)
