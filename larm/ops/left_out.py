"""What a crawl has left out: a note for each kind, with how to get it. Said at the end of ``larm crawl``; main thread."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from larm.building.readers import normalizer_of
from larm.building.scoping import current_scope, regions_of
from larm.config import Config
from larm.crawldir.state import ALIASES, LOGS, PAGES, QUEUES, last_header
from larm.engine.figures.notes import Note, note
from larm.engine.figures.snapshot import Snapshot
from larm.engine.landing import CIRCLE, SITEMAPS, TOO_MANY
from larm.engine.unloading import COOKIES
from larm.filters.archive_scope import ArchiveScope
from larm.filters.chain import ERRORS_LOG, FAILED
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter, StartScope
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.robots.landing import TRUNCATED, UNWANTED
from larm.frontier.traps.session_filter import LINKS
from larm.index.duplicates.lookup import aliases_in
from larm.kit.disk.files import is_there
from larm.kit.logs.log_book import GONE
from larm.model import hollow
from larm.model.cuts import CUTS, larger, was_cut
from larm.model.left import NOFOLLOW, TOO_DEEP, UNCOMPILED, HostLeft
from larm.model.message import REDIRECT, URLMessage
from larm.model.outcome import FailReason
from larm.model.region import Globs
from larm.model.url import BadUrl
from larm.seams import Filter
from larm.store.log import LINKS_LOG
from larm.store.pages.page_rows import cut_pages

_STARTS, _NAMED, _LINES = 100, 3, 100_000
"""Start URLs that are looked at, and named; lines of links.log, and of the scope's log, that are read for what is told."""
_ASKED = 10_000
"""Links outside that are looked at, whether a longer expression would have them."""
_SCOPE_LOG = f"{ScopeFilter.log_name}.log"

Rule = tuple[str, Mapping[str, Any]]
"""The key of a note, and its numbers. It is said where the first of these is neither 0 nor empty."""


def left_out(
    directory: Path, settings: Config, now: Snapshot, own: Sequence[Filter] = (), filters: Sequence[Filter] = ()
) -> list[Note]:
    """Return the notes on a crawl that has ended so; ``own``: the user's own of its ``filters``. Raises StorageError."""
    counters, dropped = now.counters, now.filtered
    redirects, robots, depth = settings.frontier.redirects, settings.robots, settings.crawl.max_depth or 0
    rules: list[Rule] = [
        ("cut", cut_numbers(directory) if was_cut(now.totals) else {}),
        ("too_long", _too_long(directory, settings, dropped.get(LengthFilter.name, 0))),
        ("aliases", _aliases(directory)),
        ("redirects", {"pages": counters.get(TOO_MANY), "most": redirects, "enough": larger(20, redirects)}),
        ("robots_truncated", {"hosts": counters.get(TRUNCATED), "enough": larger(5, robots.size // 10**6)}),
        ("sitemaps_unwanted", {"hosts": counters.get(UNWANTED) if robots.sitemaps else 0}),
        ("uncompiled", {"pages": counters.get(UNCOMPILED)}),
        ("nofollow", {"pages": counters.get(NOFOLLOW)}),
        ("too_deep", {"pages": counters.get(TOO_DEEP), "depth": depth, "deeper": depth + 1}),
        ("circle", {"pages": counters.get(CIRCLE)}),
        ("hollow", hollow_numbers(counters, now.pages_run)),
        ("private", _private(settings, counters)),
        _outside(directory, settings, now, dropped.get(ScopeFilter.name, 0)),
        *(("too_slow", part.too_slow()) for part in filters if isinstance(part, ScopeFilter | ArchiveScope)),
        *(("sitemaps_beyond", part.sitemaps.beyond()) for part in filters if isinstance(part, ScopeFilter | StartScope)),
        ("excluded", {"urls": _excluded(directory, settings)}),
        ("raised", {"links": counters.get(FAILED), "log": f"{LOGS}/{ERRORS_LOG}.log"}),
        ("forbidden", {"urls": dropped.get(RobotsDesk.name), "log": f"{LOGS}/{RobotsDesk.log_name}.log"}),
        ("known_paths", {"urls": dropped.get(KnownPathsFilter.name), "log": f"{LOGS}/{KnownPathsFilter.log_name}.log"}),
        *(
            ("own_filter", {"links": dropped.get(part.name), "filter": part.name, "log": f"{LOGS}/{part.log_name}.log"})
            for part in own
        ),
        ("sessions", {"links": counters.get(LINKS)}),
        ("cookies", {"hosts": counters.get(COOKIES)}),
        ("slowed", {"hosts": now.hosts_slowed, "times": f"{settings.frontier.error_delay:g}"}),
        *held_back(now.left, now.held_back, now.growing),
        ("logs", {"bytes": counters.get(GONE), "limit": int(settings.monitor.log_size)}),
    ]
    return notes_of(rules)


def notes_of(rules: Iterable[Rule]) -> list[Note]:
    """Return the notes of the rules that hold."""
    return [note(key, **numbers) for key, numbers in rules if next(iter(numbers.values()), None)]


def cut_numbers(directory: Path) -> Mapping[str, Any]:
    """Return what is missing of pages, and the settings that read more; empty where nothing is. Raises StorageError."""
    pages = cut_pages(directory / QUEUES / PAGES)
    known = [(CUTS[name], count, limit) for name, (count, limit) in pages.items() if count and name in CUTS]
    cuts = [f"{count:,} {cut.what}" for cut, count, _ in known]
    return {"cuts": cuts, "settings": [f"--set {remedy}" for cut, _, limit in known if (remedy := cut.remedy(limit))]}


def hollow_numbers(counters: Mapping[str, int], pages: int) -> Mapping[str, Any]:
    """Return the numbers of fetched pages in which there is nothing to search, of ``pages`` that a run fetched."""
    found = {name: counters.get(hollow.COUNTED + name, 0) for name in hollow.NOTES}
    total = sum(found.values())
    only = pages == total == 1
    return {"total": total, "found": 0 if only else total, "pages": pages, "only": only, **found}


def held_back(left: Sequence[HostLeft], urls: int, growing: Sequence[str]) -> Iterator[Rule]:
    """Notes for each host and reason, of the hosts that hold back most; ``urls``: of all hosts."""
    said = False
    for host in left[:_NAMED]:
        for state in ("trap", "same", "noindex", "limit", "closed", "open"):
            some = [each for each in host.patterns if each.state == state and each.urls]
            names = [each.pattern for each in some[:_NAMED]]
            count = sum(each.urls for each in some)
            said |= bool(some)
            yield f"left_{state}", {"urls": count, "host": host.host, "patterns": _some(names, len(some))}
        said |= bool(host.lost)
        yield "left_lost", {"urls": host.lost, "host": host.host}
    others = urls - sum(host.urls for host in left[:_NAMED])
    yield "left_others", {"urls": max(others, 0)}
    yield "left_parked", {"said": said or others > 0}
    yield "growing", {"hosts": list(growing), "count": len(growing)}


def _some(names: Sequence[str], count: int) -> list[str]:
    return [*names, *(["..."] if count > len(names) else [])]


def _too_long(directory: Path, settings: Config, links: int) -> Mapping[str, Any]:
    log, most, longest = directory / LOGS / f"{LengthFilter.log_name}.log", settings.filters.length.max, 0
    if links:
        with suppress(OSError), log.open(encoding="utf-8", errors="replace") as lines:  # somebody may have moved it
            longest = max((len(line) for line in islice(lines, _LINES)), default=0)
    return {"links": links, "most": most, "log": f"{LOGS}/{log.name}", "enough": max(longest, most + 1)}


def _aliases(directory: Path) -> Mapping[str, Any]:
    count, some = aliases_in(directory / QUEUES / ALIASES, _NAMED)
    return {"pages": count, "some": _some(some, count)}


def _private(settings: Config, counters: Mapping[str, int]) -> Mapping[str, Any]:
    """Each host is asked for its robots.txt first, where that is obeyed."""
    obey = settings.robots.obey
    kind = "robotstxt/exception_count" if obey else "downloader/exception_type_count"
    count = counters.get(f"{kind}/{FailReason.PRIVATE.value}", 0)
    return {"count": count, "hosts": count * obey, "urls": count * (not obey)}


def _outside(directory: Path, settings: Config, now: Snapshot, count: int) -> Rule:
    """A scope with nothing in it but the start pages is a mistake, mostly an expression for the beginning of a URL."""
    moved = sum(number for name, number in now.totals.items() if name.startswith("downloader/response_status_count/3"))
    sitemaps, pattern = now.totals.get(SITEMAPS, 0), settings.crawl.restrict_to
    if not count or not now.pages_run or now.visited > len(settings.crawl.start) + moved + sitemaps:
        return "some_outside", {"pages": _pages_with_links_outside(directory, settings) if count else []}
    links: dict[str, Any] = {"count": count, "pages": "the start pages" + " and sitemaps" * bool(sitemaps)}
    if pattern:
        with (directory / LOGS / _SCOPE_LOG).open(encoding="utf-8", errors="replace") as log:
            longer = ScopeFilter(f"(?:{pattern}).*")
            inside = sum(not longer.refusal(line.rstrip("\n")) for line in islice(log, _ASKED))
        return "all_outside_pattern", {**links, "pattern": pattern, "inside": inside}
    whole = all(region.whole for region in regions_of(last_header(directory)))
    return "all_outside" if whole else "all_outside_scope", {**links, "only": count == 1, "links": count * (count > 1)}


def _pages_with_links_outside(directory: Path, settings: Config) -> list[str]:
    """Start pages all of whose links are outside, where others have some inside: that one was a slip."""
    if not 1 < len(settings.crawl.start) <= _STARTS:
        return []
    _, scope = current_scope(settings, directory)
    normalizer = normalizer_of(settings, directory, settings.crawl.start)
    links = _links_of(directory, {normalizer.parse(url).access for url in settings.crawl.start})
    return [
        page
        for page, targets in links.items()
        if (urls := [url for url in map(normalizer.parse, targets) if url.access != page])
        and all(scope.explain(URLMessage(url)) for url in urls)
    ]


def _links_of(directory: Path, pages: set[str]) -> dict[str, set[str]]:
    """Where these pages lead, by the beginning of links.log: start pages are read first. Redirects lead to their targets."""
    found: dict[str, set[str]] = {}
    path = directory / LOGS / LINKS_LOG
    if not is_there(path):
        return found
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in islice(lines, _LINES):
            page, _, rest = line.rstrip("\n").partition("\t")
            target, _, kind, *_ = (*rest.split("\t"), "", "", "")
            if page in pages and kind == str(REDIRECT):
                pages.add(target)
            elif page in pages:
                found.setdefault(page, set()).add(target)
    return found


def _excluded(directory: Path, settings: Config) -> int:
    """URLs that the filter has dropped, in this run or an earlier one, and that are outside by the patterns alone."""
    path, crawl = directory / LOGS / _SCOPE_LOG, settings.crawl
    told = crawl.include or crawl.exclude or any(seed.include or seed.exclude for seed in crawl.seeds)
    known = told or any(region.globs != Globs() for region in regions_of(last_header(directory)))
    if not known or ScopeFilter.name not in settings.filters.order or not is_there(path):
        return 0
    _, scope = current_scope(settings, directory)
    bare, normalizer = scope.without_patterns(), normalizer_of(settings, directory, crawl.start)
    messages = []
    with path.open(encoding="utf-8", errors="replace") as log:
        for url in {line.rstrip("\n") for line in islice(log, _LINES)}:
            with suppress(BadUrl):  # a line that a crash has torn
                messages.append(URLMessage(normalizer.parse(url)))
    return sum(scope.explain(each) is not None and bare.explain(each) is None for each in messages)
