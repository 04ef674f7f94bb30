"""LogStorage: ``logs/store.log``, ``logs/links.log`` and the page files (LARM-89 to LARM-94).

Fit for ``tail -f``: whole lines, written at every commit or when a megabyte has come together. A line of store.log appears only
after the body and the links that belong to it. The body of a page that says ``noarchive`` is not kept.
Made by wiring; everything else happens on its writer thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from larm.config import LogStorage as Settings
from larm.config.section import Count, Positive
from larm.errors import StorageError
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import check_length, sync_directory
from larm.model.document import Visit
from larm.storage.page_file import PageFiles, page_file
from larm.storage.store_log import StoreEntry, format_entry, format_links

STORE_LOG = "store.log"
LINKS_LOG = "links.log"


class _Position(msgspec.Struct, frozen=True):
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
    """Bytes of each page file before the last."""

    @classmethod
    def read(cls, position: Mapping[str, Any] | None) -> _Position:
        """From a checkpoint; None is a new crawl."""
        if position is None:
            return cls(0, 0, 1, 0)
        try:
            return msgspec.convert(dict(position), cls)
        except msgspec.ValidationError as error:
            raise StorageError(f"the checkpoint's position of the log storage is damaged ({error}); use --fresh") from error


class LogStorage:
    """Writes below ``directory/logs``, which it makes. Implements `larm.seams.Storage`."""

    name = "log"

    def __init__(self, directory: Path, settings: Settings) -> None:
        # constant after construction
        self._logs = directory / "logs"
        self._settings = settings
        # only the writer thread; None before open
        self._files: _Files | None = None

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Cut all files back to ``position``, or remove them (None). Raises StorageError if one is shorter than noted."""
        try:
            self._logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_failure(self._logs, error) from error
        self._files = _Files(self._logs, self._settings.page_file_size, _Position.read(position))

    def store(self, visits: Sequence[Visit]) -> None:
        """Append the links, then the body and the line of each page."""
        files = self._open_files()
        for visit in visits:
            if visit.links and self._settings.links:
                files.links.append(format_links(visit.page, visit.links))
            if visit.document is not None and visit.url is not None:
                entry = StoreEntry(
                    visit.referrer,
                    visit.url.access,
                    visit.url.normalised,
                    visit.link_type,
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
        position = _Position(
            files.store.length, files.links.length, files.pages.number, files.pages.length, tuple(files.pages.full)
        )
        return msgspec.structs.asdict(position)

    def close(self) -> None:
        """Write what is left and close all files."""
        if self._files is not None:
            self._files.close()

    def _open_files(self) -> _Files:
        if self._files is None:
            raise StorageError(f"{self._logs}: the log storage was not opened")
        return self._files


def check_lengths(directory: Path, position: Mapping[str, Any]) -> None:
    """All files have what the checkpoint noted. Changes nothing. Raises StorageError for the first one that was cut."""
    logs, noted = directory / "logs", _Position.read(position)
    check_length(logs / STORE_LOG, noted.store)
    check_length(logs / LINKS_LOG, noted.links)
    for number, length in enumerate((*noted.full, noted.offset), 1):
        check_length(page_file(logs, number), length)


class _Files:
    """The open files. Bodies and links are always written before the lines of store.log that speak of them."""

    def __init__(self, logs: Path, page_file_size: int, position: _Position) -> None:
        with ExitStack() as undo:
            self.pages = PageFiles(logs, page_file_size, position.full, position.page_file, position.offset)
            undo.callback(self.pages.close)
            self.links = AppendFile(logs / LINKS_LOG, position.links)
            undo.callback(self.links.close)
            self.store = AppendFile(logs / STORE_LOG, position.store, auto=False)
            undo.callback(self.store.close)
            sync_directory(logs)
            undo.pop_all()

    def flush(self) -> None:
        self.pages.flush()
        self.links.flush()
        self.store.flush()

    def sync(self) -> None:
        self.pages.sync()
        self.links.sync()
        self.store.sync()

    def close(self) -> None:
        try:
            self.pages.close()
        finally:
            try:
                self.links.close()
            finally:
                self.store.close()
