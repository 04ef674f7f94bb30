"""AppendFile: a file that only grows, in whole pieces, and can be cut back to what a checkpoint noted.

Used by the storages of logs and of the link graph, each on its own writer thread. A piece (a line, a body, a block) is never
written in part, also where the disk is full.
"""

import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import cut_back, sync_directory
from larm.kit.disk.range_sums import RANGE, RangeSum, Sums, note_sum

_BUFFER = 1_000_000  # bytes kept back before a write: a system call for every 40 pages or so
_LARGE = 1_000  # bytes of a piece, on average, from which to write them one by one costs less than to join them
_JOINED = 64  # pieces in one write: together at most a range
_MOST = 1_024  # pieces in one call; no system takes more


class AppendFile:
    """Opens ``path`` for appending, after cutting it back to ``length`` bytes. Every method may raise StorageError.

    ``auto``: write by itself when a megabyte has come together; otherwise only at `flush`.
    ``sums``: each flush puts the rows of the ranges that it has written (`larm.kit.disk.range_sums`); None: none.
    """

    def __init__(self, path: Path, length: int, auto: bool = True, sums: Sums | None = None) -> None:
        cut_back(path, length)
        with disk_failures(path):
            if not length:
                path.touch()
                sync_directory(path.parent)  # or a power cut takes the name of a file that was synced
            file = open(path, "ab", buffering=0)  # noqa: SIM115 - closed by close()
        # constant after construction
        self.path = path
        self._file = file
        self._auto = auto
        self._sums = sums
        # only the writer thread
        self.length = length
        """Bytes of the file, those still in memory included."""
        self._pieces: list[bytes] = []
        self.pending = 0
        """Bytes still in memory."""
        self._written = length
        self._range = RangeSum(length, length, 0)  # the open one

    def __repr__(self) -> str:
        return f"<AppendFile {self.path}: {self.length:,} bytes, {self.pending:,} of them in memory>"

    def append(self, piece: bytes) -> None:
        """Add a piece at the end."""
        self._pieces.append(piece)
        self.length += len(piece)
        self.pending += len(piece)
        if self._auto and self.pending >= _BUFFER:
            self.flush()

    @property
    def full(self) -> bool:
        """A megabyte has come together."""
        return self.pending >= _BUFFER

    def flush(self) -> None:
        """Give everything to the operating system."""
        if not self._pieces:
            return
        pieces = self._pieces
        if self.pending <= _LARGE * len(pieces):
            pieces = [b"".join(pieces[at : at + _JOINED]) for at in range(0, len(pieces), _JOINED)]
        self._pieces = []  # first: what failed once is not tried again by close()
        self.pending = 0
        try:
            for at in range(0, len(pieces), _MOST):
                self._write(pieces[at : at + _MOST])
        except OSError as error:
            with suppress(OSError):  # not to end within a piece
                os.ftruncate(self._file.fileno(), self._written)
            raise disk_failure(self.path, error) from error
        self._written = self.length
        if self._sums is not None:
            self._sum(pieces, self._sums)

    def _sum(self, pieces: Sequence[bytes], sums: Sums) -> None:
        begin, end, crc = self._range
        for piece in pieces:
            if end - begin >= RANGE:
                note_sum(sums, self.path, RangeSum(begin, end, crc))
                begin, crc = end, 0
            crc = zlib.crc32(piece, crc)
            end += len(piece)
        self._range = RangeSum(begin, end, crc)
        note_sum(sums, self.path, self._range)

    def _write(self, pieces: Sequence[bytes]) -> None:
        written = os.writev(self._file.fileno(), pieces)
        for piece in pieces:  # the disk may have had room for a part
            if written < len(piece):
                rest = memoryview(piece)[written:]
                while rest:
                    rest = rest[self._file.write(rest) :]
            written = max(0, written - len(piece))

    def sync(self) -> None:
        """Give everything to the disk."""
        self.flush()
        with disk_failures(self.path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Flush and close; may be called twice."""
        try:
            if not self._file.closed:
                self.flush()
        finally:
            self._file.close()
