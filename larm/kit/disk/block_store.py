"""BlockStore: blocks of bytes by key on disk: the queues' blocks and the records of the checkpoint.

One database in one directory, see `larm.kit.disk.bytes_cache`. Used on all threads, one at a time; all errors of the disk are
StorageError.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from larm.errors import StorageError
from larm.kit.disk.bytes_cache import DATABASE, BytesCache, make_cache
from larm.kit.disk.database import Database

T = TypeVar("T")
__all__ = ["DATABASE", "BlockStore"]


class BlockStore:
    """Bytes by key. Keys are text; nothing expires."""

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        """Open the store, or make it. ``read_only``: what is there can be looked at, and no more. Raises StorageError."""
        if os.path.expandvars(str(directory)) != str(directory):  # diskcache would use another directory
            raise StorageError(f"{directory}: the path holds the name of an environment variable; use another directory")
        # constant after construction
        self.directory = directory
        self._path = directory / DATABASE
        self._lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._retired_lock = threading.Lock()
        # guarded by self._lock
        self._closed = False
        self._epoch = 0
        if not read_only:
            make_cache(directory)
        # guarded by self._lock; None: nothing is to be written
        self._cache = None if read_only else BytesCache(directory)
        try:
            # guarded by self._read_lock; a second connection, so that nobody who reads waits for a checkpoint to be written
            self._reader = BytesCache(directory, read_only=read_only)
        except BaseException:
            if self._cache is not None:
                self._cache.close()
            raise
        # guarded by self._retired_lock
        self._retired: list[str] = []

    @property
    def complete(self) -> bool:
        """False where the process that made the database was killed before its tables were there. Raises StorageError."""
        return bool(list(self._reader.database.rows("SELECT 1 FROM sqlite_master WHERE name = 'Cache'")))

    def get(self, key: str) -> bytes | None:
        """The block, None where there is none. Raises StorageError, also for an entry that is not plain bytes."""
        return self.get_many([key]).get(key)  # one statement; diskcache's own look-up takes several

    def put(self, key: str, block: bytes) -> None:
        """Write one block, replacing an older one. Safe from a killed process now, from a power cut after `transaction`."""
        with self._use() as cache:
            cache.put_many([(key, block)], self._epoch)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the keys that are there, with one look into the database."""
        with self._read() as cache:
            return cache.get_many(keys)

    def put_many(self, blocks: Mapping[str, bytes]) -> None:
        """As `put`, for many."""
        with self._use() as cache:
            cache.put_many(blocks.items(), self._epoch)

    def next_epoch(self) -> int:
        """Begin the next epoch and return its number: what is written from now on is not part of the cut that is being made."""
        with self._lock:
            self._epoch += 1
            return self._epoch

    def go_back(self, epoch: int, suffix: str) -> None:
        """At the start: go on in ``epoch``, without the blocks (keys ending in ``suffix``) that were written in it or later."""
        with self._use() as cache:
            cache.forget(epoch, suffix)
            self._epoch = epoch

    def go_on(self, epoch: int) -> None:
        """At the start, where nothing was written after the cut of that epoch: go on in it."""
        with self._lock:
            self._epoch = epoch

    def transaction(
        self,
        puts: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
        deletes: Iterable[str] = (),
        also: Callable[[Database], None] = lambda _: None,
    ) -> None:
        """Delete, then write, then what ``also`` does: all of it or nothing. When it returns, it is on the disk, and every
        earlier `put` with it.

        ``puts`` may be an iterator, which is asked for a few hundred entries at a time.
        """
        pairs = puts.items() if isinstance(puts, Mapping) else puts
        with self._use() as cache:
            cache.write(pairs, deletes, self._epoch, also)

    def ask(self, question: Callable[[Database], T]) -> T:
        """What it finds in the database, in tables that only transactions with ``also`` write."""
        with self._read() as cache:
            return question(cache.database)

    def keys(self, prefix: str = "", having: str = "") -> list[str]:
        """Keys that begin with ``prefix`` and have ``having`` behind it, sorted.

        Reads the whole range: for the start and the end of a crawl, and for somebody who waits.
        """
        with self._read() as cache:
            return cache.keys(prefix, having)

    def retire(self, key: str) -> None:
        """The block is no longer needed, but must survive until the next checkpoint, as the last one may still refer to it."""
        with self._retired_lock:
            self._retired.append(key)

    def retired(self) -> list[str]:
        """Hand over, and forget, what was retired: the ``deletes`` of the checkpoint in whose cut this is called."""
        with self._retired_lock:
            retired, self._retired = self._retired, []
            return retired

    def close(self) -> None:
        """Close the database, on any thread; a second call does nothing, everything else then raises StorageError."""
        with self._lock, self._read_lock:
            self._closed = True
            if self._cache is not None:
                self._cache.close()
            self._reader.close()

    @contextmanager
    def _use(self) -> Iterator[BytesCache]:
        """The connection that writes, for this thread alone."""
        with self._lock:
            self._refuse_closed()
            if self._cache is None:
                raise StorageError(f"{self.directory}: the store was opened to be read only")
            yield self._cache

    @contextmanager
    def _read(self) -> Iterator[BytesCache]:
        with self._read_lock:
            self._refuse_closed()
            yield self._reader

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StorageError(f"{self.directory}: the store is closed")

    def __str__(self) -> str:
        return str(self._path)

    def __repr__(self) -> str:
        return f"<BlockStore {self.directory}{' closed' if self._closed else ''}>"
