"""Page files: ``logs/pagefile_<x>.pfl``, the bodies of all pages one after the other (LARM-94).

x counts from 1. Written by the log storage (on its writer thread), read by `larm.storage.reader`. A body never spans two files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import cut_back, sync_directory

_NAME = re.compile(r"pagefile_([1-9][0-9]*)\.pfl")


def page_file(logs: Path, number: int) -> Path:
    """Path of page file ``number``."""
    return logs / f"pagefile_{number}.pfl"


class PageFiles:
    """All page files of a crawl; the last one is open. Files and bytes after (``number``, ``length``) are removed.

    ``full``: lengths of the files before it; one that is shorter was cut. One of length 0 is not needed any more, and removed.

    ``size``: a file is closed when it would exceed this many bytes; a larger body gets a file of its own.
    Methods raise StorageError.
    """

    def __init__(self, logs: Path, size: int, full: Sequence[int] = (), number: int = 1, length: int = 0) -> None:
        unused = {x for x, noted in enumerate(full, 1) if not noted}
        _remove(logs, number, unused)
        for x, noted in enumerate(full, 1):
            if x not in unused:
                cut_back(page_file(logs, x), noted)
        # constant after construction
        self._logs = logs
        self._size = size
        # only the writer thread
        self.full = list(full)
        """Bytes of each file before the last."""
        self.number = number
        self._file = AppendFile(page_file(logs, number), length)

    @property
    def length(self) -> int:
        """Bytes of the last file."""
        return self._file.length

    def append(self, body: bytes) -> tuple[int, int]:
        """Store a body; returns the number of its file and its offset there."""
        if self._file.length + len(body) > self._size:
            self.begin_next()
        offset = self._file.length
        self._file.append(body)
        return self.number, offset

    def flush(self) -> None:
        """Give everything to the operating system."""
        self._file.flush()

    def sync(self) -> None:
        """Give everything to the disk."""
        self._file.sync()

    def close(self) -> None:
        """Flush and close."""
        self._file.close()

    def begin_next(self) -> None:
        """A new file, unless the last one is empty."""
        if not self._file.length:
            return
        self._file.sync()  # a later commit syncs only the last file
        self._file.close()
        self.full.append(self._file.length)
        self.number += 1
        self._file = AppendFile(page_file(self._logs, self.number), 0)
        sync_directory(self._logs)


def _remove(logs: Path, number: int, unused: Collection[int]) -> None:
    """Remove later files and those that are not used any more; all others must be there."""
    try:
        found = {int(match[1]): path for path in logs.iterdir() if (match := _NAME.fullmatch(path.name))}
        for x, path in found.items():
            if x > number or x in unused:
                path.unlink()
    except OSError as error:
        raise disk_failure(logs, error) from error
    missing = [page_file(logs, x) for x in range(1, number) if x not in found and x not in unused]
    if missing:
        raise StorageError(f"{missing[0]}: gone, but pages are stored in it; put it back, or start over with --fresh")
