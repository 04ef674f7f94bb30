"""Aliases: of pages that say the same, the first is indexed, the others are its aliases (YIOOP-9; Manku, Jain, Sarma 2007).

Stands between the index storage and the index, on its writer thread: `settle` takes the visits that were stored and returns
what the index is to do. The same, to the letter, are pages of one `larm.model.crawl_hash.page_hash`; nearly the same are main
texts whose sketches agree (`larm.duplicates.fingerprints`). A page that names a canonical address is an alias of what is there,
whatever it says.

Who comes first leads, and of who leads the marks are in the table; an alias follows one that leads. Aliases keep their
document (packed, a few KB), so when the page that leads changes or goes, they are settled anew without asking the site: the
first of them takes its place in the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import xxhash

from larm import config
from larm.duplicates.likeness import Fingerprint, distance, likeness
from larm.duplicates.row import AliasRow, decode_row, encode_row, pack, unpack
from larm.errors import StorageError
from larm.kit.twin_table import Entry, TwinTable
from larm.model.crawl_hash import text_hash
from larm.model.document import Document, Visit
from larm.model.told import Told
from larm.model.url import Url
from larm.model.url_shape import without_echo

_FAR = 20
"""Bits in which the simhashes of texts differ at most of which half is the same (17 are to be expected)."""
_TOGETHER, _MOST = 64, 4_000_000
"""Visits, and bytes of them, looked at together: each call of numpy or SQLite costs milliseconds beside busy threads."""
_WAITING = 1000  # another seed than those of the bands
_SHORT = 1500  # characters
_LITTLE = 10
"""A text is nothing new if less than one in so many of its features was not seen before."""


EXACT, NEAR, CANONICAL, PROMOTED = (f"duplicates/{each}" for each in ("exact", "near", "canonical", "promoted"))
"""Counters: pages that became aliases, by the reason, and aliases that took the place of the page that led."""


class Aliases:
    """The aliases of one index. Only its writer thread."""

    def __init__(
        self,
        path: Path,
        settings: config.Duplicates,
        tell: Callable[[Sequence[Told]], None] = lambda _: None,
        count: Callable[[str, int], None] = lambda _name, _n: None,
    ) -> None:
        # constant after construction
        self._path = path
        self._settings = settings
        self._tell = tell
        self._count = count
        # only the writer thread
        self._memory: Any = None
        self._table: TwinTable | None = None
        self._held: list[Visit] = []
        self._cost = 0

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin anew, or go on at what `commit` returned. Raises StorageError."""
        if position is None:
            for ending in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
        self._table = TwinTable(self._path)
        self._table.open_at(int(position["generation"]) if position else 0)

    def settle(self, visits: Sequence[Visit]) -> list[Visit]:
        """What the index is to do: visits that are to be indexed, and visits that are ``gone`` for what is to be removed.

        Visits without a page come back as they are. Visits are held back until a batch has come together, or `rest` is called.
        Raises StorageError.
        """
        self._held += visits
        self._cost += sum([visit.cost for visit in visits])
        return self.rest() if len(self._held) >= _TOGETHER or self._cost >= _MOST else []

    def rest(self) -> list[Visit]:
        """As `settle`, of what was held back."""
        visits, self._held, self._cost = self._held, [], 0
        pages = [visit for visit in visits if visit.document is not None and visit.url is not None]
        prints = self._look(pages)
        read: dict[int, tuple[AliasRow, Fingerprint]] = {}
        hidden: list[Told] = []
        for visit, made in zip(pages, prints, strict=True):
            if visit.document is not None and visit.document.index:
                read[id(visit)] = _row(visit, visit.document, made), made
            else:
                hidden.append(_told(visit, made, None))
        if hidden:
            self._tell(hidden)
        view = _View(self._open_table(), [row for row, _ in read.values()], visits)
        if not view.special:
            return self._settle_new(visits, read, view)
        out: list[Visit] = []
        for special, group in groupby(visits, lambda visit: visit.url is not None and visit.url.fingerprint in view.special):
            some = list(group)
            if special:
                out += [each for visit in some for each in self._settle_alone(visit, read.get(id(visit)))]
            else:
                rows = [read[id(visit)][0] for visit in some if id(visit) in read]
                out += self._settle_new(some, read, _View(self._open_table(), rows, some))
        return out

    def _settle_new(
        self, visits: Sequence[Visit], read: Mapping[int, tuple[AliasRow, Fingerprint]], view: _View
    ) -> list[Visit]:
        out: list[Visit] = []
        told: list[Told] = []
        for visit in visits:
            found = read.get(id(visit))
            if found is None or visit.url is None:
                out.append(visit)
                continue
            lead = self._lead(view, visit.url.fingerprint, found[0])
            self._enter(view, visit, found[0], lead, out)
            told.append(_told(visit, found[1], lead))
        view.write()
        if told:
            self._tell(told)
        return out

    def commit(self) -> Mapping[str, Any]:
        """Make it durable; the position is for `open`. Raises StorageError."""
        return {"generation": self._open_table().commit()}

    def close(self) -> None:
        """After the last commit."""
        if self._table is not None:
            self._table.close()

    # -- one page

    def _look(self, pages: Sequence[Visit]) -> list[Fingerprint]:
        """Fingerprints of the main texts. What is new is also looked for elsewhere on a page that has little of it: a list."""
        from larm.duplicates.fingerprints import fingerprints, new_memory  # perhaps with numpy: the crawl goes on meanwhile

        if self._memory is None:
            self._memory = new_memory()
        documents = [visit.document or Document("") for visit in pages]
        lists = [n for n, each in enumerate(documents) if each.other_text and len(each.raw_text) < _SHORT]
        texts = [_own(visit, each.raw_text) for visit, each in zip(pages, documents, strict=True)]
        prints = fingerprints([*texts, *[_own(pages[n], documents[n].other_text) for n in lists]], self._memory)
        others = prints[len(pages) :]
        del prints[len(pages) :]
        for n, other in zip(lists, others, strict=True):
            (looked, new), (more, newer) = prints[n].news, other.news
            prints[n] = prints[n]._replace(news=(looked + more, new + newer))
        return prints

    def _lead(self, view: _View, key: int, row: AliasRow) -> AliasRow | None:
        """The page that this one is an alias of, None if it is to lead."""
        if row.canonical and row.canonical != key:
            named = view.get(row.canonical)
            lead = view.get(named.first) if named else None
            if lead is not None and lead.key != key and not _careless(row, lead.row):
                self._count(CANONICAL, 1)
                return lead.row
        for each in view.leads(*row.exact):
            if each.key != key and each.row.digest == row.digest:
                self._count(EXACT, 1)
                return each.row
        near = [
            (likeness(row.sketch, each.row.sketch), each.row)
            for each in view.leads(*row.bands)
            if each.key != key and distance(row.simhash, each.row.simhash) <= _FAR
        ]
        for share, other in sorted(near, key=lambda pair: pair[0], reverse=True):
            titled = row.title == other.title != 0
            if share >= (self._settings.similarity if titled else self._settings.similarity_other_title):
                self._count(NEAR, 1)
                return other
        return None

    def _enter(self, view: _View, visit: Visit, row: AliasRow, lead: AliasRow | None, out: list[Visit]) -> None:
        """Into the table, and, if it leads, into the index."""
        if lead is None:
            if row.canonical not in (0, row.key):  # what it names may yet come
                row = msgspec.structs.replace(row, visit=pack(visit))
            view.put(row, row.key)
            out.append(visit)
        else:
            view.put(msgspec.structs.replace(row, visit=pack(visit)), lead.key)

    # -- where something of the page, or for it, is there already

    def _settle_alone(self, visit: Visit, found: tuple[AliasRow, Fingerprint] | None) -> list[Visit]:
        url, table = visit.url, self._open_table()
        if url is None:
            return [visit]
        out: list[Visit] = []
        old = table.get_many([url.fingerprint]).get(url.fingerprint)
        if found is None:
            if old is not None and (visit.gone or visit.document is not None):
                self._leave(old, out)
            return [visit, *out]
        row, made = found
        if old is not None and old.first == old.key and _same(decode_row(old.data), row):
            self._tell([Told(url, visit.referrer, False, "")])
            return [visit]  # it leads on
        if old is not None:
            table.remove([old.key])
        view = _View(table, [row], [visit])
        lead = self._lead(view, row.key, row)
        self._enter(view, visit, row, lead, out)
        view.write()
        if old is not None and lead is not None:
            out.append(_gone(url))
        if old is not None and old.first == old.key:
            self._follow_anew(old.key, out)
        if view.awaited(row.key):
            self._gather(row.key, out)
        self._tell([_told(visit, made, lead)])
        return out

    def _leave(self, old: Entry, out: list[Visit]) -> None:
        """The page is gone: the first of its aliases takes over."""
        self._open_table().remove([old.key])
        if old.first == old.key:
            self._follow_anew(old.key, out)

    def _follow_anew(self, lead: int, out: list[Visit]) -> None:
        """Those that followed ``lead``, which is not what it was: each is looked at as though it had just come.

        All of them are put aside first: none is taken for what it was by another that names it.
        """
        table, aside = self._open_table(), ~lead
        while followers := table.followers(lead):
            table.put([each._replace(first=aside) for each in followers])
        while followers := table.followers(aside):
            for entry in followers:
                row = decode_row(entry.data)
                table.remove([entry.key])
                view = _View(table, [row], [])
                found = self._lead(view, entry.key, row)
                self._enter(view, unpack(row.visit), row, found, out)
                view.write()
                self._count(PROMOTED, int(found is None))
                if view.awaited(entry.key):
                    self._gather(entry.key, out)

    def _gather(self, key: int, out: list[Visit]) -> None:
        """Pages that named this one, which is there now, become aliases of it or of what it follows, with who followed them."""
        table = self._open_table()
        first = table.get_many([key])[key].first
        lead, seen = decode_row(table.get_many([first])[first].data), {key, first}
        while waiting := {each for _, each in table.find([_waits_for(key)])} - seen:
            seen |= waiting
            for entry in table.get_many(waiting).values():
                other = decode_row(entry.data)
                if not other.visit or _careless(other, lead):
                    continue
                self._count(CANONICAL, 1)
                table.put([Entry(entry.key, first, entry.data)])
                out.append(_gone(unpack(other.visit).url))
                while followers := table.followers(entry.key):
                    table.put([each._replace(first=first) for each in followers])

    def _open_table(self) -> TwinTable:
        if self._table is None:
            raise StorageError(f"{self._path}: the table of aliases was not opened")
        return self._table


class _Lead(NamedTuple):
    key: int
    first: int
    row: AliasRow


class _View:
    """What the table says about some pages, asked at once, and what is to be added to it."""

    def __init__(self, table: TwinTable, rows: Sequence[AliasRow], visits: Sequence[Visit]) -> None:
        self._table = table
        self._by_mark: dict[int, list[int]] = {}
        self._rows: dict[int, AliasRow] = {}  # that were decoded
        self._new: list[Entry] = []
        own = [visit.url.fingerprint for visit in visits if visit.url is not None]
        waits = {row.key: _waits_for(row.key) for row in rows}
        marks = {*waits.values(), *[mark for row in rows for mark in (*row.exact, *row.bands)]}
        for mark, key in table.find(marks) if marks else ():
            self._by_mark.setdefault(mark, []).append(key)
        naming = {row.key: row.canonical for row in rows if row.canonical not in (0, row.key)}
        wanted = {*own, *naming.values(), *(key for keys in self._by_mark.values() for key in keys)}
        self._entries = table.get_many(wanted) if wanted else {}
        leads = {entry.first for entry in self._entries.values()} - self._entries.keys()
        if leads:
            self._entries |= table.get_many(leads)
        twice = {key for key, times in Counter(own).items() if times > 1}
        waited_for = {key for key, mark in waits.items() if mark in self._by_mark}
        self.special = {*naming, *naming.values(), *waited_for, *twice, *(key for key in own if key in self._entries)}
        """Pages that are not new, or have to do with a canonical address: to be settled one by one."""

    def get(self, key: int) -> _Lead | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if (row := self._rows.get(key)) is None:
            row = self._rows[key] = decode_row(entry.data)
        return _Lead(entry.key, entry.first, row)

    def leads(self, *marks: int) -> list[_Lead]:
        known = self._by_mark
        keys = dict.fromkeys([key for mark in marks if mark in known for key in known[mark]])
        return [lead for key in keys if (lead := self.get(key)) is not None]

    def awaited(self, key: int) -> bool:
        """Others named this one, of ``rows``, before it was there."""
        return _waits_for(key) in self._by_mark

    def put(self, row: AliasRow, first: int) -> None:
        """One that leads is found by its marks, and by the address that it names and that is not there yet."""
        marks: tuple[int, ...] = ()
        if first == row.key:
            marks = tuple(dict.fromkeys((*row.exact, *row.bands)))
            if row.visit:
                marks += (_waits_for(row.canonical),)
        entry = Entry(row.key, first, encode_row(row), marks)
        self._entries[row.key] = entry
        self._rows[row.key] = row
        self._new.append(entry)
        for mark in marks:
            self._by_mark.setdefault(mark, []).append(row.key)

    def write(self) -> None:
        self._table.put(self._new, new=True)
        self._new = []


def _row(visit: Visit, document: Document, made: Fingerprint) -> AliasRow:
    url = visit.url or Url("", "", "", 0)
    named = document.canonical.fingerprint if document.canonical else 0
    return AliasRow(
        key=url.fingerprint,
        access=url.access,
        digest=document.seen,
        simhash=made.simhash,
        sketch=made.sketch if made.bands else b"",
        bands=made.bands,
        title=text_hash(document.title),
        canonical=named,
    )


def _own(visit: Visit, text: str) -> str:
    """The text; a short one without the address, which makes up much of it on pages that say nothing."""
    return text if len(text) > _SHORT or visit.url is None else without_echo(text, visit.url.access)


def _same(old: AliasRow, new: AliasRow) -> bool:
    return old.digest == new.digest and old.sketch == new.sketch and old.canonical == new.canonical


def _careless(row: AliasRow, lead: AliasRow) -> bool:
    """All pages of some sites name the home page as the canonical one of all. It is believed where it says much the same."""
    home = lead.access.count("/") == 3 and lead.access.endswith("/")
    return home and likeness(row.sketch, lead.sketch) < 0.5


def _waits_for(key: int) -> int:
    """The mark of who names a page that is not there;"""
    return xxhash.xxh3_64_intdigest(key.to_bytes(8), seed=_WAITING) >> 1


def _told(visit: Visit, made: Fingerprint, lead: AliasRow | None) -> Told:
    url = visit.url or Url("", "", "", 0)
    looked, new = made.news
    html = visit.document is not None and visit.document.mime in ("text/html", "application/xhtml+xml")
    stale = lead is not None or (new * _LITTLE < looked if looked else html)
    return Told(url, visit.referrer, stale, lead.access if lead else "")


def _gone(url: Url | None) -> Visit:
    return Visit(page=url.access if url else "", url=url, gone=True)
