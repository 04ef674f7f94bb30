"""Tiers: rows that come in any order, on the disk in *runs* that are each written in order (a log-structured merge tree).

A table in which each new row goes to its own place has a page of 4 KB written for nearly each of them as soon as it is large.
So its owner writes rows where others of the same time are; when enough have come together, they become a run, a table that is
filled in the order of its keys. Of each tier `_FAN` runs become one of the next tier. So a row is written some six times,
whatever the number of all, and looked for in two or three runs of each tier.

A merge is done in steps, so that none takes long: the new run *grows*, and is not asked before it is whole. The runs that it
is made of are then *dead*, and dropped by the next step: until then, who looks may go by what was before.

All that is changed is part of a transaction of the owner's, so a kill leaves what the last one has left. Belongs to one thread
at a time; what may raise StorageError is `larm.kit.disk.database`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from larm.kit.disk.database import Database

_FAN = 4
"""Runs that become one: with fewer each row is written more often, with more it is looked for in more places."""
_MANY = 40
"""Runs of a tier that may wait. SQLite looks into 500 tables at once, and no more: enough for ten such tiers."""
_PACE = 8
"""Rows that a merge moves for each new one. Twice is the least with which it ends before the next one is due."""
_LOWEST = -(2**63)
"""No key is that low."""
LIVE, GROWING, DEAD = "live", "growing", "dead"

_TABLE_NAMES = "SELECT json_group_array(name) FROM sqlite_master WHERE type = 'table'"
_names = msgspec.json.Decoder(set[str]).decode


class Form(NamedTuple):
    """Of the tables of the runs."""

    prefix: str
    """Of their names."""
    columns: str
    """As CREATE TABLE has them, with the PRIMARY KEY."""
    chosen: tuple[str, ...]
    """Names of all columns; the first ones are the key."""
    key: int
    """How many of them."""
    catalogue: str
    """Name of the table that says which runs there are."""
    tail: str = ""
    """Name of the table of rows that are in no run yet, where there is one."""
    top: int = 64
    """From this tier on merges wait till they must: where rows go again, large ones would be in vain, and need as much room."""
    kept: str = "TRUE"
    """A condition on the rows of a ``{table}`` that a merge moves. What it refuses once it refuses for ever."""


class Run(msgspec.Struct):
    """One of them."""

    table: str
    number: int
    tier: int
    state: str
    target: int | None
    """The run that it becomes a part of."""


def catalogue_of(form: Form) -> str:
    """The statement that makes its table."""
    columns = "number INTEGER PRIMARY KEY, tier INTEGER NOT NULL, state TEXT NOT NULL, target INTEGER"
    return f"CREATE TABLE IF NOT EXISTS {form.catalogue} ({columns});"


class Tiers:
    """The runs of one kind of rows."""

    def __init__(self, database: Database, form: Form, least: int) -> None:
        """``least``: rows of which a run of the first tier is made, about."""
        # constant after construction
        self._database = database
        self._form = form
        self._least = least
        # only the calling thread
        self.runs: list[Run] = []
        self.noted = False
        """True if there is a catalogue: not in a database that has no tables yet, and is only read."""

    def load(self) -> None:
        """Read which runs there are. Raises StorageError."""
        form, tables = self._form, _names(self._database.row(_TABLE_NAMES)[0])
        self.runs, self.noted = [], form.catalogue in tables
        if self.noted:
            select = f"SELECT number, tier, state, target FROM {form.catalogue} ORDER BY number"  # noqa: S608  a constant
            self.runs = [Run(self._table(row[0]), *row) for row in self._database.rows(select)]
        if missing := [run.table for run in self.runs if run.table not in tables]:
            raise self._database.damaged(f"the database is damaged: it has no table {missing[0]}")

    def of(self, state: str) -> list[Run]:
        """Those of a state."""
        return [run for run in self.runs if run.state == state]

    @property
    def live(self) -> list[str]:
        """The tables to look into: each row is in one of them."""
        return [*self._tail(), *(run.table for run in self.of(LIVE))]

    @property
    def tables(self) -> list[str]:
        """The tables to remove a row from: those that merges have to do with, too."""
        return [*self._tail(), *(run.table for run in self.runs)]

    # -- in a transaction

    def add(self, select: str, values: Sequence[object] = ()) -> None:
        """A new run, of rows that ``select`` yields in the order of their keys."""
        run = self._new_run(0, LIVE)
        self._database.write(f"INSERT OR IGNORE INTO {run.table} {select}", values)

    def step(self, new: int) -> None:
        """Get on with merges, as ``new`` rows have come."""
        self._begin_merges()
        for run in self.of(GROWING):
            self._merge(run, _PACE * new + max(1, self._least // 8))

    def drop_dead(self) -> None:
        """Of what was merged, remove the parts."""
        for run in self.of(DEAD):
            self._database.write(f"DROP TABLE {run.table}")
            self._database.write(f"DELETE FROM {self._form.catalogue} WHERE number = ?", (run.number,))  # noqa: S608  a constant
        self.runs = [run for run in self.runs if run.state != DEAD]

    def merge_all(self) -> None:
        """Begin to make one run of all that no merge has to do with."""
        if free := [run for run in self.of(LIVE) if run.target is None]:
            self._begin_merge(free, max(run.tier for run in free))

    def drop_all(self) -> None:
        """Nothing is left of any run; the next `drop_dead` removes them."""
        for run in self.runs:
            run.state = DEAD
            self._note(run)

    def _tail(self) -> list[str]:
        return [self._form.tail] if self._form.tail and self.noted else []

    def _table(self, number: int) -> str:
        return f"{self._form.prefix}{number:d}"

    def _new_run(self, tier: int, state: str) -> Run:
        number = max([each.number for each in self.runs], default=0) + 1
        run = Run(self._table(number), number, tier, state, None)
        self._database.write(f"CREATE TABLE {run.table} {self._form.columns}")
        self.runs.append(run)
        self._note(run)
        return run

    def _begin_merges(self) -> None:
        for tier in sorted({run.tier for run in self.of(LIVE)}):
            free = [run for run in self.of(LIVE) if run.tier == tier and run.target is None]
            if len(free) < (_FAN if tier < self._form.top else _MANY) or any(run.tier == tier + 1 for run in self.of(GROWING)):
                continue
            self._begin_merge(free[:_FAN], tier + 1)

    def _begin_merge(self, parts: Sequence[Run], tier: int) -> None:
        grown = self._new_run(tier, GROWING)
        for run in parts:
            run.target = grown.number
            self._note(run)

    def _merge(self, grown: Run, limit: int) -> None:
        """Move the next ``limit`` rows into it."""
        form = self._form
        names = form.chosen[: form.key]
        key, chosen = ", ".join(names), ", ".join(form.chosen)
        places = ", ".join(f":{name}" for name in names)
        descending = ", ".join(f"{name} DESC" for name in names)
        last = self._database.rows(f"SELECT {key} FROM {grown.table} ORDER BY {descending} LIMIT 1")  # noqa: S608  constants
        parts = [run for run in self.of(LIVE) if run.target == grown.number]
        rows = " UNION ALL ".join(
            f"SELECT {chosen} FROM {run.table} WHERE ({key}) > ({places}) AND {form.kept.format(table=run.table)}"  # noqa: S608
            for run in parts
        )
        insert = f"INSERT OR IGNORE INTO {grown.table} SELECT * FROM ({rows} ORDER BY {key} LIMIT {limit:d})"  # noqa: S608
        low = dict(zip(names, last[0] if last else (_LOWEST,) * form.key, strict=True))
        if self._database.write(insert, low):  # what is in two of them is moved once
            return
        grown.state = LIVE if last else DEAD  # nothing was left of all its parts
        for run in parts:
            run.state = DEAD
        for run in (grown, *parts):
            self._note(run)

    def _note(self, run: Run) -> None:
        values = (run.number, run.tier, run.state, run.target)
        insert = f"INSERT OR REPLACE INTO {self._form.catalogue} (number, tier, state, target) VALUES (?, ?, ?, ?)"  # noqa: S608
        self._database.write(insert, values)
