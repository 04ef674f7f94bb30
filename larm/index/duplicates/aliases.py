"""Aliases: of pages that say the same, the first is indexed, the others are its aliases (YIOOP-9; Manku, Jain, Sarma 2007).

Stands between the index storage and the index, on its writer thread: `settle` takes the visits that were stored and returns
what the index is to do. The same, to the letter, are pages of one `larm.model.crawl_hash.page_hash`. A page that names a
canonical address is an alias of what is there, whatever it says.

Nearly the same are main texts whose sketches and lengths agree (`larm.index.duplicates.fingerprints`). Such a page is no
alias: it has words that the other one lacks, of manuals about ``OptionalInt`` and ``OptionalLong`` the very ones that are
looked for. It is indexed, in the *group* of the first such page, and a search shows the best one of a group.

Who comes first leads, and of who leads the marks are in the table; an alias follows one that leads. Aliases keep their
document (packed, a few KB), so when the page that leads changes or goes, they are settled anew without asking the site: the
first of them takes its place in the index.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from larm.errors import StorageError
from larm.index.duplicates.fingerprints import bands_of, text_fingerprint
from larm.index.duplicates.likeness import distance, likeness
from larm.index.duplicates.novelty import own_text
from larm.index.duplicates.row import AliasRow, decode_row, letter_hash, pack, same_text, unpack
from larm.index.duplicates.view import View, waits_for
from larm.kit.disk.table import Table, TableRow
from larm.model.crawl_hash import digest
from larm.model.document import Document, Visit
from larm.model.restriction import open_word
from larm.model.url import Url

SIMILARITY = 0.92
"""Share of their main texts, and of their lengths, from which on pages are nearly the same, so one search result. Articles that
were copied with one word changed have .97; pages of a catalogue, of which one word in 20 is their own, .9 or less."""
_FAR = 20
"""Bits in which the simhashes of texts differ at most of which half is the same (17 are to be expected)."""
_TOGETHER, _MOST = 64, 4_000_000
"""Visits, and bytes of them, looked at together: each call of SQLite costs milliseconds beside busy threads."""


_HTML = ("text/html", "application/xhtml+xml")
EXACT, NEAR, CANONICAL, PROMOTED = (f"duplicates/{each}" for each in ("exact", "near", "canonical", "promoted"))
"""Counters: pages that became aliases, by the reason, or are nearly the same as another; aliases that are none any more."""


class Aliases:
    """The aliases of one index. Only its writer thread."""

    def __init__(
        self,
        path: Path,
        count: Callable[[str, int], None] = lambda _name, _n: None,
        *,
        merge: bool = True,
    ) -> None:
        # constant after construction
        self._path = path
        self._merge = merge
        self._count = count
        # only the writer thread
        self._table: Table | None = None
        self._held: list[Visit] = []
        self._cost = 0
        self._releases = False

    def open(self, position: Mapping[str, Any] | None) -> None:
        """Begin anew, or go on at what `commit` returned. Raises StorageError."""
        if position or self._merge:
            self._table = Table.of_checkpoint(self._path, int(position["generation"]) if position else None)
        self._releases = bool(position) and not self._merge

    def settle(self, visits: Sequence[Visit]) -> list[Visit]:
        """What the index is to do: visits that are to be indexed, and visits that are ``gone`` for what is to be removed.

        Visits without a page come back as they are. Visits are held back until a batch has come together, or `rest` is called.
        Where nothing is to be merged, all come back as they are. Raises StorageError.
        """
        self._held += visits
        self._cost += sum([visit.cost for visit in visits])
        return self.rest() if len(self._held) >= _TOGETHER or self._cost >= _MOST else []

    def rest(self) -> list[Visit]:
        """As `settle`, of what was held back."""
        visits, self._held, self._cost = self._held, [], 0
        if self._merge:
            return self._settle(visits)
        return [*(self._release() if self._releases else ()), *visits]

    def _settle(self, visits: Sequence[Visit]) -> list[Visit]:
        pages = [visit for visit in visits if visit.url is not None]
        read = {id(visit): _row(visit, visit.document) for visit in pages if visit.document and visit.document.index}
        again = self._take_out(visits, read)
        rows = [row for row in read.values() if not again.get(row.key)]
        view = View(self._open_table(), rows, [visit for visit in visits if not again.get(_key(visit))])
        if not view.special:
            return self._settle_new(visits, read, view, again)
        out: list[Visit] = []
        for special, group in groupby(visits, lambda visit: _key(visit) in view.special):
            some = list(group)
            if special:
                out += [each for visit in some for each in self._settle_alone(visit, read.get(id(visit)), again)]
            else:
                rows = [read[id(visit)] for visit in some if id(visit) in read and not again.get(_key(visit))]
                out += self._settle_new(some, read, View(self._open_table(), rows, some), again)
        return out

    def _take_out(self, visits: Sequence[Visit], read: Mapping[int, AliasRow]) -> dict[int, AliasRow | None]:
        """Of revisited pages those that led and that nobody follows: who has another text leaves the table, all at once, and is
        None; of who leads on, what the table says of it."""
        rows = [read[id(visit)] for visit in visits if visit.revisited and id(visit) in read]
        times = Counter(map(_key, visits)) if rows else Counter[int]()
        new = {row.key: row for row in rows if times[row.key] == 1 and row.canonical in (0, row.key)}
        if not new:
            return {}
        table = self._open_table()
        known = {key: decode_row(entry.data) for key, entry in table.get_many(new).items() if entry.parent == key}
        again = {key: row if _same(row, new[key]) else None for key, row in known.items() if row.canonical in (0, key)}
        changed = {key for key, row in again.items() if row is None}
        followed = table.with_children(changed) if changed else set()
        table.remove(sorted(changed - followed))
        return {key: row for key, row in again.items() if key not in followed}

    def _settle_new(
        self, visits: Sequence[Visit], read: Mapping[int, AliasRow], view: View, again: Mapping[int, AliasRow | None]
    ) -> list[Visit]:
        """``again``: see `_take_out`."""
        out: list[Visit] = []
        for visit in visits:
            found = read.get(id(visit))
            if found is None or visit.url is None:
                out.append(visit)
            elif (same := again.get(found.key)) is not None:
                out.append(msgspec.structs.replace(visit, group=same.group))
            else:
                before = len(out)
                self._enter(view, visit, found, out)
                if found.key in again and len(out) == before:
                    out.append(_gone(visit.url))
        view.write()
        return out

    def commit(self) -> Mapping[str, Any]:
        """Make it durable; the position is for `open`, and empty where there is no table. Raises StorageError."""
        if self._merge:
            return {"generation": self._open_table().commit()}
        if self._table is not None:
            self._table.commit()
        return {}

    def close(self) -> None:
        """After the last commit."""
        if self._table is not None:
            self._table.close()

    # -- one page

    def _lead(self, view: View, key: int, row: AliasRow) -> AliasRow | None:
        """The page that this one is an alias of, None if it is to lead."""
        if row.canonical and row.canonical != key:
            named = view.get(row.canonical)
            lead = view.get(named.first) if named else None
            if lead is not None and lead.key != key and not _careless(row, lead.row):
                self._count(CANONICAL, 1)
                return lead.row
        for each in view.leads(*row.exact):
            if each.key != key and same_text(row, each.row):
                self._count(EXACT, 1)
                return each.row
        return None

    def _head(self, view: View, row: AliasRow) -> AliasRow | None:
        """The page that this one, which leads, is nearly the same as: the most alike of those that are the first of a group."""
        best, most = None, 0.0
        for each in view.leads(*row.bands):
            other = each.row
            share = likeness(row.sketch, other.sketch)
            shorter, longer = sorted((row.features, other.features))
            alike = shorter >= longer * SIMILARITY and distance(row.simhash, other.simhash) <= _FAR
            if each.key != row.key and not other.group and alike and share >= SIMILARITY and share > most:
                best, most = other, share
        if best is not None:
            self._count(NEAR, 1)
        return best

    def _enter(self, view: View, visit: Visit, row: AliasRow, out: list[Visit]) -> AliasRow | None:
        """Into the table, and, unless it is an alias, into the index. The page that it is like, if there is one."""
        lead = self._lead(view, row.key, row)
        if lead is not None:
            view.put(msgspec.structs.replace(row, visit=pack(visit), group=0, head=0), lead.key)
            return lead
        head = self._head(view, row)
        row = msgspec.structs.replace(row, visit=b"", group=head.digest if head else 0, head=head.key if head else 0)
        if row.canonical not in (0, row.key):  # what it names may yet come
            row = msgspec.structs.replace(row, visit=pack(visit))
        view.put(row, row.key)
        out.append(msgspec.structs.replace(visit, group=row.group) if head else visit)
        return head

    # -- where something of the page, or for it, is there already

    def _settle_alone(self, visit: Visit, row: AliasRow | None, again: Collection[int]) -> list[Visit]:
        url, table = visit.url, self._open_table()
        if url is None:
            return [visit]
        out: list[Visit] = []
        old = table.get_many([url.fingerprint]).get(url.fingerprint)
        if row is None:
            if old is not None and (visit.gone or visit.document is not None):
                self._leave(old, out)
            return [visit, *out]
        if old is not None and old.parent == old.key and _same(known := decode_row(old.data), row):
            return [msgspec.structs.replace(visit, group=known.group)]  # it leads on
        if old is not None:
            table.remove([old.key])
        view = View(table, [row], [visit])
        self._enter(view, visit, row, out)
        view.write()
        if (old is not None or row.key in again) and not out:
            out.append(_gone(url))
        if old is not None and old.parent == old.key:
            self._follow_anew(old.key, out)
        if view.awaited(row.key):
            self._gather(row.key, out)
        return out

    def _leave(self, old: TableRow, out: list[Visit]) -> None:
        """The page is gone: the first of its aliases takes over."""
        self._open_table().remove([old.key])
        if old.parent == old.key:
            self._follow_anew(old.key, out)

    def _follow_anew(self, lead: int, out: list[Visit]) -> None:
        """Those that followed ``lead``, which is not what it was: each is looked at as though it had just come.

        All of them are put aside first: none is taken for what it was by another that names it.
        """
        table, aside = self._open_table(), ~lead
        while followers := table.children(lead):
            table.put([each._replace(parent=aside) for each in followers])
        while followers := table.children(aside):
            for entry in followers:
                row = decode_row(entry.data)
                self._enter_anew(unpack(row.visit), row, out)

    def _enter_anew(self, visit: Visit, row: AliasRow, out: list[Visit]) -> None:
        """One that was an alias, as though it had just come."""
        table, before = self._open_table(), len(out)
        table.remove([row.key])
        view = View(table, [row], [])
        self._enter(view, visit, row, out)
        view.write()
        self._count(PROMOTED, len(out) - before)
        if view.awaited(row.key):
            self._gather(row.key, out)

    def _release(self) -> list[Visit]:
        """Return all aliases, which are none where nothing is merged: the index is to have them. Once, after `open`."""
        out: list[Visit] = []
        table, self._releases, first = self._open_table(), False, -1
        while leads := table.parents(first):
            first = leads[-1]
            for lead in leads:
                after = -1
                while followers := table.children(lead, after):
                    after = followers[-1].key
                    out += [unpack(decode_row(each.data).visit) for each in followers]
        self._count(PROMOTED, len(out))
        table.clear()
        return out

    def _gather(self, key: int, out: list[Visit]) -> None:
        """Pages that named this one, which is there now, become aliases of it or of what it follows, with who followed them."""
        table = self._open_table()
        first = table.get_many([key])[key].parent
        lead, seen = decode_row(table.get_many([first])[first].data), {key, first}
        while waiting := {each for _, each in table.find([waits_for(key)])} - seen:
            seen |= waiting
            for entry in table.get_many(waiting).values():
                other = decode_row(entry.data)
                if not other.visit or _careless(other, lead):
                    continue
                self._count(CANONICAL, 1)
                table.put([TableRow(entry.key, first, entry.data)])
                out.append(_gone(unpack(other.visit).url))
                while followers := table.children(entry.key):
                    table.put([each._replace(parent=first) for each in followers])

    def _open_table(self) -> Table:
        if self._table is None:
            raise StorageError(f"{self._path}: the table of aliases was not opened")
        return self._table


def _row(visit: Visit, document: Document) -> AliasRow:
    url = visit.url or Url("", "", "", 0)
    made = visit.fingerprint or text_fingerprint(own_text(visit.url, document.raw_text))  # the crawl has made most already
    named = document.canonical.fingerprint if document.canonical else 0
    return AliasRow(
        key=url.fingerprint,
        access=url.access,
        digest=document.seen or _silent_digest(visit, document),
        simhash=made.simhash,
        sketch=made.sketch if made.features else b"",
        bands=bands_of(made),
        canonical=named,
        features=made.features,
        letter=letter_hash(document.title, document.raw_text, document.other_text, open_word(visit.restricted)),
    )


def _silent_digest(visit: Visit, document: Document) -> int:
    """Return the digest of a page of HTML without text: its bytes, and where its links lead; 0 for files of other types.

    Framesets of two folders may be the same bytes around other frames.
    """
    return digest(visit.body + visit.links.targets) if visit.body and document.mime in _HTML else 0


def _same(old: AliasRow, new: AliasRow) -> bool:
    return same_text(old, new) and old.features == new.features and old.canonical == new.canonical


def _careless(row: AliasRow, lead: AliasRow) -> bool:
    """All pages of some sites name the home page as the canonical one of all. It is believed where it says much the same."""
    home = lead.access.count("/") == 3 and lead.access.endswith("/")
    return home and likeness(row.sketch, lead.sketch) < 0.5


def _key(visit: Visit) -> int:
    return visit.url.fingerprint if visit.url is not None else -1


def _gone(url: Url | None) -> Visit:
    return Visit(page=url.access if url else "", url=url, gone=True)
