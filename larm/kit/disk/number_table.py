"""NumberTable: a few numbers for each key, in a file of fixed size that is mapped into memory.

A key is 63 bits of a hash, which name a row; two keys may share one. So the table never grows, never needs to be saved, and
is there again after a crash; its numbers are good enough for estimates, and for nothing else. Its owner guards it.
"""

import mmap
import os
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failures

_MOST = 1e200
"""A larger number is damage, and would not bear to be counted with: the crawl would end, and end again when continued."""


class NumberTable:
    """Floats, at first all 0."""

    def __init__(self, path: Path | None, rows: int, columns: int = 1) -> None:
        """Open the file, or make it; a file of another size is made anew. None: nothing is kept. Raises StorageError."""
        # constant after construction
        self._rows = rows
        self._columns = columns
        size = rows * columns * 8
        if path is None:
            self._map = mmap.mmap(-1, size)
        else:
            with disk_failures(path):
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                try:
                    if os.fstat(file).st_size != size:
                        os.ftruncate(file, 0)
                        os.posix_fallocate(file, 0, size)  # a page of the map that finds no room on the disk ends the process
                    self._map = mmap.mmap(file, size)
                finally:
                    os.close(file)
        # guarded by the owner
        self._numbers = memoryview(self._map).cast("d")

    def get(self, key: int, column: int = 0) -> float:
        """The number; 0 where there is none, or none that makes sense."""
        number = self._numbers[key % self._rows * self._columns + column]
        return number if -_MOST < number < _MOST else 0.0

    def put(self, key: int, number: float, column: int = 0) -> None:
        """Replace it."""
        self._numbers[key % self._rows * self._columns + column] = number

    def add(self, key: int, number: float, column: int = 0) -> float:
        """Add to it; returns the sum."""
        total = self.get(key, column) + number
        self.put(key, total, column)
        return total

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._numbers.release()
        self._map.close()
