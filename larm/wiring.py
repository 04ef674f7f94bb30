"""Wiring: Config -> running parts. The only file that names the classes behind the seams.

Read it from top to bottom to see what a crawl is made of. Called by the command line, on the main thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm import __version__
from larm.budget import SPENT, PageBudget
from larm.checkpointer import Checkpointer
from larm.config import Config
from larm.crawl import Crawl
from larm.duplicates.lookup import first_of
from larm.errors import LarmError, UsageError
from larm.explain import explain
from larm.fetcher_record import FetcherRecord
from larm.fetching.addresses import AddressRule
from larm.fetching.agent import user_agent
from larm.fetching.curl_fetcher import CurlFetcher
from larm.fetching.file_fetcher import FileFetcher
from larm.fetching.pool import FetcherPool
from larm.fetching.router import Router
from larm.filters.chain import FilterChain, FilterLog
from larm.filters.dated_log import DatedLog
from larm.filters.robots import RobotsFilter
from larm.filters.scope import ScopeFilter, StartHostsFilter
from larm.filters.traps import TrapsFilter
from larm.frontier.checkpoint import Header
from larm.frontier.handler import MessageHandler
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.robots_desk import RobotsDesk
from larm.frontier.robots_errand import RobotsErrand
from larm.frontier.trap_desk import TrapDesk
from larm.kit.bell import Bell
from larm.kit.caching_queue import CachingQueue
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.gate import Gate
from larm.kit.lock import DirectoryLock
from larm.kit.log_book import LogBook
from larm.kit.tally import Tally
from larm.kit.thread_cpu import ThreadCpu
from larm.kit.ticker import Ticker
from larm.landing import Lander
from larm.model.credentials import without_credentials
from larm.model.file_rules import FileRules
from larm.model.file_url import FILES
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import BadUrl, Url, URLNormalizer
from larm.monitor.reporter import Reporter
from larm.named_parts import (
    FilterParts,
    StorageParts,
    check,
    crawl_order,
    filters,
    processors_of_the_users,
    storages,
    wants_text,
)
from larm.probe import Probe
from larm.processing.apart.reader import DocumentReader
from larm.processing.by_mime import processors
from larm.recrawl.page_book import PageBook
from larm.recrawl.revisit import Recrawl
from larm.reindex import Reindexed, reindex
from larm.relief.lane import ReliefLane
from larm.relief.page_reader import PageReader
from larm.relief.protocol import Terms, plain
from larm.seams import Clock, CrawlOrder, Fetcher, Filter
from larm.slow_lane import SlowLane
from larm.start_folders import file_rules
from larm.state import (
    ALIASES,
    LOGS,
    PAGES,
    QUEUES,
    State,
    Undo,
    check_databases,
    close_all,
    forget,
    host_rules,
    open_state,
    recover,
    resolver_of,
)
from larm.storage.pipeline import StorageLine
from larm.storage.reader import StoreLog
from larm.suspects import Suspects
from larm.unloading import Unloader

__all__ = ["build_crawl", "check", "explain_url", "reindex_pages", "resolver_of"]


_MOST_READERS = 3
"""Processes beside the crawl, if nothing else is said: three take in what one process can fetch and store."""


def build_crawl(settings: Config, directory: Path, *, fresh: bool = False, clock: Clock | None = None) -> Crawl:
    """All parts of a crawl, ready to `Crawl.run`; an earlier crawl of the directory is continued unless ``fresh``.

    Raises ConfigError and UsageError before anything is touched, UsageError if the directory is in use, StorageError.
    """
    check(settings, directory)
    undo: Undo = []
    try:
        undo.append(DirectoryLock(directory).close)
        if fresh:
            forget(directory)
        check_databases(directory)
        state = open_state(settings, directory, undo)
        recover(state, directory)
        return _assemble(settings, directory, state, clock or SystemClock(), undo)
    except BaseException:
        close_all(undo)
        raise


class _Mission(NamedTuple):
    """What this run is to do, given what earlier ones did."""

    urls: Sequence[Url]
    """The start URLs."""
    starts: Sequence[URLMessage]
    """Those that no earlier run was given."""
    hosts: set[str]
    """Of the start URLs of all runs, and where these redirected to."""
    again: bool
    """The crawl is finished: it is revisited."""


def _mission(settings: Config, normalizer: URLNormalizer, header: Header | None) -> _Mission:
    urls = list(dict.fromkeys(map(normalizer.parse, settings.crawl.start)))
    if header is None:
        return _Mission(urls, [URLMessage(url) for url in urls], {url.host for url in urls}, again=False)
    starts = [URLMessage(url) for url in urls if url.access not in header.start_urls]
    hosts = {url.host for url in urls} | set(header.scope_hosts)
    return _Mission(urls, starts, hosts, again=header.finished and not starts)


def _assemble(settings: Config, directory: Path, state: State, clock: Clock, undo: Undo) -> Crawl:
    """From the source of the river to its mouth."""
    header = state.header
    logs = LogBook(directory / LOGS)
    undo.append(logs.close)
    logs.rewind(header.logs if header else {})
    counters, gate, cpu = Counters(), Gate(), ThreadCpu()
    counters.load(header.counters if header else {})
    bell: Bell[str | LarmError] = Bell()
    ticker = Ticker(settings.monitor.tick)
    tally = Tally(lambda: bell.ring("finished"))
    normalizer = _normalizer(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ())])
    mission = _mission(settings, normalizer, header)
    start_urls = sorted({url.access for url in mission.urls} | set(header.start_urls if header else ()))
    folders = file_rules(settings.files, directory, start_urls)
    pool = _pool(settings, mission.urls, folders, clock, undo)

    moved = header.clock_moved if header else 0.0
    order = _order(settings, directory, mission, clock, undo)
    book = HostBook(state.store, settings.frontier, clock, ticker.hurry, clock_moved=moved, order=order)
    traps = TrapDesk(book, settings.filters.traps, _trap_log(settings, logs), counters.add)
    queues = HostQueues(book, settings.frontier, clock, tally, pool.wake_one, guard=traps, order=order)
    desk = RobotsDesk(book, queues, settings.robots, clock, tally)
    scope = StartHostsFilter(mission.hosts) if not settings.crawl.restrict_to else None
    chain = FilterChain(
        filters(settings, FilterParts(scope or ScopeFilter(settings.crawl.restrict_to), state.seen, desk, traps, folders)),
        _open_filter_log(logs, clock),
        counters.add,
    )
    incoming = _incoming(settings, state)
    handler = MessageHandler(
        incoming=incoming, chain=chain, settle=desk.settle, forward=queues.add, tally=tally, gate=gate, enough=queues.enough
    )
    errand = RobotsErrand(
        queues=queues,
        desk=desk,
        arrived=handler.robots_arrived,
        declare=handler.put if settings.robots.sitemaps and settings.crawl.max_depth is None else None,
        join=normalizer.join,
        frontier=settings.frontier,
        robots=settings.robots,
        token=settings.agent.name,
        counters=counters,
        log=logs.open("robots").line,
    )
    waiting = len(incoming) + queues.load(state.file.host_rows(), revive=mission.again)
    if waiting:
        tally.rise(waiting)

    own = processors_of_the_users(settings)
    documents = DocumentReader(settings.processing.documents)
    undo.append(documents.close)
    process = processors(
        LinkMemo(normalizer),
        settings.processing,
        own,
        counters.add,
        text=wants_text(settings),
        agent=settings.agent.name,
        wall=clock.wall,
        documents=documents,
    )
    lines = _lines(settings, directory, header, StorageParts(counters.add, traps.learn))
    notes = _notes(settings, header, mission, scoped=scope is not None)
    cycle = (header.cycle if header else 0) + mission.again
    recrawl = _recrawl(settings, directory, mission, book, notes) if cycle else None
    if mission.again:
        counters.load({name: value for name, value in counters.snapshot().items() if name != SPENT})
    checkpointer = Checkpointer(
        gate=gate,
        file=state.file,
        store=state.store,
        incoming=incoming,
        book=book,
        seen=state.seen,
        counters=counters,
        logs=logs,
        lines=lines,
        scope=scope,
        restrict_to=settings.crawl.restrict_to,
        start_urls=start_urls,
        cycle=cycle,
        clock=clock,
    )
    readers = _readers(settings, directory, start_urls, counters)
    undo += [reader.close for reader in readers]
    records = _records(settings, logs, len(readers), clock)
    suspects = Suspects(directory / QUEUES, len(records))
    undo.append(suspects.close)
    probe = Probe(
        handler=handler,
        queues=queues,
        records=records,
        transfers=settings.fetch.threads * settings.fetch.transfers,
        lines=lines,
        storage_limit=settings.storage.queue,
        checkpointer=checkpointer,
        counters=counters,
        seen=state.seen,
        tally=tally,
        cpu=cpu,
        clock=clock,
    )
    reporter = Reporter(probe, clock, directory)
    undo.append(reporter.close)
    budget = PageBudget(settings.crawl.max_pages, counters.snapshot().get(SPENT, 0))
    unloader = Unloader(
        settings=settings.frontier,
        lander=Lander(process, normalizer.join, settings.frontier, settings.crawl.max_depth, order),
        lines=lines,
        handler=handler,
        queues=queues,
        errand=errand,
        pool=pool,
        budget=budget,
        counters=counters,
        tally=tally,
        gate=gate,
        records=records,
        suspects=suspects,
        stop=bell.ring,
    )
    return Crawl(
        settings=settings,
        clock=clock,
        handler=handler,
        queues=queues,
        pool=pool,
        bell=bell,
        ticker=ticker,
        unloader=unloader,
        slow=SlowLane(process.is_slow, settings.storage.queue),
        relief=ReliefLane(clock),
        readers=readers,
        lines=lines,
        checkpointer=checkpointer,
        budget=budget,
        counters=counters,
        tally=tally,
        cpu=cpu,
        gate=gate,
        records=records,
        starts=mission.starts,
        recrawl=recrawl,
        snapshot=probe,
        reporter=reporter,
        notes=notes,
        close=lambda: close_all(undo),
    )


def _normalizer(settings: Config, directory: Path, starts: Sequence[str]) -> URLNormalizer:
    files = any(start.lower().startswith(FILES) for start in starts)
    return URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path, files=files)


def _order(settings: Config, directory: Path, mission: _Mission, clock: Clock, undo: Undo) -> CrawlOrder | None:
    order = crawl_order(settings, directory, len(mission.urls), clock)
    if order is not None:
        undo.append(order.close)
    return order


def _readers(settings: Config, directory: Path, starts: Sequence[str], counters: Counters) -> list[PageReader]:
    """Processes to come that read pages; none where processors of the user's own read some: they may want to remember."""
    processing = settings.processing
    if processing.by_mime:
        return []
    terms = Terms(
        processing=plain(processing),
        agent=settings.agent.name,
        lowercase_path=settings.urls.lowercase_path,
        host_rules=host_rules(settings, directory),
        files=any(start.lower().startswith(FILES) for start in starts),
        text=wants_text(settings),
    )
    number = min((os.cpu_count() or 1) - 1, _MOST_READERS) if processing.processes is None else processing.processes
    return [PageReader(terms, counters.add) for _ in range(number)]


def _records(settings: Config, logs: LogBook, readers: int, clock: Clock) -> list[FetcherRecord]:
    """Of the threads that fetch or read, in the order of their numbers."""
    names = [f"larm-fetch-{number}" for number in range(settings.fetch.threads)]
    names += [f"larm-read-{number}" for number in range(max(1, settings.processing.documents.processes))]
    names += [f"larm-relief-{number}" for number in range(readers)]
    return [FetcherRecord(logs, number, clock, name) for number, name in enumerate(names)]


def _pool(settings: Config, urls: Sequence[Url], folders: FileRules | None, clock: Clock, undo: Undo) -> FetcherPool:
    rule = AddressRule({url.hostname for url in urls if url.host != FILES}, settings.crawl.allow_private)
    agent = user_agent(settings.agent, __version__)
    fetchers: list[Fetcher] = []
    for _ in range(settings.fetch.threads):
        web = CurlFetcher(settings.fetch, settings.robots, agent, rule, clock)
        fetchers.append(Router(web, FileFetcher(settings.fetch, folders, clock)) if folders else web)
        undo.append(fetchers[-1].close)
    return FetcherPool(fetchers)


def _incoming(settings: Config, state: State) -> CachingQueue[URLMessage]:
    name, size = "incoming", settings.frontier.message_block
    if state.header is None:
        return CachingQueue(name, size, state.store, encode_messages, decode_messages)
    return CachingQueue.restore(state.header.incoming.state(), name, size, state.store, encode_messages, decode_messages)


def _lines(settings: Config, directory: Path, header: Header | None, parts: StorageParts) -> Sequence[StorageLine]:
    positions = header.storages if header else {}
    chain = [*storages(settings, directory, parts), PageBook(directory / QUEUES / PAGES)]
    return [StorageLine(storage, settings.storage.queue, positions.get(storage.name)) for storage in chain]


def _recrawl(settings: Config, directory: Path, mission: _Mission, book: HostBook, notes: list[str]) -> Recrawl:
    asked = None  # an earlier run has begun it
    if mission.again:
        asked = [URLMessage(url) for url in mission.urls if not book.waits(url.host)]  # else it may be among what waits there
    return Recrawl(directory / QUEUES / PAGES, asked, settings.recrawl.most_gone, notes.append)


def _trap_log(settings: Config, logs: LogBook) -> Callable[[Sequence[str]], None]:
    """Into the log of the filter, where it is in the chain."""
    if TrapsFilter.name not in settings.filters.order:
        return lambda _: None
    return logs.open(TrapsFilter.log_name).lines


def _open_filter_log(logs: LogBook, clock: Clock) -> Callable[[str], FilterLog]:
    return lambda name: DatedLog(logs.open(name), clock) if name == RobotsFilter.log_name else logs.open(name)


def _notes(settings: Config, header: Header | None, mission: _Mission, *, scoped: bool) -> list[str]:
    """What a person should know before it starts."""
    notes = []
    if header is not None:
        pages = header.counters.get("item_scraped_count", 0)
        state = "is finished and is now revisited" if mission.again else "is continued"
        notes.append(f"the crawl of this directory, {pages:,} pages so far, {state}; --fresh starts over")
    if scoped:
        hosts = sorted("the start folders" if host == FILES else host for host in mission.hosts)
        some = ", ".join(hosts[:5]) + (f" and {len(hosts) - 5} more" if len(hosts) > 5 else "")
        notes.append(f"scope: the hosts of the start URLs ({some}); -restrictto REGEX sets another, '.*' none")
    if not settings.agent.contact and mission.hosts != {FILES}:
        notes.append("no contact: set agent.contact to a URL or mail address, so that owners of sites can reach you")
    if not settings.robots.obey or "robots" not in settings.filters.order:
        notes.append("robots.txt is not obeyed")
    return notes


def reindex_pages(settings: Config, directory: Path) -> Reindexed:
    """A new index for `larm reindex`, of the pages up to the last checkpoint. Raises UsageError, ConfigError, StorageError."""
    normalizer = URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path)
    undo: Undo = []
    try:
        undo.append(DirectoryLock(directory).close)
        header = open_state(settings, directory, undo).header if (directory / QUEUES).is_dir() else None
        position = header.storages.get("log", {}).get("store") if header else None
        documents = DocumentReader(settings.processing.documents)
        undo.append(documents.close)
        process = processors(
            LinkMemo(normalizer),
            settings.processing,
            processors_of_the_users(settings),
            Counters().add,
            text=True,
            agent=settings.agent.name,
            wall=SystemClock().wall,
            documents=documents,
        )
        return reindex(directory, StoreLog(directory, position), settings.storage.index, process, normalizer.parse)
    finally:
        close_all(undo)


def explain_url(settings: Config, directory: Path, text: str) -> list[tuple[str, str]]:
    """(topic, sentence) rows for `larm why`. Raises UsageError for what is no URL, or no crawl; StorageError."""
    try:
        url = _normalizer(settings, directory, [text]).parse(text)
    except BadUrl as error:
        raise UsageError(f"{without_credentials(text)}: {error}") from error
    if not (directory / QUEUES).is_dir():
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    undo: Undo = []
    clock = SystemClock()
    try:
        state = open_state(settings, directory, undo)
        state.seen.assume(state.fresh)  # a crawl may be running, and about to write it
        book = HostBook(state.store, settings.frontier, clock)
        tally = Tally(lambda: None)
        desk = RobotsDesk(book, HostQueues(book, settings.frontier, clock, tally, lambda: None), settings.robots, clock, tally)
        scope: Filter = StartHostsFilter(state.header.scope_hosts if state.header else ())
        restrict_to = settings.crawl.restrict_to or (state.header.restrict_to if state.header else "")
        if restrict_to:
            scope = ScopeFilter(restrict_to)
        folders = file_rules(settings.files, directory, state.header.start_urls if state.header else ())
        traps = TrapDesk(book, settings.filters.traps)
        parts = FilterParts(scope, state.seen, desk, traps, folders)
        rows = explain(url, filters(settings, parts), book, settings, directory)
        kin = first_of(directory / QUEUES / ALIASES, url.fingerprint)
        return rows if kin is None else [*rows, ("index", f"no page of its own: {kin.why} {kin.first}")]
    finally:
        close_all(undo)
