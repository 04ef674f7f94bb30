"""FingerprintTable: any number of fingerprints in sorted runs (`larm.kit.disk.sorted_runs`), in one SQLite file.

New fingerprints are one row of bytes in ``tail``, and sorted in memory. A long tail becomes a run. `look_up` reads merged runs
until the next `show`, and the next `write` drops them. It first asks a filter in memory, because most fingerprints are new.
Beside them lies a note of the owner's, a few bytes with a checksum.

Methods belong to one thread at a time. `look_up` and `show` may run beside the others: they use a connection of their own, and
the owner keeps these two apart. Statements work on JSON arrays and return one row, because Python releases its lock for each
row and each statement.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.kit.disk.bit_filter import BitFilter
from larm.kit.disk.database import Database
from larm.kit.disk.sorted_runs import FACTORS, PRIME, Order, SortedRuns, catalogue_of

_ORDER = Order("run", "(fingerprint INTEGER PRIMARY KEY)", ("fingerprint",), 1, "runs")
_SIZE = """
    CREATE TABLE IF NOT EXISTS size (entries INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM size);
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, fingerprints BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS note (data BLOB NOT NULL);
"""
_FOUND = "SELECT json_group_array(value) FROM json_each(?) WHERE "

TAIL = 131_072
"""Numbers of which a run is made: 1 MB of memory, and few runs."""
_PACE = 8
"""Numbers that the filter learns of for each new one, beside as many as a run has: some 50 ms."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[int]).decode

_CHECK = struct.Struct("<I")

END = 2**63
"""Higher than all fingerprints."""
_LEAST_BITS, _MOST_BITS = 4, 8
"""Bits per fingerprint. With fewer than 4, one of five is searched in vain, and a filter with 8 takes over."""


class PartFilter:
    """A filter of the fingerprints on the disk, which learns them in parts, the lowest first.

    A start reads none of them, each `FingerprintTable.write` some. Those beyond `filled` may exist. It takes 0.3 us for each
    fingerprint; a search of one run takes 2 us. One thread adds, another one asks.
    """

    def __init__(self, entries: int) -> None:
        """``entries``: number of fingerprints."""
        size = (_MOST_BITS * entries).bit_length()
        # constant after construction
        self._room = (1 << size) // _LEAST_BITS
        # only grows: who asks sees what was added before
        self._bits = BitFilter(size)
        self.filled = 0
        """All fingerprints below this were added."""

    def has_room(self, entries: int) -> bool:
        """Return True if the filter still helps with this number of fingerprints."""
        return entries <= self._room

    def add(self, numbers: Iterable[int]) -> None:
        """Add fingerprints that are on the disk, or will be."""
        self._bits.add(numbers)

    def possible(self, ordered: Sequence[int]) -> Sequence[int]:
        """Return those of the sorted numbers that may be on the disk."""
        beyond = bisect_left(ordered, self.filled)
        return [*self._bits.known(ordered[:beyond]), *ordered[beyond:]]


class View(NamedTuple):
    """What can be asked."""

    tail: array[int]
    question: str
    """Which of some numbers are in the runs; empty: there are none."""


class FingerprintTable:
    """63-bit numbers, each there once. Every method may raise StorageError."""

    def __init__(self, path: Path, *, read_only: bool = False, tail: int = TAIL) -> None:
        """Open the file, or make it. ``read_only``: what was committed last, and nothing of what comes later.

        ``tail``: of so many numbers a run is made.
        """
        # constant after construction
        self._most = tail
        self.reader = Database(path, _SIZE + catalogue_of(_ORDER), read_only=read_only)
        try:
            self.writer = self.reader if read_only else Database(path, _SIZE + catalogue_of(_ORDER))
            if read_only:
                self.writer.write("BEGIN")  # or who writes meanwhile would drop what is asked
            # only the writing thread
            self._sorted = SortedRuns(self.writer, _ORDER, tail)
            self._tail: array[int] = array("q")
            self.entries = 0
            """All that there are."""
            self._load()
        except BaseException:
            self.close()
            raise
        # guarded by the owner
        self._view = self.view()
        # replaced by the writing thread, as a whole
        self._filter: PartFilter | None = None

    # -- asked

    def look_up(self, fingerprints: Iterable[int]) -> list[int]:
        """Those that are there."""
        ordered, sieve = sorted(fingerprints), self._filter
        return self._find(self.reader, self._view, sieve.possible(ordered) if sieve is not None else ordered)

    def show(self, view: View) -> None:
        """From now on `look_up` goes by this, and by nothing before it."""
        self._view = view

    def view(self) -> View:
        """What the last `write` has left."""
        asked = [f"EXISTS (SELECT 1 FROM {table} WHERE fingerprint = value)" for table in self._sorted.live]  # noqa: S608
        return View(self._tail, _FOUND + " OR ".join(asked) if asked else "")

    # -- written

    @property
    def epoch(self) -> int:
        """Of the last `write` that named one; 0 before."""
        return self.writer.generation

    @property
    def note(self) -> bytes:
        """What the last `write` left that had one; empty before."""
        found = self.writer.rows("SELECT data FROM note")
        data = found[0][0] if found else _CHECK.pack(0)
        if not isinstance(data, bytes) or data[: _CHECK.size] != _CHECK.pack(zlib.crc32(data[_CHECK.size :])):
            raise self.writer.damaged()
        return data[_CHECK.size :]

    def write(self, new: Sequence[int], gone: Sequence[int], epoch: int | None, note: bytes | None = None) -> View:
        """Add and remove, in one transaction, and get on with merges; both are sorted. ``epoch``: see `epoch`.

        ``note`` takes the place of the last one. Where it fails nothing has changed.
        """
        self._filter = self._filtered(new)
        runs, tail, entries = self._sorted.runs, self._tail, self.entries
        self._sorted.runs = [msgspec.structs.replace(run) for run in runs]
        try:
            with self.writer.transaction():
                self._sorted.drop_obsolete()
                self._change(new, gone, repeated=epoch is None or epoch <= self.epoch)
                if len(self._tail) >= self._most:
                    self._make_run()
                self._sorted.step(len(new))
                if note is not None:
                    self.writer.write("DELETE FROM note")
                    self.writer.write("INSERT INTO note VALUES (?)", (_CHECK.pack(zlib.crc32(note)) + note,))
                if epoch is not None:
                    self.writer.generation = epoch
        except BaseException:
            self._sorted.runs, self._tail, self.entries = runs, tail, entries
            raise
        return self.view()

    def check(self) -> None:
        """Look at all of it, about a second for ten million. Raises StorageError if anything was lost or changed."""
        count, total = self._sorted.digest()
        if (count + len(self._tail), (total + _sum(self._tail)) % PRIME) != self.writer.row(
            "SELECT entries, checksum FROM size"
        ):
            raise self.writer.damaged()
        self.note  # noqa: B018  raises

    def check_merges(self) -> None:
        """Look at what is not read before a merge is complete. Raises StorageError."""
        self._sorted.check_merges()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self.reader.close()
        if hasattr(self, "writer"):
            self.writer.close()

    def _filtered(self, new: Sequence[int]) -> PartFilter | None:
        """The filter, with what is new and the next part of what is older; another one if there are too many for it."""
        sieve, entries = self._filter, self.entries + len(new)
        if not self._sorted.runs:
            return None
        if sieve is None or not sieve.has_room(entries):
            sieve = PartFilter(entries)
            sieve.add(self._tail)
        sieve.add(new)
        low, share = sieve.filled, (_PACE * len(new) + self._most) / max(entries, 1)
        high = min(low + int(share * END), END)
        for table in self._sorted.live if low < high else ():
            select = f"SELECT json_group_array(fingerprint) FROM {table} WHERE fingerprint >= ? AND fingerprint <= ?"  # noqa: S608
            sieve.add(_decode(self.writer.row(select, (low, high - 1))[0]))
        sieve.filled = high
        return sieve

    # -- in the transaction

    def _load(self) -> None:
        self.entries = int(self.writer.row("SELECT entries FROM size")[0])
        self._sorted.load()
        for (data,) in self.writer.rows("SELECT fingerprints FROM tail ORDER BY number"):
            self._tail.frombytes(_whole(self.writer, data))
        self._tail = array("q", sorted(self._tail))

    def _change(self, new: Sequence[int], gone: Sequence[int], *, repeated: bool) -> None:
        """``repeated``: some of the new ones may be there already."""
        there = self._find(self.writer, self.view(), gone) if gone else []
        if there:
            self._remove(there)
        if repeated and (known := set(self._find(self.writer, self.view(), new))):
            new = [number for number in new if number not in known]
        if new:
            packed = array("q", new)
            self.writer.write("INSERT INTO tail (fingerprints) VALUES (?)", (packed.tobytes(),))
            self._tail = array("q", sorted([*self._tail, *new]))
        self.entries += len(new) - len(there)
        (before,) = self.writer.row("SELECT checksum FROM size")
        checksum = (before + _sum(new) - _sum(there)) % PRIME
        self.writer.write("UPDATE size SET entries = ?, checksum = ?", (self.entries, checksum))

    def _remove(self, there: Sequence[int]) -> None:
        chosen = _encode(there).decode()
        for table in self._sorted.tables:
            self.writer.write(f"DELETE FROM {table} WHERE fingerprint IN (SELECT value FROM json_each(?))", (chosen,))  # noqa: S608
        left = array("q", sorted(set(self._tail).difference(there)))
        if len(left) < len(self._tail):
            self._tail = left
            self.writer.write("DELETE FROM tail")
            self.writer.write("INSERT INTO tail (fingerprints) VALUES (?)", (left.tobytes(),))

    def _make_run(self) -> None:
        self._sorted.add("SELECT value FROM json_each(?)", (_encode(self._tail.tolist()).decode(),))
        self.writer.write("DELETE FROM tail")
        self._tail = array("q")

    @staticmethod
    def _find(database: Database, view: View, ordered: Sequence[int]) -> list[int]:
        tail = view.tail
        found = [number for number in ordered if (at := bisect_left(tail, number)) < len(tail) and tail[at] == number]
        if view.question and len(found) < len(ordered):
            known = set(found)
            asked = [number for number in ordered if number not in known] if known else list(ordered)
            found += _decode(database.row(view.question, (_encode(asked).decode(),))[0])
        return found

    def __repr__(self) -> str:
        runs = len(self._sorted.runs)
        return f"<FingerprintTable {self.writer.path}: {self.entries} entries, {runs} runs, {len(self._tail)} in the tail>"


def _whole(database: Database, data: object) -> bytes:
    if not isinstance(data, bytes) or len(data) % 8:
        raise database.damaged()
    return data


def _sum(numbers: Iterable[int]) -> int:
    """Return their part of the sum that `SortedRuns.digest` returns."""
    return sum([number * (number % FACTORS + 1) for number in numbers])
