"""SortedRuns: rows that arrive in any order, on the disk in *runs*, tables that are each filled in the order of their keys.

A log-structured merge tree. In one large table, SQLite writes a page of 4 KB for nearly each row. So the owner collects new
rows in a *tail* and makes a run of it when it is long. `_FAN` runs of one level are merged into one of the next level. A row is
written some six times, whatever the number of rows, and is searched in two or three runs of each level.

A merge is done in steps, so that none takes long. Its *target* is not read before it is complete. The merged runs are then
*obsolete*; the next transaction drops them, so that a reader of the last state still finds them.

All changes are part of a transaction of the owner. Used by one thread at a time; all methods may raise StorageError.
"""

import zlib
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from larm.kit.disk.database import Database

_FAN = 4
"""Runs that become one: with fewer, each row is written more often; with more, it is searched in more runs."""
_MANY = 40
"""Runs of one level that may wait for a merge. One statement of SQLite reads at most 500 tables: ten such levels."""
_PACE = 8
"""Rows that a merge moves for each new row. At least two are needed to end it before the next merge is due."""
_LOWEST = -(2**63)
"""Lower than all keys."""
LIVE, TARGET, OBSOLETE = "live", "target", "obsolete"
PRIME, FACTORS = 2**31 - 1, 1_000_003
"""Of digests: both are prime, and no product has more than 63 bits."""

_TABLE_NAMES = "SELECT json_group_array(name) FROM sqlite_master WHERE type = 'table'"
_names = msgspec.json.Decoder(set[str]).decode


class Order(NamedTuple):
    """The form of all runs of one kind: columns, and their order."""

    prefix: str
    """Beginning of the names of the tables."""
    columns: str
    """Columns as in CREATE TABLE, with the PRIMARY KEY."""
    chosen: tuple[str, ...]
    """Names of all columns, those of the key first."""
    key: int
    """Number of columns of the key."""
    catalogue: str
    """Name of the table that lists the runs."""
    tail: str = ""
    """Name of the table of rows that are in no run yet; empty: none."""
    top: int = 64
    """Levels from here on are merged lazily, because deletions would waste large merges."""
    kept: str = "TRUE"
    """SQL condition on the rows of a ``{table}`` that a merge keeps. It must refuse a row for good."""


class Run(msgspec.Struct):
    """One run."""

    table: str
    number: int
    level: int
    state: str
    target: int | None
    """Number of the run that it is merged into."""


def catalogue_of(order: Order) -> str:
    """Return the statement that makes the list of runs."""
    columns = "number INTEGER PRIMARY KEY, level INTEGER NOT NULL, state TEXT NOT NULL, target INTEGER, crc INTEGER NOT NULL"
    return f"CREATE TABLE IF NOT EXISTS {order.catalogue} ({columns});"


class SortedRuns:
    """The runs of one kind of rows."""

    def __init__(self, database: Database, order: Order, least: int) -> None:
        """``least``: about the number of rows of a run of the first level."""
        # constant after construction
        self._database = database
        self._order = order
        self._least = least
        # only the calling thread
        self.runs: list[Run] = []
        self.noted = False
        """False if the database has no tables yet and is only read."""

    def load(self) -> None:
        """Read the list of runs."""
        order, tables = self._order, _names(self._database.row(_TABLE_NAMES)[0])
        self.runs, self.noted = [], order.catalogue in tables
        if self.noted:
            select = f"SELECT number, level, state, target, crc FROM {order.catalogue} ORDER BY number"  # noqa: S608  a constant
            rows = self._database.rows(select)
            if any(crc != _crc(*row) for *row, crc in rows):
                raise self._database.damaged(f"the list {order.catalogue} is damaged")
            self.runs = [Run(self._table(row[0]), *row[:4]) for row in rows]
        if missing := [run.table for run in self.runs if run.table not in tables]:
            raise self._database.damaged(f"the database is damaged: it has no table {missing[0]}")

    def of(self, state: str) -> list[Run]:
        """Return the runs of a state."""
        return [run for run in self.runs if run.state == state]

    @property
    def live(self) -> list[str]:
        """Tables to search: each row is in one of them."""
        return [*self._tail(), *(run.table for run in self.of(LIVE))]

    @property
    def tables(self) -> list[str]:
        """Tables to remove a row from, with those of merges."""
        return [*self._tail(), *(run.table for run in self.runs)]

    # -- in a transaction

    def add(self, select: str, values: Sequence[object] = ()) -> None:
        """Make a run of the rows that ``select`` yields in the order of their keys."""
        run = self._new_run(0, LIVE)
        self._database.write(f"INSERT OR IGNORE INTO {run.table} {select}", values)

    def step(self, new: int) -> None:
        """Continue the merges, after ``new`` rows have come."""
        self._begin_merges()
        for run in self.of(TARGET):
            self._merge(run, _PACE * new + max(1, self._least // 8))

    def drop_obsolete(self) -> None:
        """Drop the runs that were merged."""
        for run in self.of(OBSOLETE):
            self._database.write(f"DROP TABLE {run.table}")
            self._database.write(f"DELETE FROM {self._order.catalogue} WHERE number = ?", (run.number,))  # noqa: S608  a constant
        self.runs = [run for run in self.runs if run.state != OBSOLETE]

    def merge_all(self) -> None:
        """Begin to merge all runs that are in no merge."""
        if free := [run for run in self.of(LIVE) if run.target is None]:
            self._begin_merge(free, max(run.level for run in free))

    def make_all_obsolete(self) -> None:
        """Empty all runs; the next `drop_obsolete` drops them."""
        for run in self.runs:
            run.state = OBSOLETE
            self._note(run)

    def _tail(self) -> list[str]:
        return [self._order.tail] if self._order.tail and self.noted else []

    def _table(self, number: int) -> str:
        return f"{self._order.prefix}{number:d}"

    def _new_run(self, level: int, state: str) -> Run:
        number = max([each.number for each in self.runs], default=0) + 1
        run = Run(self._table(number), number, level, state, None)
        self._database.write(f"CREATE TABLE {run.table} {self._order.columns}")
        self.runs.append(run)
        self._note(run)
        return run

    def _begin_merges(self) -> None:
        for level in sorted({run.level for run in self.of(LIVE)}):
            free = [run for run in self.of(LIVE) if run.level == level and run.target is None]
            enough = _FAN if level < self._order.top else _MANY
            if len(free) < enough or any(run.level == level + 1 for run in self.of(TARGET)):
                continue
            self._begin_merge(free[:_FAN], level + 1)

    def _begin_merge(self, parts: Sequence[Run], level: int) -> None:
        target_run = self._new_run(level, TARGET)
        for run in parts:
            run.target = target_run.number
            self._note(run)

    def _merge(self, target_run: Run, limit: int) -> None:
        """Move the next ``limit`` rows into it."""
        order = self._order
        names = order.chosen[: order.key]
        key, chosen = ", ".join(names), ", ".join(order.chosen)
        places = ", ".join(f":{name}" for name in names)
        descending = ", ".join(f"{name} DESC" for name in names)
        last = self._database.rows(f"SELECT {key} FROM {target_run.table} ORDER BY {descending} LIMIT 1")  # noqa: S608  constants
        parts = [run for run in self.of(LIVE) if run.target == target_run.number]
        rows = " UNION ALL ".join(
            f"SELECT {chosen} FROM {run.table} WHERE ({key}) > ({places}) AND {order.kept.format(table=run.table)}"  # noqa: S608
            for run in parts
        )
        insert = f"INSERT OR IGNORE INTO {target_run.table} SELECT * FROM ({rows} ORDER BY {key} LIMIT {limit:d})"  # noqa: S608
        low = dict(zip(names, last[0] if last else (_LOWEST,) * order.key, strict=True))
        if self._database.write(insert, low):  # what is in two of them is moved once
            return
        target_run.state = LIVE if last else OBSOLETE  # nothing was left of all its parts
        for run in parts:
            run.state = OBSOLETE
        for run in (target_run, *parts):
            self._note(run)

    def _note(self, run: Run) -> None:
        values = (run.number, run.level, run.state, run.target)
        insert = f"INSERT OR REPLACE INTO {self._order.catalogue} VALUES (?, ?, ?, ?, ?)"  # noqa: S608  a constant
        self._database.write(insert, (*values, _crc(*values)))

    # -- checked

    def digest(self) -> list[int]:
        """Return number and sum (`add_to_digest`) of the keys in the live runs. A key has one number, or a pair of them."""
        first, last = self._order.chosen[0], self._order.chosen[self._order.key - 1]
        select = f"SELECT count(*), sum(({first} % {PRIME}) * ({last} % {FACTORS} + 1) % {PRIME}) FROM {{0}}"  # noqa: S608
        found = [self._database.row(select.format(run.table)) for run in self.of(LIVE)]
        return [sum([count for count, _ in found]), sum([total or 0 for _, total in found]) % PRIME]

    def check_merges(self) -> None:
        """Compare each target with the runs that are merged into it. Raises StorageError."""
        names = self._order.chosen[: self._order.key]
        key = ", ".join(names)
        equal = " AND ".join(f"other.{name} = this.{name}" for name in names)
        for run in self.of(TARGET):
            parts = [part.table for part in self.of(LIVE) if part.target == run.number]
            for table, others in [(run.table, parts), *((part, [run.table]) for part in parts)]:
                lacking = " AND ".join(f"NOT EXISTS (SELECT 1 FROM {each} AS other WHERE {equal})" for each in others)  # noqa: S608
                moved = f"({key}) <= (SELECT {key} FROM {run.table} ORDER BY {' DESC, '.join(names)} DESC LIMIT 1)"  # noqa: S608
                if self._database.rows(f"SELECT 1 FROM {table} AS this WHERE {moved} AND {lacking or 1} LIMIT 1"):  # noqa: S608
                    raise self._database.damaged(f"the merge into {run.table} is damaged")


def add_to_digest(digest: list[int], firsts: Collection[int], last: int) -> None:
    """Add pairs with the same ``last`` number. The sum does not depend on their order; changes do not cancel each other."""
    digest[0] += len(firsts)
    digest[1] = (digest[1] + sum(firsts) * (last % FACTORS + 1)) % PRIME


def _crc(*run: object) -> int:
    return zlib.crc32(repr(run).encode())
