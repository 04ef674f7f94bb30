"""Revisit: the pages to ask for again, and, at the end, which of them are to be forgotten (LARM-121).

`Recrawl.due` runs on the main thread before the river flows, `Recrawl.gone` on that of the last checkpoint, after the river
has run dry and the page book was committed.

A revisit that asks for a share of the pages has three rounds: start URLs and sitemaps; a sample, which tells what has changed
where, and whether sitemaps are right; the pages that have most likely changed (`larm.recrawl.likely`). The next one comes from
`Recrawl.more`, on the thread that saves checkpoints, when the river has run dry.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import xxhash

from larm.model.cuts import may_be_whole
from larm.model.document import Visit
from larm.model.message import UNKNOWN, URLMessage, as_whole
from larm.model.url import BadUrl, Url
from larm.recrawl.likely import Likely
from larm.recrawl.page_book import PageRow
from larm.recrawl.page_rows import page_batches

_BATCH = 1000
_SAMPLE = 0.2
"""Of the pages that are asked for, those that are chosen by chance: enough of them to tell folders of some ten pages apart."""
_FIRST, _SAMPLED, _ALL = 1, 2, 3
_SITEMAP = re.compile(r"sitemap[^/]*\.(xml|txt)(\.gz)?$", re.IGNORECASE)
_SKEW = 60.0
"""Seconds by which a clock may be set back while a revisit runs."""


class _Begun(msgspec.Struct, frozen=True):
    """What the header has of it."""

    round: int = _ALL
    """The last one that was begun."""
    at: int = 0
    """Wall time of the first one."""


class _Counted(NamedTuple):
    """Of all pages."""

    likely: Likely
    known: int
    """That there were before this revisit, and are not current."""
    asked: int
    """Of these, those that it has asked for."""


class Demand(NamedTuple):
    """How a revisit asks for pages, by the settings of its run."""

    most_gone: float = 1.0
    """The share of a host's pages that are forgotten at once, see `Recrawl.gone`."""
    share: float = 1.0
    """Of the pages, those that are asked for, unless all have to come whole."""
    current: float = 0.0
    """Seconds for which servers are believed that a page is."""
    limits: Mapping[str, int] = MappingProxyType({})
    """How much is read of a page; one that was cut by smaller ones must come whole, too."""
    whole: bool = False
    """Some storage has not been given all pages, or other links are followed now, so none may be answered by "not modified"."""


class Recrawl:
    """One revisit of a finished crawl. Implements `larm.seams.Stateful`."""

    name = "recrawl"

    def __init__(
        self,
        path: Path,
        starts: Sequence[URLMessage] | None,
        demand: Demand,
        note: Callable[[str], None],
        parse: Callable[[str], Url],
        *,
        wall: Callable[[], float] = lambda: 0.0,
        state: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """``path``: the page book. ``note`` takes lines for people. ``parse`` makes Urls from text. ``wall``: the time, as the
        page book has it. ``state``: what the last run `cut`.

        ``starts`` are asked for even if they were never stored; None: the revisit has begun in an earlier run.
        """
        # constant after construction
        self._path = path
        self._starts = starts
        self._demand = demand._replace(share=1.0) if demand.whole else demand
        self._note = note
        self._parse = parse
        self._wall = wall
        self._now = wall()
        # replaced in a step of the gate
        self._begun = msgspec.convert(state, _Begun)
        if starts is not None:
            self._begun = _Begun(_ALL if self._demand.share == 1 else _FIRST, int(self._now))

    # -- the rounds

    @property
    def goes_on(self) -> bool:
        """When the river has run dry, there is one more round."""
        return self._begun.round < _ALL

    def more(self) -> tuple[Iterator[list[URLMessage]], int]:
        """The next round, in batches, and its number for `go_on`. The page book must have been committed."""
        counted = self._count()
        room = math.ceil(self._demand.share * counted.known)
        size, number = room - counted.asked, _ALL
        if self._begun.round < _SAMPLED and (sample := min(int(room * _SAMPLE), size)) > 0:
            chosen, number = self._sample(sample), _SAMPLED
        else:
            chosen = self._best(size, counted.likely)
            if left := counted.known - counted.asked - len(chosen):
                pages = "1 page was" if left == 1 else f"{left:,} pages were"
                self._note(
                    f"{pages} not asked for: recrawl.share is {self._demand.share:.4g} (-s recrawl.share=1 asks for all)"
                )
        return self._batches((key, row) for key, row in self._candidates() if key in chosen), number

    def go_on(self, number: int) -> None:
        """All of the round of this number is in the river. In a step of the gate, before the next checkpoint."""
        self._begun = msgspec.structs.replace(self._begun, round=number)

    def cut(self, *, last: bool) -> object:  # noqa: ARG002  of the seam
        """See `larm.seams.Stateful`."""
        return msgspec.to_builtins(self._begun)

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""

    def _batches(self, rows: Iterator[tuple[int, PageRow]]) -> Iterator[list[URLMessage]]:
        while some := list(islice(rows, _BATCH)):
            yield self._asked_for(some)

    def _rows(self) -> Iterator[tuple[int, PageRow]]:
        """Pages that there were before, and that may have changed. What came later than now came by a clock that was ahead."""
        ahead = self._wall() + _SKEW
        for batch in page_batches(self._path, read_only=True):
            for key, row in batch:
                since = row.past.since if row.past else row.fetched
                before = since < self._begun.at or since > ahead
                if not row.only_moved and before and (self._was_asked(row) or not self._is_current(row)):
                    yield key, row

    def _was_asked(self, row: PageRow) -> bool:
        return self._begun.at <= row.last.asked <= self._wall() + _SKEW

    def _candidates(self) -> Iterator[tuple[int, PageRow]]:
        return ((key, row) for key, row in self._rows() if not self._was_asked(row))

    def _count(self) -> _Counted:
        likely, known, asked = Likely(self._now), 0, 0
        for _, row in self._rows():
            likely.add(row)
            known += 1
            asked += self._was_asked(row)
        return _Counted(likely, known, asked)

    def _sample(self, size: int) -> set[int]:
        """By chance; half of them of those that a sitemap calls changed, as far as there are such."""
        salt = self._begun.at.to_bytes(8, "little")

        def first(number: int, rows: Iterator[tuple[int, PageRow]]) -> set[int]:
            drawn = ((xxhash.xxh3_64_intdigest(salt + key.to_bytes(8, "little")), key) for key, _ in rows)
            return {key for _, key in heapq.nsmallest(number, drawn)}

        chosen = first(size // 2, ((key, row) for key, row in self._candidates() if row.past and row.past.claimed))
        return chosen | first(size - len(chosen), ((key, row) for key, row in self._candidates() if key not in chosen))

    def _best(self, size: int, likely: Likely) -> set[int]:
        chances = ((likely.chance(row), key) for key, row in self._candidates())
        return {key for _, key in heapq.nlargest(max(size, 0), chances)}

    def _is_due(self, row: PageRow) -> bool:
        """In the first round."""
        if self.goes_on:
            known = row.past.sitemap if row.past else _may_be_sitemap(row)
            return known or bool(row.cuts and may_be_whole(row.cuts, self._demand.limits))
        return not self._is_current(row)

    def due(self) -> Iterator[list[URLMessage]]:
        """All pages that are known, but those that are current, in batches; nothing where the frontier has them already.

        Where a share of them is to be asked for, those of the first round.
        """
        if self._starts is None:
            return
        left = {message.url.fingerprint: message for message in self._starts}
        current = 0
        for batch in page_batches(self._path):
            old = [(key, row) for key, row in batch if not row.only_moved and (key in left or self._is_due(row))]
            current += 0 if self.goes_on else sum(not row.only_moved for _, row in batch) - len(old)
            if self.goes_on:  # a sitemap of which an earlier larm did not note that it is one tells it by coming whole
                old = [
                    (key, msgspec.structs.replace(row, known=as_whole(row.known)) if _may_be_sitemap(row) else row)
                    for key, row in old
                ]
            messages = self._asked_for(old)
            for message in messages:
                left.pop(message.url.fingerprint, None)
            yield messages
        if current:
            pages = "1 page was" if current == 1 else f"{current:,} pages were"
            self._note(f"{pages} not asked for, current as their servers say (recrawl.current: 0 asks for all)")
        if left:
            yield [msgspec.structs.replace(message, known=UNKNOWN) for message in left.values()]

    def _is_current(self, row: PageRow) -> bool:
        if self._demand.whole or (row.cuts and may_be_whole(row.cuts, self._demand.limits)):
            return False
        return row.is_current(self._now, self._demand.current)

    def _asked_for(self, rows: Sequence[tuple[int, PageRow]]) -> list[URLMessage]:
        messages = [each for key, row in rows for each in self._messages(key, row)]
        if not self._demand.whole:
            return messages
        return [msgspec.structs.replace(each, known=as_whole(each.known or UNKNOWN)) for each in messages]

    def _messages(self, key: int, row: PageRow) -> list[URLMessage]:
        """To ask for a page again. By two addresses where an earlier larm took them for one, and so fetched one of them only:
        what was stored for both is replaced by the page that it should have been, or goes if that is gone."""
        message = row.message(key, self._demand.limits)
        try:
            own, other = self._parse(row.access), self._parse(row.normalised)
        except BadUrl:
            return [message]
        if own.normalised == row.normalised or own.host != row.host or other.fingerprint != key:
            return [message]
        return [msgspec.structs.replace(message, url=url, known=UNKNOWN) for url in (own, other)]

    def gone(self) -> list[Visit]:
        """Pages that answered that they are gone; but of no host more than the share ``most_gone`` at once.

        A site that answers 404 to everything is more often broken than empty. A single page is always believed.
        """
        pages: Counter[str] = Counter()
        lost: dict[str, list[Visit]] = {}
        for batch in page_batches(self._path):
            for key, row in batch:
                pages[row.host] += row.stored
                if row.gone:
                    url = row.message(key).url
                    lost.setdefault(row.host, []).append(Visit(page=url.access, url=url, status=row.gone, gone=True))
        for host, visits in list(lost.items()):
            if len(visits) > max(self._demand.most_gone * pages[host], 1):
                del lost[host]
                self._note(
                    f"{host}: {len(visits)} of {pages[host]} pages are gone; none was forgotten, as that is more than "
                    f"recrawl.most_gone ({self._demand.most_gone:g}) allows at once"
                )
        return [visit for visits in lost.values() for visit in visits]


def _may_be_sitemap(row: PageRow) -> bool:
    """A page that was fetched once: robots.txt leads there, or its name says so."""
    named = row.referrer.endswith("/robots.txt") or _SITEMAP.search(row.access) is not None
    return named and row.stored and row.past is None
