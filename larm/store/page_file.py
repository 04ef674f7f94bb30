"""Page files: ``logs/pagefile_<x>.pfl``, the bodies of all pages one after the other (LARM-94), or ``.pfl.zst``, the same in
frames (`larm.store.body_frames`).

x counts from 1. Written by the log storage (on its writer thread), read by `larm.store.reader`. A body never spans two files,
nor two frames. A crawl may have files of both kinds: the setting holds for new ones.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from larm.errors import REPAIR, StorageError
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import cut_back
from larm.kit.disk.range_sums import Sums
from larm.store.body_frames import BLOCK, pack

_NAME = re.compile(r"pagefile_([1-9][0-9]*)\.pfl(\.zst)?")
PLAIN = -1
"""The place of a body in its frame, of one that is in none."""


def page_file(logs: Path, number: int, *, packed: bool) -> Path:
    """Path of page file ``number``."""
    return logs / f"pagefile_{number}.pfl{'.zst' if packed else ''}"


def found_file(logs: Path, number: int, *, packed: bool = True) -> Path:
    """The same, of the kind that is there; as ``packed`` says where there is none."""
    other = page_file(logs, number, packed=not packed)
    return other if other.exists() else page_file(logs, number, packed=packed)


class PageFiles:
    """All page files of a crawl; the last one is open. Files and bytes after (``number``, ``length``) are removed.

    ``full``: lengths of the files before it; one that is shorter was cut. One of length 0 is not needed any more, and removed.

    ``size``: a file is closed when it would exceed this many bytes; a larger body gets a file of its own.
    ``packed``: bodies go into frames, by one of which a file may exceed it. Methods raise StorageError.
    ``sums``: gets the checksums of what is written (`larm.kit.disk.range_sums`).
    """

    def __init__(  # noqa: PLR0917  where it is to go on
        self,
        logs: Path,
        size: int,
        full: Sequence[int] = (),
        number: int = 1,
        length: int = 0,
        sums: Sums | None = None,
        *,
        packed: bool = False,
    ) -> None:
        unused = {x for x, noted in enumerate(full, 1) if not noted}
        _remove(logs, number if length else number - 1, unused, packed=packed)
        for x, noted in enumerate(full, 1):
            if x not in unused:
                cut_back(found_file(logs, x, packed=packed), noted)
        # constant after construction
        self._logs = logs
        self._size = size
        self._packed = packed
        self._sums = sums
        # only the writer thread
        self.full = list(full)
        """Bytes of each file before the last."""
        self.number = number
        self._file = AppendFile(found_file(logs, number, packed=packed), length, sums=self._sums)
        self._block: list[bytes] = []
        self._held = 0  # bytes of the block
        if length and self._file.path != page_file(logs, number, packed=packed):
            self.begin_next()

    @property
    def length(self) -> int:
        """Bytes of the last file, as `flush` leaves it."""
        return self._file.length

    def append(self, body: bytes) -> tuple[int, int, int]:
        """Store a body; returns the number of its file, its offset there, or that of its frame, and its place in that."""
        if self._held and self._held + len(body) > BLOCK:
            self._end_frame()
        if not self._held and self._file.length + len(body) > self._size:
            self.begin_next()
        if not self._packed:
            offset = self._file.length
            self._file.append(body)
            return self.number, offset, PLAIN
        found = self.number, self._file.length, self._held
        self._block.append(body)
        self._held += len(body)
        if self._held >= BLOCK:
            self._end_frame()
        return found

    def flush(self) -> None:
        """Give everything to the operating system."""
        self._end_frame()
        self._file.flush()

    def sync(self) -> None:
        """Give everything to the disk."""
        self._end_frame()
        self._file.sync()

    def close(self) -> None:
        """Flush and close."""
        try:
            self._end_frame()
        finally:
            self._file.close()

    def _end_frame(self) -> None:
        if self._held:
            block, self._block, self._held = self._block, [], 0
            self._file.append(pack(b"".join(block)))

    def begin_next(self) -> None:
        """A new file, unless the last one is empty."""
        self._end_frame()
        if not self._file.length:
            return
        self._file.sync()  # a later commit syncs only the last file
        self._file.close()
        self.full.append(self._file.length)
        self.number += 1
        self._file = AppendFile(page_file(self._logs, self.number, packed=self._packed), 0, sums=self._sums)


def _remove(logs: Path, number: int, unused: Collection[int], *, packed: bool) -> None:
    """Remove later files and those that are not used any more; all others must be there."""
    with disk_failures(logs):
        found = {(int(match[1]), path) for path in logs.iterdir() if (match := _NAME.fullmatch(path.name))}
        for x, path in found:
            if x > number or x in unused:
                path.unlink()
    there = {x for x, _ in found} | set(unused)
    missing = [found_file(logs, x, packed=packed) for x in range(1, number) if x not in there]
    if missing:
        raise StorageError(f"{missing[0]}: gone, but pages are stored in it; put it back, or {REPAIR}")
