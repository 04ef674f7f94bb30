"""What a crawl has left out: one sentence for each kind, with how to get it. Said at the end of ``larm crawl``; main thread."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from larm.building.readers import normalizer_of
from larm.building.scoping import current_scope, regions_of
from larm.config import Config
from larm.crawldir.state import ALIASES, LOGS, PAGES, QUEUES, last_header
from larm.engine.figures.rates import size
from larm.engine.figures.snapshot import Snapshot
from larm.engine.landing import CIRCLE, SITEMAPS, TOO_MANY
from larm.filters.archive_scope import ArchiveScope
from larm.filters.chain import ERRORS_LOG, FAILED
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter, StartScope
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.robots.landing import TRUNCATED, UNWANTED
from larm.index.duplicates.lookup import aliases_in
from larm.kit.counted import counted
from larm.kit.disk.files import is_there
from larm.kit.logs.log_book import GONE
from larm.model import hollow
from larm.model.cuts import larger, sentence, was_cut
from larm.model.left import NOFOLLOW, TOO_DEEP, growing, sentences
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


def left_out(
    directory: Path, settings: Config, now: Snapshot, own: Sequence[Filter] = (), filters: Sequence[Filter] = ()
) -> list[str]:
    """Return the sentences of a crawl that has ended so; ``own``: the user's own of its ``filters``. Raises StorageError."""
    said = [cut_sentence(directory)] if was_cut(now.totals) else []
    said += [_too_long(directory, settings, now.filtered.get(LengthFilter.name, 0)), _aliases(directory)]
    said += [*_by_settings(settings, now), hollow.sentence(now.counters, now.pages_run), _private(settings, now)]
    said += [_all_outside(directory, settings, now) or _outside_of_some(directory, settings, now)]
    said += [part.too_slow() for part in filters if isinstance(part, ScopeFilter | ArchiveScope)]
    said += [part.sitemaps.beyond() for part in filters if isinstance(part, ScopeFilter | StartScope)]
    said += [_excluded(directory, settings), _failed(now), _forbidden(now), _known_paths(now)]
    said += [*_by_own_filters(own, now), _slowed(settings, now)]
    said += [*sentences(now.left, now.held_back), growing(now.growing)]
    said += [_logs(settings, now.counters.get(GONE, 0))]
    return [each for each in said if each]


def cut_sentence(directory: Path) -> str:
    """What is missing of pages, and how to get it; empty where nothing is. Also for ``larm stats``. Raises StorageError."""
    path = directory / QUEUES / PAGES
    return sentence(cut_pages(path)) if is_there(path) else ""


def _outside_of_some(directory: Path, settings: Config, now: Snapshot) -> str:
    """Start pages all of whose links are outside, where others have some inside: that one was a slip."""
    if not now.filtered.get(ScopeFilter.name, 0) or not 1 < len(settings.crawl.start) <= _STARTS:
        return ""
    _, scope = current_scope(settings, directory)
    normalizer = normalizer_of(settings, directory, settings.crawl.start)
    links = _links_of(directory, {normalizer.parse(url).access for url in settings.crawl.start})
    alone = [
        page
        for page, targets in links.items()
        if (urls := [url for url in map(normalizer.parse, targets) if url.access != page])
        and all(scope.explain(URLMessage(url)) for url in urls)
    ]
    if not alone:
        return ""
    some = ", ".join(alone[:_NAMED]) + (f" and {len(alone) - _NAMED} more" if len(alone) > _NAMED else "")
    return f"all links of {some} are out of scope; 'larm why --scope URL' says why"


def _excluded(directory: Path, settings: Config) -> str:
    """What is outside by the patterns alone, of the URLs that the filter has dropped, in this run or an earlier one."""
    path, crawl = directory / LOGS / f"{ScopeFilter.log_name}.log", settings.crawl
    told = crawl.include or crawl.exclude or any(seed.include or seed.exclude for seed in crawl.seeds)
    known = told or any(region.globs != Globs() for region in regions_of(last_header(directory)))
    if not known or ScopeFilter.name not in settings.filters.order or not is_there(path):
        return ""
    _, scope = current_scope(settings, directory)
    bare, normalizer = scope.without_patterns(), normalizer_of(settings, directory, crawl.start)
    messages = []
    with path.open(encoding="utf-8", errors="replace") as log:
        for url in {line.rstrip("\n") for line in islice(log, _LINES)}:
            with suppress(BadUrl):  # a line that a crash has torn
                messages.append(URLMessage(normalizer.parse(url)))
    count = sum(scope.explain(each) is not None and bare.explain(each) is None for each in messages)
    if not count:
        return ""
    urls = f"{counted(count, 'URL')} not fetched, as --exclude and --include leave them out"
    return f"{urls}; 'larm why URL' names the pattern, -s crawl.scope=host without them takes the whole hosts again"


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


def _told(count: int, noun: str, what: str, remedy: str) -> str:
    """One sentence; empty where there is nothing to tell."""
    return f"{counted(count, noun)} {what}; {remedy}" if count else ""


def _too_long(directory: Path, settings: Config, count: int) -> str:
    log, most = directory / LOGS / f"{LengthFilter.log_name}.log", settings.filters.length.max
    if not count:
        return ""
    longest = 0
    with suppress(OSError), log.open(encoding="utf-8", errors="replace") as lines:  # somebody may have moved it
        longest = max((len(line) for line in islice(lines, _LINES)), default=0)
    remedy = f"'larm crawl -start @{LOGS}/{log.name} -s filters.length.max={max(longest, most + 1)}' does"
    return _told(count, "link", f"to URLs of more than {most:,} characters not followed", remedy)


def _by_settings(settings: Config, now: Snapshot) -> Iterator[str]:
    """Where the same command with another setting is all that it takes."""
    redirects, size = settings.frontier.redirects, settings.robots.size
    deepest = settings.crawl.max_depth
    for name, noun, what, remedy in (
        (
            TOO_MANY,
            "page",
            f"behind more than {redirects} redirects in a row not fetched",
            f"--set frontier.redirects={larger(20, redirects)} does",
        ),
        (
            TRUNCATED,
            "host",
            "with a robots.txt that is longer than robots.size: rules and sitemaps behind that are not known",
            f"--set robots.size={larger(5, size // 10**6)}MB reads more",
        ),
        (
            UNWANTED if settings.robots.sitemaps else "",
            "host",
            "with sitemaps in its robots.txt that are not fetched, as --max-depth is given",
            "-s crawl.max_depth=null in place of it fetches them, and what they list",
        ),
        (
            NOFOLLOW,
            "page",
            "with links that are not followed, as they say nofollow",
            "--set processing.nofollow=false follows them",
        ),
        (
            TOO_DEEP,
            "page",
            f"with links that are not followed, as they lead deeper than --max-depth {deepest}",
            f"--max-depth {(deepest or 0) + 1} follows them, without (-s crawl.max_depth=null) all that is in scope",
        ),
        (
            CIRCLE,
            "page",
            "not fetched, redirecting in a circle, as sites do that want a cookie",
            "the cookies of a browser, or keep_cookies, under sites in config.yaml (larm help sites) asks again",
        ),
    ):
        yield _told(now.counters.get(name, 0), noun, what, f"the same command with {remedy}")


def _aliases(directory: Path) -> str:
    count, some = aliases_in(directory / QUEUES / ALIASES, _NAMED)
    which = "found by searches under another address, which says the same or is named there as the right one"
    named = ", ".join(some) + (", ..." if count > len(some) else "")
    remedy = "'larm why' with one of these says which, storage.index.merge_duplicates: false indexes all"
    return _told(count, "page", f"{which}: {named}", remedy)


def _forbidden(now: Snapshot) -> str:
    remedy = f"'larm why URL' names the line, {LOGS}/{RobotsDesk.log_name}.log has them, each run asks the rules again"
    return _told(now.filtered.get(RobotsDesk.name, 0), "URL", "not fetched, as robots.txt forbids that", remedy)


def _known_paths(now: Snapshot) -> str:
    remedy = f"'larm why URL' says which, {LOGS}/{KnownPathsFilter.log_name}.log has them"
    count = now.filtered.get(KnownPathsFilter.name, 0)
    return _told(count, "URL", f"not fetched, as filters.known_paths has an entry for {'it' if count == 1 else 'them'}", remedy)


def _by_own_filters(own: Sequence[Filter], now: Snapshot) -> Iterator[str]:
    for part in own:
        remedy = (
            f"'larm why URL' says why, {LOGS}/{part.log_name}.log has them, a run without it in filters.order asks for them"
        )
        yield _told(now.filtered.get(part.name, 0), "link", f"not followed, as the filter {part.name} drops them", remedy)


def _slowed(settings: Config, now: Snapshot) -> str:
    what = f"with nearly nothing but errors asked {settings.frontier.error_delay:g} times more slowly"
    return _told(now.hosts_slowed, "host", what, "the same command with -s frontier.error_delay=1 asks as fast as others")


def _failed(now: Snapshot) -> str:
    log = f"{LOGS}/{ERRORS_LOG}.log"
    remedy = f"mend it, then 'cut -f3 {log} | larm crawl -start @-' asks for them"
    return _told(now.counters.get(FAILED, 0), "link", f"not followed, as a filter raised, which {log} shows", remedy)


def _logs(settings: Config, count: int) -> str:
    if not count:
        return ""
    limit = size(int(settings.monitor.log_size))
    return f"the oldest {size(count)} of lines left {LOGS}/: monitor.log_size lets each have {limit}"


def _private(settings: Config, now: Snapshot) -> str:
    """Each host is asked for its robots.txt first, where that is obeyed."""
    kind, noun = ("robotstxt/exception_count", "host") if settings.robots.obey else ("downloader/exception_type_count", "URL")
    remedy = f"the logs of robots.txt and of errors in {LOGS}/ name them, crawl.private_networks allows them"
    count = now.counters.get(f"{kind}/{FailReason.PRIVATE.value}", 0)
    return _told(count, noun, "at private addresses not asked for anything", remedy)


def _all_outside(directory: Path, settings: Config, now: Snapshot) -> str:
    """A scope with nothing in it but the start pages is a mistake, mostly an expression for the beginning of a URL."""
    count = now.filtered.get(ScopeFilter.name, 0)
    moved = sum(number for name, number in now.totals.items() if name.startswith("downloader/response_status_count/3"))
    sitemaps = now.totals.get(SITEMAPS, 0)
    if not count or not now.pages_run or now.visited > len(settings.crawl.start) + moved + sitemaps:
        return ""
    pattern, pages = settings.crawl.restrict_to, "the start pages" + " and sitemaps" * bool(sitemaps)
    if not pattern:
        links = f"the only link of {pages} leads" if count == 1 else f"all {count:,} links of {pages} lead"
        if all(region.whole for region in regions_of(last_header(directory))):
            return f"{links} to other hosts; -restrictto REGEX sets a scope that has them, '.*' one that has all"
        return f"{links} out of the scope; 'larm why --scope URL' says why"
    outside = f"-restrictto {pattern} has none of the {count:,} links of {pages}; it must match a URL as a whole"
    with (directory / LOGS / f"{ScopeFilter.log_name}.log").open(encoding="utf-8", errors="replace") as log:
        longer = ScopeFilter(f"(?:{pattern}).*")
        inside = sum(not longer.refusal(line.rstrip("\n")) for line in islice(log, _ASKED))
    return f"{outside}: '{pattern}.*' would have {inside:,} of them" if inside else outside
