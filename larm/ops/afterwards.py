"""What became of a URL, for ``larm why``: looked up in a directory, after a crawl or beside it. Built of the crawl's own parts.

Called by the command line, on the main thread.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from larm.building.named_parts import filters, own_filters, trap_rules_of
from larm.building.readers import normalizer_of
from larm.building.scoping import as_before, current_scope, scope_of, start_type
from larm.building.start_folders import called, file_rules
from larm.cluster.roster import agent_of, place_of, read_roster
from larm.config import Config
from larm.crawldir.state import (
    ALIASES,
    GRAPH,
    INDEX,
    LOGS,
    PAGES,
    QUEUES,
    closing_all,
    forgotten_of,
    open_state,
    refuse_without_crawl,
)
from larm.engine.figures.notes import Note
from larm.engine.figures.rates import minute
from larm.engine.verdicts import place_in, refusals_of
from larm.errors import StorageError, UsageError, refusing
from larm.filters.files import FilesFilter
from larm.filters.forgotten import ForgottenFilter
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.visited import VisitedFilter
from larm.frontier.checkpoint import Header
from larm.frontier.hosts import HostBook
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.turns import Turns
from larm.graph.reader import open_graph
from larm.index.duplicates.lookup import Kin, kin_of
from larm.index.previous import is_indexed
from larm.index.schema import index_exists
from larm.kit.clock import SystemClock
from larm.kit.commands import command
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import is_there
from larm.kit.logs.log_file import blocks
from larm.kit.threads.tally import Tally
from larm.model.credentials import without_credentials
from larm.model.cuts import TEXT, sentence_of, was_cut
from larm.model.forgotten import ForgottenPages
from larm.model.message import FRAME, ORDINARY, REDIRECT, SITEMAP
from larm.model.restriction import reasons
from larm.model.url import BadUrl, Url, URLNormalizer
from larm.model.url_shape import without_parameters
from larm.ops.explain import end_of, explain, robots_troubles, waits_of
from larm.ops.forgetting import undoing
from larm.ops.verdict import Facts, verdict
from larm.seams import Filter
from larm.store.log import LINKS_LOG
from larm.store.pages.page_row import Answer, PageRow
from larm.store.pages.page_rows import page_row, page_rows

_ALL_PAGES = "'larm crawl -s storage.index.merge_duplicates=false' gives it one"
_ALL_RESULTS = "'larm search --alike' shows both"
_LINKS = 5
"""Pages with a link that are named; a search has the others."""


class Explained(NamedTuple):
    """The answer of ``larm why``."""

    note: Note
    """What became of the URL."""
    rows: list[tuple[str, str]]
    """Topics and sentences."""

    @property
    def verdict(self) -> str:
        """The sentence of the note."""
        return self.note.text


def explain_url(settings: Config, directory: Path, text: str) -> Explained:
    """What became of a URL. Raises UsageError for what is no URL, or no crawl; StorageError."""
    with refusing(without_credentials(text), BadUrl):
        url = normalizer_of(settings, directory, [text]).parse(called(text, settings.files.places))
    refuse_without_crawl(directory)
    clock = SystemClock()
    with closing_all() as undo:
        state = open_state(directory, undo, read_only=True)
        state.seen.assume(state.fresh)  # a crawl may be running, and about to write it
        book = HostBook(state.store, settings.frontier, clock)
        tally = Tally(lambda: None)
        desk = RobotsDesk(book, Turns(book, settings.frontier, clock, tally, lambda: None), settings.robots, clock, tally)
        scope = scope_of(as_before(settings, state.header), normalizer_of(settings, directory, [text]), state.header)
        folders = file_rules(settings.files, directory, state.header.start_urls if state.header else ())
        traps = TrapDesk(book, trap_rules_of(settings), tally)
        forgotten = ForgottenPages(forgotten_of(state.header).items)
        chain: dict[str, Filter | None] = {
            "forgotten": ForgottenFilter(forgotten) if forgotten else None,
            "files": None if folders is None else FilesFilter(folders),
            "scope": scope,
            "visited": VisitedFilter(state.seen),
            "traps": traps,
            "robots": desk if settings.robots.obey else None,
            **own_filters(settings),
        }
        refusals = refusals_of(url, filters(settings, chain))
        page = page_row(directory / QUEUES / PAGES, url.fingerprint)
        bare = url.access if page else without_parameters(url.access, traps.sessions_of(url.host))
        if bare != url.access:
            note, rows = explain_url(settings, directory, bare)
            return Explained(note, [("session", f"a session of a visitor apart, {url.access} is {bare}"), *rows])
        kin = kin_of(directory / QUEUES / ALIASES, url.fingerprint)
        links = _linked(directory, url)
        linked, moved = ("", "") if page else _noted(directory, url)
        noted = "" if links else linked
        facts = Facts(
            page,
            _searchable(directory, url, kin),
            {name: reason for name, reason in refusals if reason is not None},
            waits_of(url, book, robots_troubles(directory)),
            bool(links),
            clock.wall(),
            _elsewhere(directory, url),
            asked=url.access,
            undo=undoing([item.said]) if (item := forgotten.find(url.normalised)) else "",
            redirects=settings.frontier.redirects if moved else 0,
            circle=page is not None and _in_a_circle(directory, page, normalizer_of(settings, directory, [text])),
            noted=bool(noted),
            unfiltered=place_in(state.header.incoming.state(), url) if state.header else 0,
            cut=0 if page or links or noted or not _may_be_cut(state.header) else _cut(directory),
        )
        rows = [*_dates(page), *_shared(page), *_about(kin), *links, *([("linked from", noted)] if noted else ())]
        rows += explain(url, refusals, book, settings, directory, page=page)
        rows += [("cut", said) for cut in (page.cuts.items() if page else ()) if (said := sentence_of(*cut))]
        return Explained(verdict(facts), rows)


def _elsewhere(directory: Path, url: Url) -> str:
    """Which other agent has its host, and how to ask."""
    roster = read_roster(directory / QUEUES)
    owner = roster.owner(url.host) if roster is not None else ""
    if roster is None or owner in ("", roster.me):
        return ""
    card = roster.cards.get(owner)
    there = Path(card.directory) if card is not None and card.directory else None
    ask = command("why", *(() if there is None else ("--dir", str(there))), url.access)
    where = "" if there is not None and agent_of(there / QUEUES) == owner else " on its machine"
    return f"the agent {place_of(owner, card)}: {ask}{where} says more"


def judge_urls(settings: Config, directory: Path, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each URL, and why a crawl would drop it, as far as that needs no crawl; empty: it would not.

    That is what the filters known_paths, scope and length say. Where there is a crawl, its start URLs count, too.
    Raises UsageError, ConfigError, StorageError.
    """
    header, scope = current_scope(settings, directory)
    normalizer = normalizer_of(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ()), *texts])
    pure = (KnownPathsFilter(settings.filters.known_paths), scope, LengthFilter(settings.filters.length.max))
    chain = [part for part in pure if part.name in settings.filters.order]
    judged = []
    for text in texts:
        try:
            url = normalizer.parse(text)
        except BadUrl as error:
            judged.append((without_credentials(text), str(error)))
            continue
        kind = start_type(url, settings) if text in settings.crawl.start else ORDINARY
        refusals = [f"{name}: {reason}" for name, reason in refusals_of(url, chain, kind) if reason is not None]
        judged.append((url.access, refusals[0] if refusals else ""))
    return judged


def _in_a_circle(directory: Path, page: PageRow, normalizer: URLNormalizer) -> bool:
    def answer_at(address: str) -> Answer | None:
        row = page_row(directory / QUEUES / PAGES, normalizer.parse(address).fingerprint)
        return row.last if row is not None else None

    last, _ = end_of(page.last, answer_at)
    return last is not None and bool(last.moved and not last.why)


def _dates(page: PageRow | None) -> list[tuple[str, str]]:
    if page is None:
        return []
    dates = [("fetched", page.came), ("last asked", page.last.asked), ("same answer since", page.last.since)]
    return [(topic, minute(when)) for topic, when in dates if when]


def _shared(page: PageRow | None) -> list[tuple[str, str]]:
    why = reasons(page.known.restricted) if page is not None and page.stored else ""
    return [("shared", f"with nobody: {why}")] if why else []


def _searchable(directory: Path, url: Url, kin: Kin | None) -> str:
    try:
        if is_indexed(directory / INDEX, url.normalised):
            return "yes"
    except (StorageError, UsageError) as error:
        return f"not known ({error})"
    if kin is not None and not kin.indexed:
        return f"as {kin.first}"
    return "no, the index does not have it" if index_exists(directory / INDEX) else "no, there is no index"


def _linked(directory: Path, url: Url) -> list[tuple[str, str]]:
    """Who links to it, the most important pages first."""
    try:
        graph = open_graph(directory / GRAPH)
    except StorageError as error:
        return [("linked from", str(error))]
    pages = [] if graph is None else graph.in_links(url.fingerprint, _LINKS + 1)
    more = graph.in_degree(url.fingerprint) - _LINKS if graph is not None else 0
    rows = [("linked from", page) for page in pages[:_LINKS]]
    return [*rows, ("linked from", f"{more:,} more pages; {command('search', 'link:' + url.access)}")] if more > 0 else rows


def _noted(directory: Path, url: Url) -> tuple[str, str]:
    """A page of which links.log has a link to it, or a frame, and one that redirects there; the graph has only those that are
    followed. The log is read once, some 3 GB a second. Raises StorageError."""
    path = directory / LOGS / LINKS_LOG
    if not is_there(path):
        return "", ""
    linked = moved = ""
    way = goal = f"\t{url.normalised}\t".encode("utf-8", "replace")
    with disk_failures(path):
        for lines in blocks(path):
            at = -1
            while not (linked and moved) and (at := lines.find(way, at + 1)) >= 0:
                kind = lines[at + len(goal) : lines.find(b"\t", at + len(goal))].decode("ascii", "replace")
                start = lines.rfind(b"\n", 0, at) + 1
                page = lines[start : lines.find(b"\t", start)].decode("utf-8", "replace")
                if kind == str(REDIRECT):
                    moved = moved or page
                elif kind in {str(ORDINARY), str(FRAME), str(SITEMAP)}:
                    linked, way = page, goal + b"%d\t" % REDIRECT
            if linked and moved:
                break
    return linked, moved


def _may_be_cut(header: Header | None) -> bool:
    return header is None or was_cut(header.counters)


def _cut(directory: Path) -> int:
    """How many pages may have lost links. Raises StorageError."""
    rows = page_rows(directory / QUEUES / PAGES)
    return sum(row.stored and not {TEXT}.issuperset(row.cuts) for _, row in rows)


def _about(kin: Kin | None) -> list[tuple[str, str]]:
    if kin is None:
        return []
    if kin.indexed:
        return [("index", f"one search result with another page, {_ALL_RESULTS}: {kin.why} {kin.first}")]
    return [("index", f"no page of its own, {_ALL_PAGES}: {kin.why} {kin.first}")]
