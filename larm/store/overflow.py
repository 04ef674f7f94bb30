"""Overflow: visits that a storage has not come to, on the disk: the caching queue behind the line in memory (LARM-110).

Owned by one `larm.store.pipeline.StorageLine`. It is made when it is first needed and goes with the run: no checkpoint knows
it, as a checkpoint waits until all that was put before it is stored. What a killed process left is removed at the next start.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.disk_failure import disk_failure
from larm.model.document import Visit

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[list[Visit]]).decode


class Overflow:
    """Pieces of a line, first in, first out. Every method may raise StorageError."""

    def __init__(self, folder: Path) -> None:
        """Before there are other threads: what a killed process left is removed."""
        # constant after construction
        self._folder = folder
        # made by `open`
        self._store: BlockStore | None = None
        self._queue: CachingQueue[list[Visit]] | None = None
        self.clear()

    def open(self) -> None:
        """Before the first piece; a second call does nothing. One thread at a time."""
        if self._queue is None:
            self._store = BlockStore(self._folder)
            self._queue = CachingQueue("visits", 1, self._store, _encode, _decode)

    def append(self, visits: list[Visit]) -> list[int]:
        """Put a piece at the end; what this returns is for `write`. Under the lock of the line."""
        assert self._queue is not None  # noqa: S101
        return self._queue.append([visits])

    def write(self, numbers: Sequence[int]) -> None:
        """Write what was appended, outside of the lock; until then it is in memory."""
        if numbers and self._queue is not None:
            self._queue.write(numbers)

    def take(self) -> list[Visit]:
        """The first piece. Only the writer thread."""
        assert self._queue is not None  # noqa: S101
        assert self._store is not None  # noqa: S101
        (piece,) = self._queue.take(1)
        if retired := self._store.retired():
            self._store.transaction({}, retired)
        return piece

    def clear(self) -> None:
        """Nothing is left of it, on the disk neither."""
        if self._store is not None:
            self._store.close()
            self._store = self._queue = None
        try:
            shutil.rmtree(self._folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise disk_failure(self._folder, error) from error
