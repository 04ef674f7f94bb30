"""What a crawl's files say of it as a whole: counts, distributions, curves. For ``larm report``; main thread.

Of the book of pages, store.log, the logs of threads and monitor, the tables of duplicates, the index. One pass over each;
memory grows with the hosts and kinds, and for a revisited crawl by 100 bytes a page.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from larm.crawldir.state import ALIASES, INDEX, LOGS, PAGES, QUEUES
from larm.engine.causes import cause_of_status
from larm.engine.figures.reporter import LOG
from larm.index.duplicates.lookup import aliases_in
from larm.index.reader import IndexReader
from larm.index.schema import index_exists
from larm.kit.logs.log_file import with_parts
from larm.ops.history import Moment, history
from larm.store.pages.page_row import PageRow
from larm.store.pages.page_rows import page_rows
from larm.store.reader import LeftOut, StoreLog


class Change(NamedTuple):
    """Of a page."""

    what: Literal["new", "changed", "gone", "failing"]
    """Changed is what came with other bytes, though its text may be the same; failing what is found, but not reached."""
    when: int
    """Seconds since 1970."""
    url: str


def begun(moments: Sequence[Moment]) -> int:
    """When the last run did, in seconds since 1970, rounded down; 0: nothing is known of it."""
    return int(moments[-1].wall - moments[-1].elapsed / 1000) if moments else 0


def changes_of(directory: Path) -> Iterator[Change]:
    """In the order of fingerprints. Raises StorageError."""
    since = begun(history(directory / LOGS / LOG))
    for _, row in page_rows(directory / QUEUES / PAGES):
        if change := change_of(row, since):
            yield change


def change_of(row: PageRow, since: int) -> Change | None:
    """None: nothing has become of it since then."""
    if (row.gone or row.forgotten) and (when := row.left_at or row.last.since) >= since:
        return Change("gone", when, row.access)
    if row.stored and row.failing is not None and not row.gone:
        return Change("failing", row.failing.since, row.access)
    if not row.stored or row.gone or row.came < since:
        return None
    return Change("changed" if row.past and row.past.since < since else "new", row.came, row.access)


_SLOWEST = 20
_FETCH = re.compile(rb"\d\d:\d\d:\d\d:\d{3}: (\d+) ms: .*?: (\S+)\n")
_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


class SiteRow(msgspec.Struct):
    """One host."""

    host: str
    pages: int = 0
    errors: int = 0
    redirects: int = 0
    received: int = 0
    """Bytes of its pages."""


class Report(msgspec.Struct, frozen=True):
    """All of it."""

    directory: str
    pages: int
    received: int
    first: int
    """When the first of the pages that are there was fetched, in seconds since 1970; 0: not known. So is ``last``."""
    last: int
    sites: list[SiteRow]
    """Those with most pages first."""
    statuses: Counter[str]
    types: Counter[str]
    sizes: Counter[str]
    depths: Counter[int]
    causes: Counter[str]
    """What went wrong."""
    slowest: list[tuple[int, str]]
    """Milliseconds, and the URL."""
    largest: list[tuple[int, str]]
    aliases: int
    """Pages that say the same as another."""
    languages: list[tuple[str, int]]
    moments: list[Moment]
    changes: list[Change]
    """Of the last run, unless it was the first."""


def report_of(directory: Path, left_out: LeftOut | None = None) -> Report:
    """Raises UsageError where there is no crawl, StorageError. ``left_out``: gets the pages that can't be read."""
    sites: dict[str, SiteRow] = {}
    statuses, causes, depths = Counter[str](), Counter[str](), Counter[int]()
    first = last = 0
    log, moments = StoreLog(directory, left_out=left_out), history(directory / LOGS / LOG)
    since, changes, lost = begun(moments), list[Change](), set[int]()
    for _, row in page_rows(directory / QUEUES / PAGES):
        site = sites.setdefault(row.host, SiteRow(row.host))
        answer = row.last
        if not row.stored:
            lost.add(hash(row.normalised))
        if moments and moments[-1].run and (change := change_of(row, since)):
            changes.append(change)
        if row.stored and not row.gone:
            site.pages += 1
            depths[row.depth] += 1
            first, last = min(first or row.fetched, row.fetched), max(last, row.fetched)
        if answer.moved:
            site.redirects += 1
        elif answer.why or answer.status >= 400:
            site.errors += 1
            causes[_cause(answer.why, answer.status)] += 1
        statuses[str(answer.status) if answer.status else "no answer"] += 1
    types, sizes = Counter[str](), Counter[str]()
    largest: list[tuple[int, str]] = []
    entries = {key: n for n, entry in enumerate(log) if (key := hash(entry.normalised)) not in lost}
    received = 0
    for n, entry in enumerate(log):
        if entries.get(hash(entry.normalised)) != n:
            continue
        received += entry.size
        types[entry.mime or "not known"] += 1
        sizes[_size(entry.size)] += 1
        _keep(largest, (entry.size, entry.url))
        host = entry.normalised.partition("://")[2].partition("/")[0]
        if host in sites:
            sites[host].received += entry.size
    return Report(
        directory=str(directory),
        pages=len(entries),
        received=received,
        first=first,
        last=last,
        sites=sorted(sites.values(), key=lambda each: (-each.pages, each.host)),
        statuses=statuses,
        types=types,
        sizes=Counter({_size(size): sizes[_size(size)] for size in (*(each - 1 for each in _SIZES), _SIZES[-1])}),
        depths=Counter(dict(sorted(depths.items()))),
        causes=causes,
        slowest=_slowest(directory / LOGS),
        largest=sorted(largest, reverse=True),
        aliases=aliases_in(directory / QUEUES / ALIASES, 0)[0],
        languages=IndexReader(directory / INDEX).values("lang") if index_exists(directory / INDEX) else [],
        moments=moments,
        changes=changes,
    )


def _cause(why: str, status: int) -> str:
    """Without what differs from page to page."""
    return why.partition(":")[0] if why else cause_of_status(status)


def _size(size: int) -> str:
    for limit in _SIZES:
        if size < limit:
            return f"below {limit // 1_000_000} MB" if limit >= 1_000_000 else f"below {limit // 1_000} KB"
    return "10 MB and more"


def _keep(heap: list[tuple[int, str]], entry: tuple[int, str]) -> None:
    """Only the greatest stay."""
    if len(heap) < _SLOWEST:
        heapq.heappush(heap, entry)
    elif entry > heap[0]:
        heapq.heapreplace(heap, entry)


def _slowest(logs: Path) -> list[tuple[int, str]]:
    """Fetches of all runs whose logs are there."""
    slowest: dict[str, int] = {}
    for path in with_parts(logs, "thread*[0-9].log"):
        with path.open("rb") as lines:
            for line in lines:
                if found := _FETCH.fullmatch(line):
                    url = found[2].decode("utf-8", "replace")
                    slowest[url] = max(slowest.get(url, 0), int(found[1]))
                    if len(slowest) > 100 * _SLOWEST:
                        slowest = dict(sorted(slowest.items(), key=lambda each: -each[1])[:_SLOWEST])
    return heapq.nlargest(_SLOWEST, ((time, url) for url, time in slowest.items()))
