"""SortedRuns: any number of fingerprints on the disk, written in order: a log-structured merge tree in one SQLite file.

A table in which each new number goes to its own place has a page of 4 KB written for nearly each of them as soon as it is
large. So numbers are written where others of the same time are: first as a row of bytes in ``tail``, which is in memory, too,
sorted; when the tail has grown long it becomes a *run*, a table filled in the order of its keys. Of each tier `_FAN` runs
become one of the next tier. So a number is written some six times, whatever the number of all, and looked for in two runs of
each tier.

A merge is done in steps, a few with each `write`, so that none takes long: the new run *grows* and is not asked before it is
whole. The runs that it is made of are then *dead*, and dropped by the next `write`: until `show` nobody knows of the new one.
All of this is part of the transaction of `write`, so a kill leaves the state of the last one.

The table ``seen`` of earlier versions, one tree of all numbers, is run 0.

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

_TABLES = """
    CREATE TABLE IF NOT EXISTS size (entries INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO size SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM size);
    CREATE TABLE IF NOT EXISTS tail (number INTEGER PRIMARY KEY, fingerprints BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS runs (
        number INTEGER PRIMARY KEY, tier INTEGER NOT NULL, state TEXT NOT NULL, target INTEGER
    );
"""
_TABLE_NAMES = "SELECT json_group_array(name) FROM sqlite_master WHERE type = 'table'"
_RUNS = "SELECT number, tier, state, target FROM runs ORDER BY number"
_FOUND = "SELECT json_group_array(value) FROM json_each(?) WHERE "

TAIL = 131_072
"""Numbers of which a run is made: 1 MB of memory, and few runs."""
_FAN = 4
"""Runs that become one: with fewer each number is written more often, with more it is looked for in more places."""
_PACE = 8
"""Numbers that a merge moves for each new one. Twice is the least with which it ends before the next one is due."""
LIVE, GROWING, DEAD = "live", "growing", "dead"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[int]).decode
_decode_names = msgspec.json.Decoder(list[str]).decode


class _Run(msgspec.Struct):
    number: int
    tier: int
    state: str
    target: int | None
    """The run that it becomes a part of."""

    @property
    def table(self) -> str:
        return f"run{self.number:d}" if self.number else "seen"


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
        self.reader = Database(path, _TABLES, read_only=read_only)
        try:
            self.writer = self.reader if read_only else Database(path, _TABLES)
            if read_only:
                self.writer.write("BEGIN")  # or who writes meanwhile would drop what is asked
            # only the writing thread
            self._runs: list[_Run] = []
            self._tail: array[int] = array("q")
            self.entries = 0
            """All that there are."""
            self._load()
        except BaseException:
            self.close()
            raise
        # guarded by the owner
        self._view = self.view()

    # -- asked

    def look_up(self, fingerprints: Iterable[int]) -> list[int]:
        """Those that are there."""
        return self._find(self.reader, self._view, sorted(fingerprints))

    def show(self, view: View) -> None:
        """From now on `look_up` goes by this, and by nothing before it."""
        self._view = view

    def view(self) -> View:
        """What the last `write` has left."""
        asked = [f"EXISTS (SELECT 1 FROM {run.table} WHERE fingerprint = value)" for run in self._of(LIVE)]  # noqa: S608
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
        runs, tail, entries = self._runs, self._tail, self.entries
        self._runs = [msgspec.structs.replace(run) for run in runs]
        try:
            with self.writer.transaction():
                self._drop_dead()
                self._change(new, gone, repeated=epoch is None or epoch <= self.epoch)
                if len(self._tail) >= self._most:
                    self._make_run()
                self._begin_merges()
                for run in self._of(GROWING):
                    self._merge(run, _PACE * len(new) + self._most // 8)
                if epoch is not None:
                    self.writer.generation = epoch
        except BaseException:
            self._runs, self._tail, self.entries = runs, tail, entries
            raise
        return self.view()

    def check(self) -> None:
        """Look at all of it, about a second for ten million. Raises StorageError if anything was lost or changed."""
        count, high, low = len(self._tail), sum(self._tail), 0
        for run in self._of(LIVE):
            each = self.writer.row(
                f"SELECT count(*), sum(fingerprint >> 32), sum(fingerprint & 4294967295) FROM {run.table}"  # noqa: S608
            )
            count, high, low = count + each[0], high + ((each[1] or 0) << 32), low + (each[2] or 0)
        if (count, _checksum(high + low)) != self.writer.row("SELECT entries, checksum FROM size"):
            raise self.writer.damaged()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self.reader.close()
        if hasattr(self, "writer"):
            self.writer.close()

    # -- in the transaction

    def _load(self) -> None:
        tables = set(_decode_names(self.writer.row(_TABLE_NAMES)[0]))
        self.entries = int(self.writer.row("SELECT entries FROM size")[0])
        if "runs" in tables:  # else it is of an earlier version, and read only
            self._runs = [_Run(*row) for row in self.writer.rows(_RUNS)]
            for (data,) in self.writer.rows("SELECT fingerprints FROM tail ORDER BY number"):
                self._tail.frombytes(_whole(self.writer, data))
        if "seen" in tables and not any(run.number == 0 for run in self._runs):
            tier = next(tier for tier in range(64) if self._most * _FAN**tier >= self.entries)
            self._runs.insert(0, _Run(0, tier, LIVE, None))
        if missing := [run.table for run in self._runs if run.table not in tables]:
            raise self.writer.damaged(f"the database is damaged: it has no table {missing[0]}")
        self._tail = array("q", sorted(self._tail))

    def _of(self, state: str) -> list[_Run]:
        return [run for run in self._runs if run.state == state]

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
        for run in self._runs:
            self.writer.write(f"DELETE FROM {run.table} WHERE fingerprint IN (SELECT value FROM json_each(?))", (chosen,))  # noqa: S608
        left = array("q", sorted(set(self._tail).difference(there)))
        if len(left) < len(self._tail):
            self._tail = left
            self.writer.write("DELETE FROM tail")
            self.writer.write("INSERT INTO tail (fingerprints) VALUES (?)", (left.tobytes(),))

    def _make_run(self) -> None:
        run = self._new_run(0, LIVE)
        self.writer.write(f"INSERT INTO {run.table} SELECT value FROM json_each(?)", (_encode(self._tail.tolist()).decode(),))  # noqa: S608
        self.writer.write("DELETE FROM tail")
        self._tail = array("q")

    def _new_run(self, tier: int, state: str) -> _Run:
        run = _Run(max([each.number for each in self._runs], default=0) + 1, tier, state, None)
        self.writer.write(f"CREATE TABLE {run.table} (fingerprint INTEGER PRIMARY KEY)")
        self._runs.append(run)
        self._note(run)
        return run

    def _begin_merges(self) -> None:
        for tier in sorted({run.tier for run in self._of(LIVE)}):
            free = [run for run in self._of(LIVE) if run.tier == tier and run.target is None]
            if len(free) < _FAN or any(run.tier == tier + 1 for run in self._of(GROWING)):
                continue
            grown = self._new_run(tier + 1, GROWING)
            for run in free[:_FAN]:
                run.target = grown.number
                self._note(run)

    def _merge(self, grown: _Run, limit: int) -> None:
        """Move the next ``limit`` numbers into it."""
        (last,) = self.writer.row(f"SELECT coalesce(max(fingerprint), -1) FROM {grown.table}")  # noqa: S608
        parts = [run for run in self._of(LIVE) if run.target == grown.number]
        rows = " UNION ALL ".join(f"SELECT fingerprint FROM {run.table} WHERE fingerprint > ?1" for run in parts)  # noqa: S608
        insert = f"INSERT INTO {grown.table} SELECT * FROM ({rows} ORDER BY fingerprint LIMIT ?2)"  # noqa: S608
        if self.writer.write(insert, (last, limit)) == limit:
            return
        grown.state = LIVE
        for run in parts:
            run.state = DEAD
        for run in (grown, *parts):
            self._note(run)

    def _drop_dead(self) -> None:
        for run in self._of(DEAD):
            self.writer.write(f"DROP TABLE {run.table}")
            self.writer.write("DELETE FROM runs WHERE number = ?", (run.number,))
        self._runs = [run for run in self._runs if run.state != DEAD]

    def _note(self, run: _Run) -> None:
        values = (run.number, run.tier, run.state, run.target)
        self.writer.write("INSERT OR REPLACE INTO runs (number, tier, state, target) VALUES (?, ?, ?, ?)", values)

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
        return f"<SortedRuns {self.writer.path}: {self.entries} entries, {len(self._runs)} runs, {len(self._tail)} in the tail>"


def _whole(database: Database, data: object) -> bytes:
    if not isinstance(data, bytes) or len(data) % 8:
        raise database.damaged()
    return data


def _checksum(total: int) -> int:
    return total % 2**63
