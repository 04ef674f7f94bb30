"""WarcFiles: the files of an archive: one is written, up to a size; the others are complete, each with its CDXJ index.

``NAME.warc.gz.open`` and ``NAME.cdxj.open`` lose their ends when they are complete; the index is sorted then. Owned by the
writer thread of the storage. What comes after the position of a checkpoint is cut off at the end of a record; a run never goes
on with a file of an earlier one, but completes it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.config.section import Count
from larm.kit.disk.append_file import AppendFile
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import cut_back, is_there, sync_directory
from larm.kit.disk.range_sums import Sums, damaged_ranges, read_sums, sums_of
from larm.store.archive.cdxj import Capture, cdxj_line, place_of
from larm.store.archive.names import OPEN, OURS


class Place(msgspec.Struct, frozen=True):
    """What a checkpoint notes."""

    file: str = ""
    """Name of the file that is written, without `OPEN`; empty: none."""
    length: Count = 0
    files: Count = 0
    """How many there were."""
    complete: Mapping[str, Count] = {}
    """Bytes of each that is complete. They may be moved away."""


class Entry(NamedTuple):
    """A record, and what the index says of it; the place is not known before it is written."""

    member: bytes
    capture: Capture | None = None


class WarcFiles:
    """Takes all that is behind ``place`` away. Every method may raise StorageError."""

    def __init__(  # noqa: PLR0917
        self,
        folder: Path,
        end: str,
        size: int,
        place: Place,
        wall: Callable[[], float],
        begin: Callable[[str], Sequence[Entry]],
        sums: Sums | None = None,
    ) -> None:
        """``end``: of names, such as ``.warc.gz``; ``begin``: of a file name the records that it begins with.

        ``sums``: gets the rows of what is written (`larm.kit.disk.range_sums`).
        """
        # constant after construction
        self._folder = folder
        self._end = end
        self._size = size
        self._wall = wall
        self._begin = begin
        self._sums = sums
        # only the writer thread
        self._complete = dict(place.complete)
        self._files = place.files
        self._warc: AppendFile | None = None
        self._index: AppendFile | None = None
        self._name = ""
        self._noted = 0  # bytes of the open file at the last commit
        with disk_failures(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._go_back(place)

    def prepare(self) -> None:
        """Before the records of an answer are made: begin a file, if there is none or the last one has its size."""
        if self._warc is not None and self._warc.length >= self._size:
            self._sync()
            self._finish()
        if self._warc is None:
            self._next()

    def append(self, entries: Sequence[Entry]) -> None:
        """Records that belong together, after `prepare`."""
        assert self._warc is not None  # noqa: S101
        assert self._index is not None  # noqa: S101
        for member, capture in entries:
            if capture is not None:
                placed = msgspec.structs.replace(capture, offset=self._warc.length, length=len(member), file=self._name)
                self._index.append(cdxj_line(placed).encode("utf-8", "replace"))
            self._warc.append(member)

    def commit(self) -> Place:
        """Make all durable."""
        self._sync()
        self._noted = self._warc.length if self._warc else 0
        return Place(self._name, self._noted, self._files, dict(self._complete))

    def close(self) -> None:
        """Complete the file that is written, unless something came after the last commit: nothing vouches for that."""
        if self._warc is not None and self._index is not None and self._warc.length == self._noted:
            self._finish()
        else:
            self._close()

    def _next(self) -> None:
        self._files += 1
        moment = datetime.fromtimestamp(self._wall(), UTC)
        stem = f"larm-{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03}-{self._files:05}"
        self._name, self._noted = stem + self._end, 0
        self._warc = AppendFile(self._folder / (self._name + OPEN), 0, sums=self._sums)
        self._index = AppendFile(self._folder / (stem + ".cdxj" + OPEN), 0, sums=self._sums)
        self.append(self._begin(self._name))

    def _sync(self) -> None:
        for file in (self._warc, self._index):
            if file is not None:
                file.sync()

    def _finish(self) -> None:
        assert self._warc is not None  # noqa: S101
        length = self._warc.length
        self._close()
        self._complete_file(self._name, length)
        self._name = ""

    def _close(self) -> None:
        """Close what is open: one of the two alone, where the disk was full for the other, and both, if one's close fails."""
        with ExitStack() as files:
            for file in (self._warc, self._index):
                if file is not None:
                    files.callback(file.close)
            self._warc = self._index = None

    def _complete_file(self, name: str, length: int) -> None:
        """Sort its index, and give both their names. Each step can be done again."""
        warc = self._folder / name
        index = self._folder / f"{_stem(name)}.cdxj"
        unsorted = index.with_name(index.name + OPEN)
        written = warc.with_name(name + OPEN)
        with disk_failures(warc):
            source = unsorted if unsorted.exists() else index
            lines = source.read_text(encoding="utf-8").splitlines(keepends=True) if source.exists() else []
            within = [line for line in lines if line.endswith("\n") and sum(place_of(line)) <= length]
            write_atomically(index, "".join(sorted(within)).encode())
            unsorted.unlink(missing_ok=True)
            if written.exists():
                written.rename(warc)
        sync_directory(self._folder)
        self._complete[name] = length

    def _go_back(self, place: Place) -> None:
        known = {_stem(name) for name in (*place.complete, place.file) if name}
        for path in self._folder.iterdir():
            if (found := OURS.fullmatch(path.name)) and found[1] not in known:
                path.unlink()
        for name, length in place.complete.items():
            if (self._folder / name).exists():
                cut_back(self._folder / name, length)
        if not place.file:
            return
        written = self._folder / (place.file + OPEN)
        complete = self._folder / place.file
        if not (written.exists() or complete.exists()):  # the last run has completed it, and it was moved away
            self._complete[place.file] = place.length
            return
        cut_back(written if written.exists() else complete, place.length)
        self._complete_file(place.file, place.length)


def _covered(folder: Path, place: Place) -> Iterator[tuple[Path, Path, bytes]]:
    """Yield the files that have sums and are there: the path when they were written, the one of now, and of an index its lines
    in the order in which they were written."""
    for name in filter(None, (*place.complete, place.file)):
        for file in (name, f"{_stem(name)}.cdxj"):
            written, path = folder / (file + OPEN), folder / file
            if is_there(written):
                yield written, written, b""
            elif is_there(path):
                yield written, path, b"" if file == name else _by_offset(path.read_bytes())


def _by_offset(index: bytes) -> bytes:
    try:
        lines = index.decode().splitlines(keepends=True)
        return "".join(sorted(lines, key=lambda line: place_of(line)[0])).encode()
    except ValueError:  # it is damaged
        return index


def damaged_archive(folder: Path, place: Place, store: BlockStore) -> Iterator[tuple[Path, int, int]]:
    """Yield where files are damaged: path, begin and end; ``store`` has the sums. Raises StorageError."""
    for written, path, data in _covered(folder, place):
        yield from ((path, each.begin, each.end) for each in damaged_ranges(path, read_sums(store, written), data))


def sums_of_archive(folder: Path, place: Place) -> Sums:
    """Return the rows of all files, read again. Raises StorageError."""
    sums: Sums = {}
    for written, path, data in _covered(folder, place):
        sums |= sums_of(path, len(data) or path.stat().st_size, written, data)
    return sums


def _stem(name: str) -> str:
    return name.partition(".warc.")[0]
