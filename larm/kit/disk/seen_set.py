"""DiskSeenSet: which fingerprints were seen before, for any number of them in constant memory (LARM-52, LARM-107).

A fingerprint is new until it is in one of these layers, asked in this order:

- *young* and *old*: the recent ones, bounded. When young is full it becomes old, and the old ones leave;
- *fresh*: new since the last cut; *frozen*: cut off, being written;
- the disk (`larm.kit.disk.fingerprint_table`), asked once for all that the layers above do not know.

What is forgotten (`discard`) leaves young, old and fresh, and is *gone* until the next cut, which overrules frozen; then
*going* until it has left the table, which overrules that. Seen again meanwhile it is fresh, and gone all the same: it leaves
the table before it comes in again, so it is there once.

A checkpoint calls `cut` (all threads stand still), stores the delta with everything else, then calls `apply`. After a kill in
between, the delta of the last checkpoint is applied again. Only that one is kept, so it must be on the disk when `apply`
returns, safe from a power cut, too. `epoch` says which checkpoint the table belongs to, so that one that was lost, or restored
from elsewhere, is not taken for the right one.
"""

import threading
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from larm.errors import REPAIR, StorageError
from larm.kit.disk.fingerprint_table import TAIL, FingerprintTable


class DiskSeenSet:
    """63-bit fingerprints."""

    def __init__(self, path: Path, recent: int, *, read_only: bool = False, tail: int = TAIL) -> None:
        """Open the set, or make it; ``recent`` fingerprints are in memory. ``read_only``: nothing can be added.

        ``tail``: see `FingerprintTable`.

        Raises StorageError.
        """
        # constant after construction
        self._path = path
        self._generation = max(1, recent // 2)
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        # guarded by self._write_lock
        self._runs = FingerprintTable(path, read_only=read_only, tail=tail)
        # guarded by self._lock
        self._young: set[int] = set()
        self._old: set[int] = set()
        self._fresh: set[int] = set()
        self._frozen: set[int] = set()
        self._gone: set[int] = set()
        self._going: set[int] = set()
        self._stored = self._runs.entries

    @property
    def epoch(self) -> int:
        """Of the last `apply` that named one; 0 before. Raises StorageError."""
        with self._write_lock:
            return self._runs.epoch

    @property
    def note(self) -> bytes:
        """What the last `apply` or `keep` left; empty before. Raises StorageError where it is damaged."""
        with self._write_lock:
            return self._runs.note

    def keep(self, note: bytes) -> None:
        """Keep this in place of what was kept. Raises StorageError."""
        with self._write_lock:
            self._runs.write((), (), None, note)

    def check(self) -> None:
        """Look at all of it, about a second for ten million. Raises StorageError if anything was lost or changed."""
        with self._write_lock:
            self._runs.check()

    def check_whole(self, epoch: int) -> None:
        """Look also at what no start reads. Raises StorageError.

        ``epoch``: of the last checkpoint, whose delta may still be to be applied.
        """
        with self._write_lock:
            self._runs.check()
            self._runs.check_merges()
            if self._runs.epoch not in (epoch, epoch - 1):
                raise StorageError(f"{self._path}: it is of checkpoint {self._runs.epoch}, the crawl of {epoch}")

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

    def discard(self, fingerprints: Sequence[int]) -> None:
        """Forget them, as if they had never been seen. Any thread, within a step of the gate."""
        gone = set(fingerprints)
        with self._lock:
            self._gone |= gone
            self._young -= gone
            self._old -= gone
            self._fresh -= gone

    def assume(self, delta: bytes) -> None:
        """Take what `cut` returned as seen, without writing it: for a process that only looks while a crawl is running."""
        numbers = array("q")
        numbers.frombytes(delta)
        with self._lock:
            self._fresh.update(number for number in numbers if number >= 0)
            self._gone.update(~number for number in numbers if number < 0)

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """Those that are in memory, and so were seen; of the others nothing is said. Any thread."""
        asked = set(fingerprints)
        found: set[int] = set()
        with self._lock:
            frozen = self._frozen - self._gone if self._gone else self._frozen
            for known in (self._fresh, self._young, frozen, self._old):
                found |= asked & known
                if len(found) == len(asked):
                    break
        return found

    def __contains__(self, fingerprint: int) -> bool:
        with self._lock:
            return not self._miss_locked({fingerprint} - self._young)

    def __len__(self) -> int:
        with self._lock:  # about, for a moment, where some were forgotten
            return self._stored + len(self._frozen) + len(self._fresh)

    def cut(self) -> bytes:
        """What is new since the last cut, for the checkpoint and for `apply`: 8 bytes each. Called in a cut of the gate.

        What was forgotten is in it as the complement of its bits, a negative number.
        """
        with self._lock:
            fresh, self._fresh = self._fresh, set()
            gone, self._gone = self._gone, set()
            if gone:
                self._going |= gone
                self._frozen = self._frozen - gone
            self._frozen = self._frozen | fresh if self._frozen else fresh
        return array("q", [*fresh, *(~number for number in gone)]).tobytes()

    def apply(self, delta: bytes, epoch: int | None = None, note: bytes | None = None) -> None:
        """Write what `cut` returned, in one transaction. Called on the tick thread, after the checkpoint, or on resume.

        ``epoch``: number of that checkpoint, a 32-bit one. ``note``: see `keep`.

        Raises StorageError; then nothing was written and the fingerprints stay in memory.
        """
        numbers = array("q")
        try:
            numbers.frombytes(delta)
        except ValueError as error:
            raise StorageError(f"{self._path}: a delta of {len(delta)} bytes is damaged; {REPAIR}") from error
        ordered = sorted(number for number in numbers if number >= 0)  # neighbours share pages
        gone = sorted(~number for number in numbers if number < 0)
        with self._write_lock:
            view = self._runs.write(ordered, gone, epoch, note) if numbers or epoch is not None else None
            stored = self._runs.entries
        with self._lock:
            if view is not None:
                self._runs.show(view)
            self._stored = stored
            self._frozen = self._frozen.difference(ordered)
            self._going = self._going.difference(gone)
            self._remember_locked([each for each in ordered if each not in self._gone] if self._gone else ordered)

    def close(self) -> None:
        """Close the database, on any thread. What was not applied is forgotten."""
        with self._write_lock, self._lock:
            self._runs.close()

    def _miss_locked(self, unknown: set[int]) -> set[int]:
        """Those that are nowhere; the others become recent."""
        if self._old:
            again = unknown & self._old
            if again:
                unknown = unknown - again
                self._remember_locked(again)
        frozen = self._frozen - self._gone if self._gone else self._frozen
        unknown = unknown - self._fresh - frozen
        if unknown and self._stored:
            stored = self._runs.look_up(unknown - self._gone - self._going if self._gone or self._going else unknown)
            unknown = unknown.difference(stored)
            self._remember_locked(stored)
        return unknown

    def _remember_locked(self, fingerprints: Iterable[int]) -> None:
        self._young.update(islice(fingerprints, self._generation))
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, set()

    def __repr__(self) -> str:
        return f"<DiskSeenSet {self._path}: {self._stored} stored, {len(self._frozen)} frozen, {len(self._fresh)} fresh>"
