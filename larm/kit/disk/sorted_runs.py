"""SortedRuns: any number of fingerprints on the disk, written in order (`larm.kit.disk.tiers`), in one SQLite file.

Numbers are first a row of bytes in ``tail``, which is in memory, too, sorted; when it has grown long it becomes a run. What a
merge has made of runs `look_up` knows from the next `show` on; until then it asks these, which the next `write` drops. Before
it asks any it asks a filter in memory (`larm.kit.disk.part_filter`), as most numbers are in none.

Each method but `look_up` and `show` belongs to one thread at a time; these two go by a connection of their own, and the owner
keeps them apart. Statements work on JSON arrays and return one row, because Python gives its lock away for each row and each
execution, and beside busy threads gets it back milliseconds later.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.kit.disk.database import Database
from larm.kit.disk.part_filter import END, PartFilter
from larm.kit.disk.tiers import Form, Tiers, catalogue_of

_FORM = Form("run", "(fingerprint INTEGER PRIMARY KEY)", ("fingerprint",), 1, "runs")
_SIZE = """
    CREATE TABLE IF NOT EXISTS size (entries INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM size);
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, fingerprints BLOB NOT NULL);
"""
_FOUND = "SELECT json_group_array(value) FROM json_each(?) WHERE "

TAIL = 131_072
"""Numbers of which a run is made: 1 MB of memory, and few runs."""
_PACE = 8
"""Numbers that the filter learns of for each new one, beside as many as a run has: some 50 ms."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[int]).decode


class View(NamedTuple):
    """What can be asked."""

    tail: array[int]
    question: str
    """Which of some numbers are in the runs; empty: there are none."""


class SortedRuns:
    """63-bit numbers, each there once. Every method may raise StorageError."""

    def __init__(self, path: Path, *, read_only: bool = False, tail: int = TAIL) -> None:
        """Open the file, or make it. ``read_only``: what was committed last, and nothing of what comes later.

        ``tail``: of so many numbers a run is made.
        """
        # constant after construction
        self._most = tail
        self.reader = Database(path, _SIZE + catalogue_of(_FORM), read_only=read_only)
        try:
            self.writer = self.reader if read_only else Database(path, _SIZE + catalogue_of(_FORM))
            if read_only:
                self.writer.write("BEGIN")  # or who writes meanwhile would drop what is asked
            # only the writing thread
            self._tiers = Tiers(self.writer, _FORM, tail)
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
        asked = [f"EXISTS (SELECT 1 FROM {table} WHERE fingerprint = value)" for table in self._tiers.live]  # noqa: S608
        return View(self._tail, _FOUND + " OR ".join(asked) if asked else "")

    # -- written

    @property
    def epoch(self) -> int:
        """Of the last `write` that named one; 0 before."""
        return self.writer.generation

    def write(self, new: Sequence[int], gone: Sequence[int], epoch: int | None) -> View:
        """Add and remove, in one transaction, and get on with merges; both are sorted. ``epoch``: see `epoch`.

        Where it fails nothing has changed.
        """
        self._filter = self._filtered(new)
        runs, tail, entries = self._tiers.runs, self._tail, self.entries
        self._tiers.runs = [msgspec.structs.replace(run) for run in runs]
        try:
            with self.writer.transaction():
                self._tiers.drop_dead()
                self._change(new, gone, repeated=epoch is None or epoch <= self.epoch)
                if len(self._tail) >= self._most:
                    self._make_run()
                self._tiers.step(len(new))
                if epoch is not None:
                    self.writer.generation = epoch
        except BaseException:
            self._tiers.runs, self._tail, self.entries = runs, tail, entries
            raise
        return self.view()

    def check(self) -> None:
        """Look at all of it, about a second for ten million. Raises StorageError if anything was lost or changed."""
        count, high, low = len(self._tail), sum(self._tail), 0
        for table in self._tiers.live:
            each = self.writer.row(
                f"SELECT count(*), sum(fingerprint >> 32), sum(fingerprint & 4294967295) FROM {table}"  # noqa: S608
            )
            count, high, low = count + each[0], high + ((each[1] or 0) << 32), low + (each[2] or 0)
        if (count, _checksum(high + low)) != self.writer.row("SELECT entries, checksum FROM size"):
            raise self.writer.damaged()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self.reader.close()
        if hasattr(self, "writer"):
            self.writer.close()

    def _filtered(self, new: Sequence[int]) -> PartFilter | None:
        """The filter, with what is new and the next part of what is older; another one if there are too many for it."""
        sieve, entries = self._filter, self.entries + len(new)
        if not self._tiers.runs:
            return None
        if sieve is None or not sieve.has_room(entries):
            sieve = PartFilter(entries)
            sieve.add(self._tail)
        sieve.add(new)
        low, share = sieve.filled, (_PACE * len(new) + self._most) / max(entries, 1)
        high = min(low + int(share * END), END)
        for table in self._tiers.live if low < high else ():
            select = f"SELECT json_group_array(fingerprint) FROM {table} WHERE fingerprint >= ? AND fingerprint <= ?"  # noqa: S608
            sieve.add(_decode(self.writer.row(select, (low, high - 1))[0]))
        sieve.filled = high
        return sieve

    # -- in the transaction

    def _load(self) -> None:
        self.entries = int(self.writer.row("SELECT entries FROM size")[0])
        self._tiers.load()
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
        checksum = _checksum(before + sum(new) - sum(there))
        self.writer.write("UPDATE size SET entries = ?, checksum = ?", (self.entries, checksum))

    def _remove(self, there: Sequence[int]) -> None:
        chosen = _encode(there).decode()
        for table in self._tiers.tables:
            self.writer.write(f"DELETE FROM {table} WHERE fingerprint IN (SELECT value FROM json_each(?))", (chosen,))  # noqa: S608
        left = array("q", sorted(set(self._tail).difference(there)))
        if len(left) < len(self._tail):
            self._tail = left
            self.writer.write("DELETE FROM tail")
            self.writer.write("INSERT INTO tail (fingerprints) VALUES (?)", (left.tobytes(),))

    def _make_run(self) -> None:
        self._tiers.add("SELECT value FROM json_each(?)", (_encode(self._tail.tolist()).decode(),))
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
        runs = len(self._tiers.runs)
        return f"<SortedRuns {self.writer.path}: {self.entries} entries, {runs} runs, {len(self._tail)} in the tail>"


def _whole(database: Database, data: object) -> bytes:
    if not isinstance(data, bytes) or len(data) % 8:
        raise database.damaged()
    return data


def _checksum(total: int) -> int:
    return total % 2**63
