"""DiskSeenSet: which fingerprints were seen before, for any number of them in constant memory (LARM-52, LARM-107).

A fingerprint is new until it is in one of these layers, asked in this order:

- *young* and *old*: the recent ones, bounded. When young is full it becomes old, and the old ones leave;
- *fresh*: new since the last cut; *frozen*: cut off, being written;
- the SQLite table, asked once for all that the layers above do not know.

A checkpoint calls `cut` (all threads stand still), stores the delta with everything else, then calls `apply`. After a kill in
between, the delta of the last checkpoint is applied again. Only that one is kept, so it must be on the disk when `apply`
returns, safe from a power cut, too. `epoch` says which checkpoint the table belongs to, so that one that was lost, or restored
from elsewhere, is not taken for the right one.

Both statements work on a JSON array and return one row, because Python gives its lock away for each row and each execution, and
beside busy threads gets it back milliseconds later.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.read_only import reading

_TABLES = """
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS seen (fingerprint INTEGER PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS size (entries INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM size);
    COMMIT;
"""  # in one transaction, which waits once for the disk
_LOOK_UP = "SELECT json_group_array(value) FROM json_each(?) WHERE EXISTS (SELECT 1 FROM seen WHERE fingerprint = value)"
_SUMS = "SELECT count(*), sum(fingerprint >> 32), sum(fingerprint & 4294967295) FROM seen"
_INSERT = "INSERT OR IGNORE INTO seen SELECT value FROM json_each(?)"
_CACHE = -8_000  # KB; the rest is left to the operating system's cache
_BUSY_SECONDS = 10

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[int]).decode


class DiskSeenSet:
    """Implements the ``SeenSet`` of the seams for 63-bit fingerprints."""

    def __init__(self, path: Path, recent: int, *, read_only: bool = False) -> None:
        """Open the set, or make it; ``recent`` fingerprints are in memory. ``read_only``: nothing can be added.

        Raises StorageError.
        """
        # constant after construction
        self._path = path
        self._generation = max(1, recent // 2)
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        try:
            if not read_only:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
            # guarded by self._write_lock
            self._writer = reading(path) if read_only else _connect(path)
        except UnicodeDecodeError as error:  # of a message that quotes the damage
            raise _damaged(path) from error
        except (OSError, sqlite3.Error) as error:
            raise disk_failure(path, error) from error
        # guarded by self._lock
        self._young: set[int] = set()
        self._old: set[int] = set()
        self._fresh: set[int] = set()
        self._frozen: set[int] = set()
        self._stored: int
        try:
            if not read_only:
                self._writer.executescript(_TABLES)
            ((self._stored,),) = self._writer.execute("SELECT entries FROM size")
            self._reader = reading(path) if read_only else _connect(path)
        except (ValueError, OSError, sqlite3.Error) as error:
            self._writer.close()
            if isinstance(error, ValueError):
                raise _damaged(path) from error
            raise disk_failure(path, error) from error

    @property
    def epoch(self) -> int:
        """Of the last `apply` that named one; 0 before. Raises StorageError."""
        with self._write_lock:
            return self._ask("PRAGMA user_version")[0]

    def check(self) -> None:
        """Look at all of it, about a second for ten million. Raises StorageError if anything was lost or changed."""
        with self._write_lock:
            entries, high, low = self._ask(_SUMS)
            if [entries, _checksum((high or 0) << 32, low or 0)] != list(self._ask("SELECT entries, checksum FROM size")):
                raise _damaged(self._path)

    def add_new(self, fingerprints: Sequence[int]) -> list[bool]:
        """Remember them all; True where one was new (the first of equal ones). Raises StorageError, then none is remembered.

        Called on the handler thread, within a step of the gate.
        """
        with self._lock:
            # "-" asks the right side for each element of the left one; "-=" would walk through the right one
            unknown = set(fingerprints) - self._young
            if unknown:
                unknown = self._miss_locked(unknown)
            if not unknown:
                return [False] * len(fingerprints)
            self._fresh |= unknown
        if len(unknown) == len(fingerprints):
            return [True] * len(fingerprints)
        answers = []
        for fingerprint in fingerprints:
            new = fingerprint in unknown
            if new:
                unknown.remove(fingerprint)
            answers.append(new)
        return answers

    def assume(self, delta: bytes) -> None:
        """Take what `cut` returned as seen, without writing it: for who only looks while a crawl is running."""
        numbers = array("q")
        numbers.frombytes(delta)
        with self._lock:
            self._fresh.update(numbers)

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """Those that are in memory, and so were seen; of the others nothing is said. Any thread."""
        asked = set(fingerprints)
        found: set[int] = set()
        with self._lock:
            for known in (self._fresh, self._young, self._frozen, self._old):
                found |= asked & known
                if len(found) == len(asked):
                    break
        return found

    def __contains__(self, fingerprint: int) -> bool:
        with self._lock:
            return not self._miss_locked({fingerprint} - self._young)

    def __len__(self) -> int:
        with self._lock:
            return self._stored + len(self._frozen) + len(self._fresh)

    def cut(self) -> bytes:
        """What is new since the last cut, for the checkpoint and for `apply`: 8 bytes each. Called in a cut of the gate."""
        with self._lock:
            fresh, self._fresh = self._fresh, set()
            self._frozen = self._frozen | fresh if self._frozen else fresh
        return array("q", fresh).tobytes()

    def apply(self, delta: bytes, epoch: int | None = None) -> None:
        """Write what `cut` returned, in one transaction. Called on the tick thread, after the checkpoint, or on resume.

        ``epoch``: number of that checkpoint, a 32-bit one.

        Raises StorageError; then nothing was written and the fingerprints stay in memory.
        """
        numbers = array("q")
        try:
            numbers.frombytes(delta)
        except ValueError as error:
            raise StorageError(f"{self._path}: a delta of {len(delta)} bytes is damaged; start over") from error
        ordered = sorted(numbers)  # neighbours share pages
        with self._write_lock:
            try:
                added = self._insert(ordered, epoch) if ordered or epoch is not None else 0
            except sqlite3.Error as error:
                raise disk_failure(self._path, error) from error
        with self._lock:
            self._stored += added
            self._frozen = self._frozen.difference(ordered)
            self._remember_locked(ordered)

    def close(self) -> None:
        """Close the database, on any thread. What was not applied is forgotten."""
        with self._write_lock, self._lock:
            self._reader.close()
            self._writer.close()

    def _miss_locked(self, unknown: set[int]) -> set[int]:
        """Those that are nowhere; the others become recent."""
        if self._old:
            again = unknown & self._old
            if again:
                unknown = unknown - again
                self._remember_locked(again)
        unknown = unknown - self._fresh - self._frozen
        if unknown and self._stored:
            stored = self._look_up_locked(unknown)
            unknown = unknown.difference(stored)
            self._remember_locked(stored)
        return unknown

    def _look_up_locked(self, fingerprints: Iterable[int]) -> list[int]:
        try:
            ((found,),) = self._reader.execute(_LOOK_UP, (_encode(sorted(fingerprints)).decode(),)).fetchall()
        except sqlite3.Error as error:
            raise disk_failure(self._path, error) from error
        return _decode(found)

    def _remember_locked(self, fingerprints: Iterable[int]) -> None:
        self._young.update(islice(fingerprints, self._generation))
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, set()

    def _ask(self, statement: str) -> tuple[int, ...]:
        try:
            ((*row,),) = self._writer.execute(statement).fetchall()
        except sqlite3.Error as error:
            raise disk_failure(self._path, error) from error
        return tuple(row)

    def _insert(self, ordered: list[int], epoch: int | None) -> int:
        """One transaction; returns how many were not there yet."""
        writer = self._writer
        try:
            writer.execute("BEGIN IMMEDIATE")
            added = writer.execute(_INSERT, (_encode(ordered).decode(),)).rowcount
            ((old,),) = writer.execute("SELECT checksum FROM size").fetchall()
            checksum = _checksum(old, *ordered)
            if added < len(ordered):  # they had been applied
                ((_, high, low),) = writer.execute(_SUMS).fetchall()
                checksum = _checksum(high << 32, low)
            writer.execute("UPDATE size SET entries = entries + ?, checksum = ?", (added, checksum))
            if epoch is not None:
                writer.execute(f"PRAGMA user_version = {epoch:d}")
            writer.execute("COMMIT")
        except sqlite3.Error:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        return added

    def __repr__(self) -> str:
        return f"<DiskSeenSet {self._path}: {self._stored} stored, {len(self._frozen)} frozen, {len(self._fresh)} fresh>"


def _checksum(*numbers: int) -> int:
    return sum(numbers) % 2**63


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path}: the database is damaged; check the disk, then start over")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # the last delta is in the checkpoint, but no earlier one
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection
