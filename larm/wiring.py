"""Wiring: Config -> running parts. The only file that names the classes behind the seams.

Read it from top to bottom to see what a crawl is made of. Called by the command line, on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from larm import __version__
from larm.budget import SPENT, PageBudget
from larm.checkpointer import Checkpointer
from larm.config import Config
from larm.crawl import Crawl
from larm.errors import LarmError
from larm.fetcher_record import FetcherRecord
from larm.fetching.addresses import AddressRule
from larm.fetching.agent import user_agent
from larm.fetching.curl_fetcher import CurlFetcher
from larm.fetching.pool import FetcherPool
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
from larm.index.swap import put_back
from larm.kit.bell import Bell
from larm.kit.caching_queue import CachingQueue
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.gate import Gate
from larm.kit.helper_process import HelperProcess
from larm.kit.lock import DirectoryLock
from larm.kit.log_book import LogBook
from larm.kit.tally import Tally
from larm.kit.thread_cpu import ThreadCpu
from larm.kit.ticker import Ticker
from larm.landing import Lander
from larm.mission import Mission, mission_of, notes_of, shelf_of
from larm.model.file_rules import FileRules
from larm.model.file_url import FILES
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import Url
from larm.monitor.reporter import Reporter
from larm.named_parts import (
    FilterParts,
    StorageParts,
    check,
    crawl_order,
    filters,
    storages,
    wants_text,
)
from larm.probe import Probe
from larm.processing.triage import Triage
from larm.reading import Processors, normalizer_of, page_readers
from larm.recrawl.page_book import PageBook
from larm.recrawl.revisit import Recrawl
from larm.relief.lane import ReliefLane
from larm.seams import Clock, CrawlOrder, Fetcher
from larm.slow_lane import SlowLane
from larm.start_folders import file_rules
from larm.state import (
    LOGS,
    PAGES,
    QUEUES,
    State,
    Undo,
    check_databases,
    close_all,
    forget,
    open_state,
    recover,
)
from larm.storage.pipeline import StorageLine
from larm.suspects import Suspects
from larm.unloading import Unloader

__all__ = ["build_crawl", "check"]


def build_crawl(
    settings: Config,
    directory: Path,
    *,
    fresh: bool = False,
    clock: Clock | None = None,
    ahead: HelperProcess | None = None,
) -> Crawl:
    """All parts of a crawl, ready to `Crawl.run`; an earlier crawl of the directory is continued unless ``fresh``.

    ``ahead``: a process that reads pages, of `larm.relief.ahead`; it is ours from now on. Raises ConfigError and UsageError
    before anything is touched, UsageError if the directory is in use, StorageError.
    """
    undo: Undo = [] if ahead is None else [ahead.close]
    try:
        check(settings, directory)
        undo.append(DirectoryLock(directory).close)
        if fresh:
            forget(directory)
        put_back(directory)
        check_databases(directory)
        state = open_state(settings, directory, undo)
        recover(state, directory)
        return _assemble(settings, directory, state, clock or SystemClock(), ahead, undo)
    except BaseException:
        close_all(undo)
        raise


def _assemble(  # noqa: PLR0917
    settings: Config, directory: Path, state: State, clock: Clock, ahead: HelperProcess | None, undo: Undo
) -> Crawl:
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
    normalizer = normalizer_of(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ())])
    mission = mission_of(settings, normalizer, header)
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

    process = Processors(settings, normalizer, counters, clock, text=wants_text(settings))
    undo.append(process.close)
    triage = Triage(settings.processing)
    lines = _lines(settings, directory, header, StorageParts(counters.add, traps.learn))
    shelf = shelf_of(header, [line.name for line in lines])
    notes = [*notes_of(settings, header, mission, scoped=scope is not None), *shelf.notes(again=mission.again)]
    cycle = (header.cycle if header else 0) + mission.again
    recrawl = _recrawl(settings, directory, mission, book, notes, whole=bool(shelf.late)) if cycle else None
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
        absent=shelf.absent,
        missed=shelf.missed(again=mission.again),
        scope=scope,
        restrict_to=settings.crawl.restrict_to,
        start_urls=start_urls,
        cycle=cycle,
        clock=clock,
    )
    readers = page_readers(settings, directory, start_urls, counters, ahead)
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
        lander=Lander(
            process,
            normalizer.join,
            settings.frontier,
            settings.crawl.max_depth,
            order,
            recall=chain.recall,
        ),
        known=chain.note,
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
        slow=SlowLane(triage.is_slow, settings.storage.queue),
        relief=ReliefLane(clock, queues.answered, queues.enough, triage.is_page),
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


def _order(settings: Config, directory: Path, mission: Mission, clock: Clock, undo: Undo) -> CrawlOrder | None:
    order = crawl_order(settings, directory, len(mission.urls), clock)
    if order is not None:
        undo.append(order.close)
    return order


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
        fetchers.append(web if folders is None else _with_files(web, settings, folders, clock))
        undo.append(fetchers[-1].close)
    return FetcherPool(fetchers)


def _with_files(web: Fetcher, settings: Config, folders: FileRules, clock: Clock) -> Fetcher:
    from larm.fetching.file_fetcher import FileFetcher  # with tables of all file types, for the few who read folders
    from larm.fetching.router import Router

    return Router(web, FileFetcher(settings.fetch, folders, clock))


def _incoming(settings: Config, state: State) -> CachingQueue[URLMessage]:
    name, size = "incoming", settings.frontier.message_block
    if state.header is None:
        return CachingQueue(name, size, state.store, encode_messages, decode_messages)
    return CachingQueue.restore(state.header.incoming.state(), name, size, state.store, encode_messages, decode_messages)


def _lines(settings: Config, directory: Path, header: Header | None, parts: StorageParts) -> Sequence[StorageLine]:
    positions = header.storages if header else {}
    chain = [*storages(settings, directory, parts), PageBook(directory / QUEUES / PAGES)]
    return [StorageLine(storage, settings.storage.queue, positions.get(storage.name)) for storage in chain]


def _recrawl(settings: Config, directory: Path, mission: Mission, book: HostBook, notes: list[str], *, whole: bool) -> Recrawl:
    asked = None  # an earlier run has begun it
    if mission.again:
        asked = [URLMessage(url) for url in mission.urls if not book.waits(url.host)]  # else it may be among what waits there
    return Recrawl(directory / QUEUES / PAGES, asked, settings.recrawl.most_gone, notes.append, whole=whole)


def _trap_log(settings: Config, logs: LogBook) -> Callable[[Sequence[str]], None]:
    """Into the log of the filter, where it is in the chain."""
    if TrapsFilter.name not in settings.filters.order:
        return lambda _: None
    return logs.open(TrapsFilter.log_name).lines


def _open_filter_log(logs: LogBook, clock: Clock) -> Callable[[str], FilterLog]:
    return lambda name: DatedLog(logs.open(name), clock) if name == RobotsFilter.log_name else logs.open(name)
