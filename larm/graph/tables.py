"""What a refresh counts and sorts: distinct numbers, anchor texts, links by their targets. One thread.

None of them holds in memory what grows with the number of links: that is in files without a name (`Spool`).
"""

import os
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import xxhash

from larm.errors import StorageError
from larm.graph import columns
from larm.graph.columns import Column, zeros
from larm.kit.disk.disk_failure import disk_failure, disk_failures

_PENDING = 1_000_000
"""Numbers that wait to be sorted in."""
_BUCKET = 500_000
"""Links that are sorted at a time: 12 bytes each, and 8 in their order."""
_MOST = 200
"""Files at a time."""
_MEMORY = 4_000_000
"""Bytes that are not worth a file."""


class Spool:
    """Columns, to be read any number of times in the order in which they were added."""

    def __init__(self, directory: Path, memory: int | None = None) -> None:
        """A file in ``directory``, where there is more than ``memory``."""
        # constant after construction
        self._directory = directory
        self._file = tempfile.SpooledTemporaryFile(memory or _MEMORY, dir=str(directory))  # noqa: SIM115  closed by close()
        # only one thread
        self._columns: list[tuple[str, int]] = []

    def add(self, *columns: Column) -> None:
        """Some more. Raises StorageError, as all of it."""
        with disk_failures(self._directory):
            self._file.seek(0, os.SEEK_END)
            for column in columns:
                self._file.write(column)
                self._columns.append((column.format, column.nbytes))

    def __iter__(self) -> Iterator[Column]:
        """All, one after the other."""
        with disk_failures(self._directory):
            self._file.seek(0)
        for kind, size in self._columns:
            with disk_failures(self._directory):
                data = self._file.read(size)
            if len(data) != size:
                raise StorageError(f"{self._directory}: a temporary file has changed; check the disk")
            yield memoryview(data).cast(kind)  # type: ignore[call-overload]  # it is the format of a column

    def close(self) -> None:
        """Let go of the file; may be called at any time."""
        with suppress(OSError):  # what it still holds may not find room on the disk
            self._file.close()


class Unique:
    """Distinct numbers, sorted."""

    def __init__(self) -> None:
        # only one thread
        self._all = zeros("Q", 0)
        self._pending: list[Column] = []
        self._waiting = 0

    def add(self, numbers: Column) -> None:
        """Some more, uint64."""
        self._pending.append(numbers)
        self._waiting += len(numbers)
        if self._waiting > max(_PENDING, len(self._all) // 2):
            self.all()

    def all(self) -> Column:
        """Those so far."""
        self._all = columns.distinct(self._all, self._pending)
        self._pending, self._waiting = [], 0
        return self._all


class Anchors:
    """Numbers for texts: two with the same 64 bits of hash are one."""

    def __init__(self, directory: Path) -> None:
        """``directory`` has room for `Spool`."""
        # only one thread
        self._unique = Unique()
        self._of_blocks = Spool(directory)
        self._hashes = zeros("Q", 0)
        self._offsets = zeros("Q", 0)
        self._end = 1

    def meet(self, texts: bytes) -> None:
        """First, the texts of all blocks, in their order."""
        hashes = memoryview(array("Q", map(xxhash.xxh3_64_intdigest, texts.split(b"\n"))))
        self._of_blocks.add(hashes)
        self._unique.add(hashes)

    def known(self) -> None:
        """All have been met: they have numbers now."""
        self._hashes = self._unique.all()
        self._offsets = zeros("Q", len(self._hashes))

    def numbers(self) -> Iterator[Column]:
        """Of each block's texts, uint32."""
        return (columns.places(self._hashes, hashes) for hashes in self._of_blocks)

    def new_texts(self, texts: bytes, numbers: Column) -> bytes:
        """What is to be written of a block's texts: each line that was not written before."""
        offsets, end = self._offsets, self._end
        kept = [b""] if end == 1 else []
        new = columns.zeros_at(offsets, numbers)
        lines = texts.split(b"\n") if new else []
        for place in new:
            offsets[numbers[place]] = end
            end += len(lines[place]) + 1
            kept.append(lines[place])
        self._end = end
        return b"\n".join([*kept, b""])

    def offsets(self) -> Column:
        """Where each text was written."""
        return self._offsets

    def hashes(self) -> Column:
        """Of each text."""
        return self._hashes

    def close(self) -> None:
        """Let go of what was spooled."""
        self._of_blocks.close()


class Backlinks:
    """Links by the number of their target: spooled to buckets of neighbouring targets, each of which is then sorted."""

    def __init__(self, directory: Path, nodes: int, links: int) -> None:
        """Files without a name in ``directory``; ``links`` is how many there will be, about. Raises StorageError."""
        # constant after construction
        self._directory = directory
        # 16 bits for the targets of a bucket: numpy sorts these in a tenth of the time
        buckets = min(max(links // _BUCKET, nodes >> 16) + 1, _MOST)
        self._width = nodes // buckets + 1
        # only one thread
        self._starts = zeros("Q", nodes + 1)
        self._files = [
            tempfile.SpooledTemporaryFile(_MEMORY // buckets, dir=str(directory))  # noqa: SIM115  closed by close()
            for _ in range(buckets)
        ]

    def __len__(self) -> int:
        """Buckets."""
        return len(self._files)

    def add(self, links: Column) -> None:
        """Some: target, source, text, target ..., uint32. Raises StorageError."""
        with disk_failures(self._directory):
            for file, dealt in zip(self._files, columns.dealt(links, self._width, len(self._files)), strict=True):
                file.write(dealt)

    def sorted(self) -> Iterator[tuple[Column, Column]]:
        """(source, text) of all links, by target, those of a target in the order in which they were added; and `offsets` of the
        targets of these."""
        nodes, width = len(self._starts) - 1, self._width
        for number, file in enumerate(self._files):
            first = min(number * width, nodes)
            starts = self._starts[first : min(first + width, nodes) + 1]
            try:
                file.seek(0)
                links = columns.by_target(file.read(), first, starts)
            except OSError as error:
                raise disk_failure(self._directory, error) from error
            except ValueError as error:
                raise StorageError(f"{self._directory}: a temporary file has changed ({error}); check the disk") from error
            yield links, starts

    def offsets(self) -> Column:
        """Where the links to each node begin, and where the last ones end; known when they have been sorted."""
        return self._starts

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            with suppress(OSError):  # what it still holds may not find room on the disk
                file.close()
