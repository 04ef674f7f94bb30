"""View: what the table of aliases says about some pages, asked at once, and what is to be added to it.

Made and used by `larm.index.duplicates.aliases`, for one batch of pages or for one page. Only the writer thread of the index
storage.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import xxhash

from larm.index.duplicates.row import AliasRow, decode_row, encode_row
from larm.kit.disk.table import Table, TableRow
from larm.model.document import Visit

_WAITING = 1000  # another seed than those of the bands


class Known(NamedTuple):
    """What the table has of one page."""

    key: int
    first: int
    """The page that it follows; itself, if it leads."""
    row: AliasRow


class View:
    """What the table says about some pages, asked at once, and what is to be added to it."""

    def __init__(self, table: Table, rows: Sequence[AliasRow], visits: Sequence[Visit]) -> None:
        """``rows``: pages that may be entered, of these ``visits`` and others. Raises StorageError."""
        self._table = table
        self._by_mark: dict[int, list[int]] = {}
        self._rows: dict[int, AliasRow] = {}  # that were decoded
        self._new: list[TableRow] = []
        own = [visit.url.fingerprint for visit in visits if visit.url is not None]
        waits = {row.key: waits_for(row.key) for row in rows}
        marks = {*waits.values(), *[mark for row in rows for mark in (*row.exact, *row.bands)]}
        for mark, key in table.find(marks) if marks else ():
            self._by_mark.setdefault(mark, []).append(key)
        naming = {row.key: row.canonical for row in rows if row.canonical not in (0, row.key)}
        wanted = {*own, *naming.values(), *(key for keys in self._by_mark.values() for key in keys)}
        self._entries = table.get_many(wanted) if wanted else {}
        leads = {entry.parent for entry in self._entries.values()} - self._entries.keys()
        if leads:
            self._entries |= table.get_many(leads)
        twice = {key for key, times in Counter(own).items() if times > 1}
        waited_for = {key for key, mark in waits.items() if mark in self._by_mark}
        there = {*own, *self._entries}
        named = {each for key, lead in naming.items() if lead in there for each in (key, lead)}
        self.special = {*named, *waited_for, *twice, *(key for key in own if key in self._entries)}
        """Pages that are not new, or name another one that is there, or are named: to be settled one by one."""

    def get(self, key: int) -> Known | None:
        """By its fingerprint; None: it is not there, or nobody has asked for it."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if (row := self._rows.get(key)) is None:
            row = self._rows[key] = decode_row(entry.data)
        return Known(entry.key, entry.parent, row)

    def leads(self, *marks: int) -> list[Known]:
        """Those with one of these marks, each once: first come, first."""
        known = self._by_mark
        keys = dict.fromkeys([key for mark in marks if mark in known for key in known[mark]])
        return [lead for key in keys if (lead := self.get(key)) is not None]

    def awaited(self, key: int) -> bool:
        """Others named this one, of ``rows``, before it was there."""
        return waits_for(key) in self._by_mark

    def put(self, row: AliasRow, first: int) -> None:
        """One that leads is found by its marks, and by the address that it names and that is not there yet. Of a group only the
        first one is found by its bands."""
        marks: tuple[int, ...] = ()
        if first == row.key:
            marks = tuple(dict.fromkeys((*row.exact, *(() if row.group else row.bands))))
            if row.visit:
                marks += (waits_for(row.canonical),)
        entry = TableRow(row.key, first, encode_row(row), marks)
        self._entries[row.key] = entry
        self._rows[row.key] = row
        self._new.append(entry)
        for mark in marks:
            self._by_mark.setdefault(mark, []).append(row.key)

    def write(self) -> None:
        """What was put into the table itself. Raises StorageError."""
        self._table.put(self._new, new=True)
        self._new = []


def waits_for(key: int) -> int:
    """The mark of who names a page that is not there."""
    return xxhash.xxh3_64_intdigest(key.to_bytes(8), seed=_WAITING) >> 1
