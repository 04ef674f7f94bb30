"""Revisit: the pages to ask for again, and, at the end, which of them are to be forgotten (LARM-121).

What it asks for comes from `Recrawl.more`, in parts: the first one on the main thread before the river flows, the next ones on
the thread that saves checkpoints, while it flows. So a revisit of a million pages begins at once, and a checkpoint knows how
far it has come. `Recrawl.gone` runs on the thread of the last checkpoint, after the river has run dry and the page book was
committed.

A revisit that asks for a share of the pages has three rounds: start URLs and sitemaps; a sample, which tells what has changed
where, and whether sitemaps are right; the pages that have most likely changed (`larm.engine.recrawl.share`). The next one
comes when the river has run dry.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from larm.engine.recrawl.share import Share
from larm.model.cuts import may_be_whole
from larm.model.document import Visit
from larm.model.message import UNKNOWN, URLMessage, as_whole
from larm.model.url import BadUrl, Url
from larm.store.pages.page_row import HOST_GIVEN_UP, MOVED, UNREACHED, Failing, PageRow
from larm.store.pages.page_rows import PageRows, Written, generation_of, page_batches, written

_BATCH = 1000
_PART = 20_000
"""Pages of the first round that are put into the river between two checkpoints: more than come out of it."""
_LOOKED = 100
"""Batches that are looked through for them at most."""
_KEYS = 2**63
"""Fingerprints, of which pages have any."""
_BEGUN, _FIRST, _SAMPLED, _ALL = range(4)
_SKEW = 60.0
"""Seconds by which a clock may be set back while a revisit runs."""


class _Begun(msgspec.Struct, frozen=True):
    """What the header has of it."""

    round: int = _ALL
    """The last one that is in the river; `_BEGUN`: a part of the first."""
    at: int = 0
    """Wall time of the first one."""
    generation: int = 0
    """Of the page book, then."""
    whole: bool = False
    """Of the demand, then."""
    some: bool = False
    """Of the first round, pages were left out for the next ones, see `Demand.share`."""
    first: tuple[int, ...] = ()
    """As long as it goes on, the fingerprints of the start URLs that came first."""
    after: int = -1
    """Of the first round, pages up to this fingerprint are in the river; -1: nothing is."""
    current: int = 0
    """Of these, those that were not asked for, as their servers say."""


class Demand(NamedTuple):
    """How a revisit asks for pages, by the settings of its run."""

    most_gone: float = 1.0
    """The share of a host's pages that are forgotten at once, see `Recrawl.gone`."""
    share: float = 1.0
    """Of the pages, those that are asked for, unless all have to come whole."""
    give_up: float = 0.0
    """Seconds after which a page that is not reached leaves the index, see `larm.store.pages.page_row`."""
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
        starts: Sequence[URLMessage],
        demand: Demand,
        note: Callable[[str], None],
        parse: Callable[[str], Url],
        *,
        wall: Callable[[], float] = lambda: 0.0,
        is_given_up: Callable[[str], bool] = lambda _: False,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        """``path``: the page book. ``starts`` come first, even if they were never stored. ``note`` takes lines for people.
        ``parse`` makes Urls from text. ``wall``: the time, as the page book has it.

        ``is_given_up``: True for a host that does not answer.

        ``state``: what an earlier run of the revisit has `cut`; None: it begins now.
        """
        # constant after construction
        self._path = path
        self._starts = starts
        self._note = note
        self._parse = parse
        self._wall = wall
        self._is_given_up = functools.cache(is_given_up)  # asked at the end
        self._now = wall()
        # replaced in a step of the gate
        if state is None:
            self._begun = _Begun(_BEGUN, int(self._now), generation_of(path), demand.whole)
        else:
            self._begun = msgspec.convert(state, _Begun)
        # constant after construction
        demand = demand._replace(whole=demand.whole or self._begun.whole)
        self._demand = demand._replace(share=1.0) if demand.whole else demand

    # -- the rounds

    @property
    def begins(self) -> bool:
        """Not all of the first round is in the river."""
        return self._begun.round == _BEGUN

    @property
    def goes_on(self) -> bool:
        """There is more to come, at the latest when the river has run dry."""
        return self._begun.round < _ALL

    def behind(self) -> str:
        """For a person, where a run ends before all of the first round is in the river; else empty."""
        if not self.begins:
            return ""
        come = max(self._begun.after, 0) / _KEYS
        return f"the revisit has come to {come:.0%} of its pages; the others do not count among the URLs that wait"

    def more(self) -> Iterator[tuple[list[URLMessage], _Begun]]:
        """What comes next, in batches, each with what `go_on` is to be told when it is in the river.

        Unless it `begins` this is a round, which has to come into the river between two checkpoints; the page book must have
        been committed.
        """
        return self._part() if self.begins else self._next()

    def _part(self) -> Iterator[tuple[list[URLMessage], _Begun]]:
        asked = 0
        for batch, reached in islice(self._first(), _LOOKED):
            yield batch, reached
            asked += len(batch)
            if asked >= _PART:
                return

    def _next(self) -> Iterator[tuple[list[URLMessage], _Begun]]:
        share = Share(self._rows, self._demand.share, self._now, self._begun.at)
        chosen, number = (share.sample(), _SAMPLED) if self._begun.round < _SAMPLED else (set[int](), _ALL)
        if not chosen:
            chosen, number = share.best(), _ALL
            if left := share.due - len(chosen):
                pages = "1 page was" if left == 1 else f"{left:,} pages were"
                self._note(
                    f"{pages} not asked for: recrawl.share is {self._demand.share:.4g} (-s recrawl.share=1 asks for all)"
                )
        rows = ((key, row) for key, row, _ in self._rows() if key in chosen)
        while some := list(islice(rows, _BATCH)):
            yield self._asked_for(some), self._begun
        yield [], msgspec.structs.replace(self._begun, round=number)

    def go_on(self, reached: _Begun) -> None:
        """The batch that came with this is in the river. In the same step of the gate."""
        self._begun = reached

    def cut(self, *, last: bool) -> object:  # noqa: ARG002  of the seam
        """See `larm.seams.Stateful`."""
        return msgspec.to_builtins(self._begun)

    def saved(self) -> None:
        """See `larm.seams.Stateful`."""

    def _rows(self) -> Iterator[tuple[int, PageRow, bool]]:
        """Pages that there were before, and that may have changed; whether they were asked for.

        What came later than now came by a clock that was ahead.
        """
        ahead = self._wall() + _SKEW
        for batch in page_batches(self._path, read_only=True):
            for key, row in batch:
                since = row.past.since if row.past else row.fetched
                before = since < self._begun.at or since > ahead
                asked = self._begun.at <= row.last.asked <= ahead
                if not row.only_moved and before and (asked or not self._is_current(row)):
                    yield key, row, asked

    def _first(self) -> Iterator[tuple[list[URLMessage], _Begun]]:
        """All pages that are known, but those that are current; where a share of them is to be asked for, those of the first
        round. From where it has come on; at first the start URLs.
        """
        some = self._begun.some or self._demand.share < 1
        begun = msgspec.structs.replace(self._begun, some=some)
        if begun.after < 0:
            starts = {message.url.fingerprint: message for message in self._starts}
            begun = msgspec.structs.replace(begun, after=0, first=(*starts,))
            with closing(PageRows(self._path)) as book:
                found = book.kept([*starts], left=False).items()
            old = [(key, row) for key, row in found if not row.only_moved]
            new = starts.keys() - {key for key, _ in old}
            yield [*self._asked_for(old), *(msgspec.structs.replace(starts[key], known=UNKNOWN) for key in new)], begun
        first = frozenset(begun.first)
        for batch in written(self._path, begun.after):
            there = [each for each in batch if not (each.row.left or each.row.only_moved or self._is_of_now(each))]
            old = [(key, row) for key, _, row in there if key not in first]
            due = [(key, row) for key, row in old if (_is_sitemap(row) if some else not self._is_current(row))]
            current = begun.current + (0 if some else len(old) - len(due))
            begun = msgspec.structs.replace(begun, after=batch[-1].key, current=current)
            yield self._asked_for(due), begun
        if current := begun.current:
            pages = "1 page was" if current == 1 else f"{current:,} pages were"
            self._note(f"{pages} not asked for, current as their servers say (recrawl.current: 0 asks for all)")
        yield [], msgspec.structs.replace(begun, round=_FIRST if some else _ALL, first=())

    def _is_of_now(self, each: Written) -> bool:
        """It was asked for in this revisit. Within a second the time does not tell; nor is a sitemap's word an answer."""
        past = each.row.past
        asked = each.generation > self._begun.generation and each.row.last.asked >= self._begun.at
        return asked and not (past is not None and past.claimed)

    def _is_current(self, row: PageRow) -> bool:
        if self._demand.whole or (row.cuts and may_be_whole(row.cuts, self._demand.limits)):
            return False
        return row.is_current(self._now, self._demand.current)

    def _asked_for(self, rows: Sequence[tuple[int, PageRow]]) -> list[URLMessage]:
        messages = [row.message(key, self._demand.limits) for key, row in rows]
        if not self._demand.whole:
            return messages
        return [msgspec.structs.replace(each, known=as_whole(each.known or UNKNOWN)) for each in messages]

    def gone(self) -> list[Visit]:
        """Pages that are gone, or failing for too long; but of no host more than the share ``most_gone`` at once.

        A site that answers 404 to everything is more often broken than empty. A single page is always believed.

        With them come, as failed, pages that were not requested because their host was given up.
        """
        pages: Counter[str] = Counter()
        lost: dict[str, list[Visit]] = {}
        failing, unreached = 0, list[Visit]()
        with closing(PageRows(self._path)) as book:
            for each in chain.from_iterable(written(self._path)):
                row = each.row
                if row.left:
                    continue
                pages[row.host] += row.stored
                state = row.failing
                if row.stored and not row.gone and not self._is_of_now(each) and self._is_given_up(row.host):
                    state = (state or Failing(int(self._wall()), UNREACHED)).again(UNREACHED)
                    unreached.append(Visit(page=row.access, url=row.message(each.key).url, failure=HOST_GIVEN_UP))
                if row.gone or (row.stored and state is not None and self._is_over(row, state, book)):
                    url, status = row.message(each.key).url, row.gone or row.last.status
                    lost.setdefault(row.host, []).append(Visit(page=url.access, url=url, status=status, gone=True))
                else:
                    failing += row.stored and state is not None
        if failing:
            which = "1 page is still found as it was" if failing == 1 else f"{failing:,} pages are still found as they were"
            self._note(f"{which}, but not reached any more: 'larm report --changes' lists the changes")
        for host, visits in list(lost.items()):
            if len(visits) > max(self._demand.most_gone * pages[host], 1):
                del lost[host]
                self._note(
                    f"{host}: {len(visits)} of {pages[host]} pages are gone; none was forgotten, as that is more than "
                    f"recrawl.most_gone ({self._demand.most_gone:g}) allows at once"
                )
        return [*unreached, *(visit for visits in lost.values() for visit in visits)]

    def _is_over(self, row: PageRow, failing: Failing, book: PageRows) -> bool:
        there = None
        if failing.kind == MOVED:
            with suppress(BadUrl):  # nowhere
                there = book.find(self._parse(row.last.moved).fingerprint)
        leads = there is not None and there.stored and not there.gone and there.failing is None
        return failing.is_over(self._wall(), self._demand.give_up, leads_to_page=leads)


def _is_sitemap(row: PageRow) -> bool:
    return row.past is not None and row.past.sitemap
