"""What a refresh counts and sorts: distinct numbers, anchor texts, links by their targets. One thread; numpy.

None of them holds in memory what grows with the number of links; `Backlinks` spools to files without a name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from larm.kit.disk_failure import disk_failure

Numbers = NDArray[np.uint32]

_PENDING = 1_000_000
"""Numbers that wait to be sorted in."""
_BUCKET = 1_000_000
"""Links that are sorted at a time: 12 bytes each, and more for the order."""
_MOST = 200
"""Files at a time."""
_MEMORY = 16_000_000
"""Bytes that are not worth a file."""


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """In their order, each once: ``np.unique``, which however begins by loading 5 ms of numpy that nobody else needs."""
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


class Unique:
    """Distinct numbers, sorted."""

    def __init__(self) -> None:
        # only one thread
        self._all = np.zeros(0, np.uint64)
        self._pending: list[NDArray[np.uint64]] = []
        self._waiting = 0

    def add(self, numbers: NDArray[np.uint64]) -> None:
        """Some more."""
        self._pending.append(numbers)
        self._waiting += len(numbers)
        if self._waiting > max(_PENDING, len(self._all) // 2):
            self.all()

    def all(self) -> NDArray[np.uint64]:
        """Those so far."""
        self._all = distinct(np.concatenate([self._all, *self._pending]))
        self._pending, self._waiting = [], 0
        return self._all


class Anchors:
    """Numbers for texts: two with the same 64 bits of hash are one."""

    def __init__(self) -> None:
        # only one thread
        self._unique = Unique()
        self._of_blocks: list[NDArray[np.uint64]] = []
        self._hashes = np.zeros(0, np.uint64)
        self._offsets = np.zeros(0, np.uint64)
        self._end = 1

    def meet(self, texts: bytes) -> None:
        """First, the texts of all blocks, in their order."""
        hashes = np.array([xxhash.xxh3_64_intdigest(line) for line in texts.split(b"\n")], np.uint64)
        self._of_blocks.append(hashes)
        self._unique.add(hashes)

    def known(self) -> None:
        """All have been met: they have numbers now."""
        self._hashes = self._unique.all()
        self._offsets = np.zeros(len(self._hashes), np.uint64)

    def numbers(self, block: int) -> Numbers:
        """Of a block's texts."""
        return np.searchsorted(self._hashes, self._of_blocks[block]).astype(np.uint32)

    def new_texts(self, texts: bytes, numbers: Numbers) -> bytes:
        """What is to be written of a block's texts: each line that was not written before."""
        new = np.flatnonzero(self._offsets[numbers] == 0)
        first = b"\n" if self._end == 1 else b""
        if not len(new):
            return first
        lines = texts.split(b"\n")
        kept = [lines[place] for place in new.tolist()]
        sizes = np.array([len(line) + 1 for line in kept], np.uint64)
        self._offsets[numbers[new]] = np.uint64(self._end) + np.cumsum(sizes, dtype=np.uint64) - sizes
        self._end += int(sizes.sum())
        return first + b"".join([line + b"\n" for line in kept])

    def offsets(self) -> NDArray[np.uint64]:
        """Where each text was written."""
        return self._offsets


class Backlinks:
    """Links by the number of their target: spooled to buckets of neighbouring targets, each of which is then sorted.

    Both by numbers of 16 bits, which numpy sorts in a tenth of the time.
    """

    def __init__(self, directory: Path, nodes: int, links: int) -> None:
        """Files without a name in ``directory``; ``links`` is how many there will be, about. Raises StorageError."""
        # constant after construction
        self._directory = directory
        buckets = min(max(links // _BUCKET, nodes >> 16) + 1, _MOST)
        self._width = nodes // buckets + 1
        # only one thread
        self._counts = np.zeros(nodes, np.uint64)
        self._files = [
            tempfile.SpooledTemporaryFile(_MEMORY // buckets, dir=str(directory))  # noqa: SIM115  closed by close()
            for _ in range(buckets)
        ]

    def add(self, targets: Numbers, sources: Numbers, texts: Numbers) -> None:
        """Some links. Raises StorageError."""
        rows = np.stack((targets, sources, texts), axis=1)
        ends = [len(rows)]
        if len(self._files) > 1:
            buckets = (targets // np.uint32(self._width)).astype(np.uint16)
            order = np.argsort(buckets, kind="stable")
            rows = rows[order]
            ends = np.cumsum(np.bincount(buckets, minlength=len(self._files))).tolist()
        try:
            for file, begin, end in zip(self._files, [0, *ends], ends, strict=False):
                file.write(rows[begin:end].tobytes())
        except OSError as error:
            raise disk_failure(self._directory, error) from error

    def sorted(self) -> Iterator[bytes]:
        """(source, text) of all links, by target, those of a target in the order in which they were added."""
        for number, file in enumerate(self._files):
            try:
                file.seek(0)
                rows = np.frombuffer(file.read(), np.uint32).reshape(-1, 3)
            except OSError as error:
                raise disk_failure(self._directory, error) from error
            first = number * self._width
            targets = rows[:, 0] - np.uint32(first)
            counts = np.bincount(targets, minlength=self._width)[: max(len(self._counts) - first, 0)]
            self._counts[first : first + len(counts)] = counts
            small = targets.astype(np.uint16) if self._width <= 1 << 16 else targets
            yield rows[np.argsort(small, kind="stable"), 1:].tobytes()

    def offsets(self) -> NDArray[np.uint64]:
        """Where the links to each node begin, and where the last ones end; known when they have been sorted."""
        return np.concatenate((np.zeros(1, np.uint64), np.cumsum(self._counts, dtype=np.uint64)))

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            with suppress(OSError):  # what it still holds may not find room on the disk
                file.close()


def places_of(rank: NDArray[np.float64]) -> tuple[NDArray[np.int64], Numbers]:
    """Nodes from the highest rank to the lowest; and the place of each node in this order."""
    order = np.argsort(-rank, kind="stable")
    places = np.zeros(len(rank), np.uint32)
    places[order] = np.arange(len(rank), dtype=np.uint32)
    return order, places
