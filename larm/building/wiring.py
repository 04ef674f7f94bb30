"""Wiring: Config -> running parts. The only file that names the classes behind the seams.

Read it from top to bottom to see what a crawl is made of. Called by the command line, on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from larm.building.archives import about_archives, archives_of, offline, paths_of
from larm.building.marker import Marker, forget, permit, refuse_to_begin, set_marker
from larm.building.mission import Mission, limits_of, mission_of, notes_of, storages_apart
from larm.building.named_parts import (
    FilterParts,
    StorageParts,
    check,
    crawl_order,
    filters,
    storages,
    trap_settings,
    traps_are_told,
    wants_text,
)
from larm.building.readers import Processors, air_of, heavy_reader, memory_budget, normalizer_of, page_readers, terms_of
from larm.building.scoping import scope_of
from larm.building.start_folders import file_rules
from larm.building.state import (
    GRAPH,
    JOURNAL,
    LOGS,
    PAGES,
    QUEUES,
    State,
    Undo,
    check_databases,
    check_folders,
    close_all,
    logs_of,
    open_state,
    recover,
    without_removed,
)
from larm.config import Config
from larm.control.desk import ControlDesk, Parts
from larm.control.hosts import HostLister
from larm.control.server import ControlServer
from larm.duplicates.novelty import NoveltyJudge
from larm.errors import ConfigError, LarmError
from larm.fetching.addresses import AddressRule
from larm.fetching.agent import user_agent
from larm.fetching.air import Air
from larm.fetching.curl_fetcher import CurlFetcher
from larm.fetching.pool import FetcherPool
from larm.filters.chain import FilterChain, FilterLog
from larm.filters.dated_log import DatedLog
from larm.filters.robots import RobotsFilter
from larm.filters.scope import ScopeFilter, StartScope
from larm.filters.traps import TrapsFilter
from larm.frontier.checkpoint import Header
from larm.frontier.handler import MessageHandler
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.robots.desk import RobotsDesk
from larm.frontier.robots.landing import RobotsLander
from larm.frontier.traps.desk import TrapDesk
from larm.index.swap import put_back
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.journal import Journal
from larm.kit.disk.lock import DirectoryLock
from larm.kit.logs.log_book import LogBook
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.thread_cpu import ThreadCpu
from larm.kit.threads.ticker import Ticker
from larm.model.file_rules import FileRules
from larm.model.file_url import FILES
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.region import Globs
from larm.model.url import URLNormalizer
from larm.monitor.reporter import Reporter
from larm.processing.triage import SLOW, Triage, Work
from larm.reading.ahead import readers_of
from larm.reading.lane import ReliefLane
from larm.reading.slow_lane import SlowLane
from larm.recrawl.page_book import PageBook
from larm.recrawl.revisit import Recrawl
from larm.river.budget import SPENT, PageBudget
from larm.river.checkpointer import Checkpointer
from larm.river.crawl import FINISHED, Crawl
from larm.river.disk_floor import DiskFloor
from larm.river.fetcher_record import FetcherRecord
from larm.river.landing import Lander
from larm.river.limits import Limits
from larm.river.probe import Probe
from larm.river.recent import Recent
from larm.river.starts import StartWatch
from larm.river.steering import Hands, Steering, state_of
from larm.river.suspects import Suspects
from larm.river.unloading import Unloader
from larm.river.verdicts import live_rows, refusals_of
from larm.river.watchdog import LOG as STALLED
from larm.river.watchdog import Watchdog, Watched
from larm.seams import Clock, CrawlOrder, Fetcher, Filter
from larm.storage.graph import is_complete
from larm.storage.overflow import Overflow
from larm.storage.pipeline import StorageLine
from larm.version import VERSION

if TYPE_CHECKING:
    from larm.archive.catalogue import Catalogue

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

    ``ahead``: a process that reads pages, of `larm.reading.ahead`; it is ours from now on. Raises ConfigError and UsageError
    before anything is touched, UsageError if the directory is in use, StorageError.
    """
    undo: Undo = [] if ahead is None else [ahead.close]
    try:
        archives = archives_of(settings.crawl.start)
        if archives:
            settings = offline(settings, archives)
        check(settings, directory)
        there = permit(directory, fresh=fresh)
        lock = DirectoryLock(directory)
        undo.append(lock.close)
        if not there:
            set_marker(directory, VERSION, saved=False)
        if fresh:
            forget(directory, logs_of(directory))
            set_marker(directory, VERSION, saved=False)  # last: whoever is killed before has to say --fresh again
        put_back(directory)
        check_databases(directory)
        state = open_state(settings, directory, undo)
        if state.header is None:
            refuse_to_begin(directory, str(state.store))
        else:
            check_folders(state.header, directory)
        recover(state, directory)
        marker = set_marker(directory, VERSION, saved=state.header is not None)
        return _assemble(settings, lock, state, marker, clock or SystemClock(), ahead, undo)
    except BaseException:
        close_all(undo)
        raise


def _assemble(  # noqa: PLR0915, PLR0917
    settings: Config, lock: DirectoryLock, state: State, marker: Marker, clock: Clock, ahead: HelperProcess | None, undo: Undo
) -> Crawl:
    """From the source of the river to its mouth."""
    directory = lock.directory
    header, begins_anew = without_removed(state.header, directory)
    logs = _logs(directory, header, marker, undo)
    counters, gate, cpu = Counters(), Gate(), ThreadCpu()
    counters.load(header.counters if header else {})
    bell: Bell[str | LarmError] = Bell()
    ticker = Ticker(settings.monitor.tick)
    records = _records(settings, logs, readers_of(settings.processing), clock)
    suspects = Suspects(directory / QUEUES, len(records))
    undo.append(suspects.close)
    memory = memory_budget(settings, careful=suspects.killed)
    tally = Tally(lambda: ticker.hurry() if suspects.holds else bell.ring(FINISHED))
    steering = _steering(settings, directory, header, gate, tally, undo)
    normalizer = normalizer_of(settings, directory, [*settings.crawl.start, *(header.start_urls if header else ())])
    mission = mission_of(settings, normalizer, header, half_made=_half_made(settings, directory, header))
    start_urls = sorted({url.access for url in mission.urls} | set(header.start_urls if header else ()))
    archives = archives_of(settings.crawl.start, header.start_urls if header else ())
    notes: list[str] = []
    catalogue = _catalogue(directory, logs, normalizer, counters, notes, undo) if archives else None
    new_archives = paths_of(message.url.access for message in mission.starts) if catalogue else []
    if new_archives:
        notes.append(about_archives(new_archives))
    if catalogue:  # its addresses are the start URLs
        mission = msgspec.structs.replace(mission, urls=(), starts=(), hosts={FILES})
    folders = file_rules(settings.files, directory, start_urls) if catalogue is None else None
    addresses = _address_rule(settings, start_urls, header)
    lines = _lines(settings, directory, header, StorageParts(counters.add))
    exchanges = any(line.exchanges for line in lines)
    pool = (
        _pool(settings, addresses, folders, clock, Air(air_of(memory)), undo, exchanges=exchanges)
        if catalogue is None
        else _archive_pool(settings, catalogue, clock, undo)
    )

    order = _order(settings, directory, mission, clock, undo)
    book = HostBook(
        state.store,
        settings.frontier,
        clock,
        ticker.hurry,
        clock_moved=header.clock_moved if header else 0.0,
        order=order,
    )
    watch = StartWatch(mission.urls, clock)
    within = scope_of(settings, normalizer, header) if catalogue is None else None
    scope = within if isinstance(within, StartScope) else None
    traps = TrapDesk(
        book,
        trap_settings(settings),
        tally,
        _trap_log(settings, logs),
        counters.add,
        starts=scope.hosts if scope else mission.hosts,
        release=settings.crawl.parked,
    )
    queues = HostQueues(
        book,
        settings.frontier,
        clock,
        tally,
        pool.wake_one,
        guard=traps,
        on_rest=lambda keys: handler.at_rest(keys),  # noqa: PLW0108  it is made below
        order=order,
        may_lease=steering.may_lease,
    )
    desk = RobotsDesk(book, queues, settings.robots, clock, tally)
    parts = filters(settings, FilterParts(within or _archive_scope(settings), state.seen, desk, traps, folders))
    chain = FilterChain(
        parts,
        _open_filter_log(logs, clock),
        counters.add,
        watch.dropped,
    )
    incoming = _incoming(settings, state)
    handler = MessageHandler(
        incoming=incoming,
        chain=chain,
        settle=desk.settle,
        forward=queues.add,
        tally=tally,
        gate=gate,
        enough=queues.enough,
        decide=traps.decide,
    )
    robots_lander = RobotsLander(
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
        tell=watch.robots,
        awaited=watch.waits_for,
    )
    waiting = len(incoming) + queues.load(state.file.host_rows(), revive=mission.again)
    pulled = chain.run(traps.pull(mission.starts), RobotsFilter.name)
    if waiting or pulled:
        tally.rise(waiting + len(pulled))
    if pulled:
        queues.add(pulled)

    process = Processors(settings, normalizer, counters, clock, text=wants_text(settings), memory=memory)
    undo.append(process.close)
    triage = Triage(settings.processing, settings.fetch.page_size)
    apart = storages_apart(header, [line.name for line in lines if line.lasting])
    notes += [*notes_of(settings, header, mission, within), *begins_anew, *apart.notes(again=mission.again)]
    cycle = (header.cycle if header else 0) + mission.again
    recrawl = (
        Recrawl(
            directory / QUEUES / PAGES,
            _asked_again(mission, book),
            settings.recrawl.most_gone,
            notes.append,
            normalizer.parse,
            whole=bool(apart.late),
            limits=limits_of(settings),
        )
        if cycle
        else None
    )
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
        absent=apart.absent,
        missed=apart.missed(again=mission.again),
        scope=scope,
        restrict_to=settings.crawl.restrict_to,
        start_urls=start_urls,
        met=addresses.met,
        cycle=cycle,
        clock=clock,
        begun=None if marker.saved else lambda: set_marker(directory, VERSION, saved=True),
        parts=[steering, *([scope] if scope else ())],
        known=header.parts if header else None,
    )
    terms = terms_of(settings, directory, start_urls)
    readers = page_readers(settings, terms, counters, ahead)
    undo += [reader.close for reader in readers]
    heavy = heavy_reader(terms, counters, triage, memory)
    undo.append(heavy.close)
    watched = [
        Watched("larm-handler", handler.pulse, lambda: "filters what has come"),
        *(Watched(each.name, each.pulse, each.doing) for each in records),
        *map(_watched_line, lines),
        Watched("larm-tick", ticker.pulse, lambda: "saves a checkpoint", lambda: f"{checkpointer.begun}, {checkpointer.done}"),
    ]
    watchdog = Watchdog(
        watched,
        settings.monitor.stalled,
        clock,
        log=lambda lines: logs.open(STALLED).lines(lines),  # made when there is something to say
        counted=counters.add,
    )
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
        traps=traps,
        paused=lambda: steering.paused,
        stalled=lambda: watchdog.stalled,
        cpu=cpu,
        clock=clock,
    )
    reporter = Reporter(probe, clock, directory)
    undo.append(reporter.close)
    budget = PageBudget(settings.crawl.max_pages, counters.snapshot().get(SPENT, 0))
    lander = Lander(
        process,
        normalizer.join,
        settings.frontier,
        settings.crawl.max_depth,
        order,
        recall=chain.recall,
        limits=limits_of(settings),
        text=wants_text(settings),
    )

    def tell(now: Config) -> None:
        queues.change(now.frontier)
        lander.max_depth = now.crawl.max_depth
        budget.change(now.crawl.max_pages)
        if budget.exhausted:
            bell.ring("closespider_pagecount")

    steering.limits.tell = tell
    steering.take(
        Hands(
            handler=handler,
            queues=queues,
            traps=traps,
            parse=normalizer.parse,
            lines=lines,
            wake=pool.wake_all,
            hurry=ticker.hurry,
            counted=counters.add,
            idle=lambda: bell.ring(FINISHED),
        )
    )
    notes += steering.notes
    recent = Recent(clock)
    desk_parts = Parts(
        directory=directory,
        clock=clock,
        snapshot=probe,
        pace=reporter.pace,
        steering=steering,
        hosts=HostLister(book, lambda: steering.limits.now.frontier, clock),
        recent=recent,
        logs=logs,
        parse=normalizer.parse,
        why=lambda url: live_rows(url, refusals_of(url, parts), book, steering.limits.now),
        stop=lambda: bell.ring("shutdown"),
    )
    door = ControlServer(lock, ControlDesk(desk_parts), clock, checkpointer, ticker.hurry, counted=counters.add)
    undo.append(door.close)
    floor = DiskFloor(directory, int(settings.limits.disk), bell.ring, notes.append)
    floor.look()

    def saved() -> None:
        door.saved()
        floor.look()

    checkpointer.on_saved = saved
    unloader = Unloader(
        settings=settings.frontier,
        lander=lander,
        known=chain.note,
        lines=lines,
        handler=handler,
        queues=queues,
        robots_lander=robots_lander,
        pool=pool,
        budget=budget,
        counters=counters,
        tally=tally,
        gate=gate,
        records=records,
        suspects=suspects,
        judge=NoveltyJudge() if traps_are_told(settings) else None,
        learn=traps.learn,
        watch=watch,
        recent=recent,
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
        slow=SlowLane(lambda fetched: triage.work(fetched) in SLOW, settings.storage.queue),
        relief=ReliefLane(clock, queues.answered, queues.enough, lambda fetched: triage.work(fetched) is Work.LIGHT),
        readers=readers,
        heavy=heavy,
        work=triage.work,
        suspects=suspects,
        lines=lines,
        checkpointer=checkpointer,
        budget=budget,
        steering=steering,
        counters=counters,
        tally=tally,
        cpu=cpu,
        gate=gate,
        records=records,
        starts=mission.starts,
        feed=catalogue.read(new_archives) if catalogue and new_archives else (),
        watch=watch,
        start_log=DatedLog(logs.open("starts"), clock).lines,
        recrawl=recrawl,
        snapshot=probe,
        reporter=reporter,
        watchdog=watchdog,
        door=door,
        notes=notes,
        close=lambda: close_all(undo),
    )


def _steering(  # noqa: PLR0917
    settings: Config, directory: Path, header: Header | None, gate: Gate, tally: Tally, undo: Undo
) -> Steering:
    state = state_of(header.parts if header else {})
    journal = Journal(directory / QUEUES / JOURNAL, state.position)
    undo.append(journal.close)
    return Steering(journal, state, Limits(settings), gate, tally)


def _watched_line(line: StorageLine) -> Watched:
    return Watched(f"larm-store-{line.name}", line.pulse, lambda: line.doing, lambda: line.progress)


def _half_made(settings: Config, directory: Path, header: Header | None) -> bool:
    """The last run was ended before it had done all that runs do at their end."""
    noted = header.storages.get(GRAPH) if header and GRAPH in settings.storage.chain else None
    return not is_complete(directory, noted)


def _logs(directory: Path, header: Header | None, marker: Marker, undo: Undo) -> LogBook:
    logs = LogBook(directory / LOGS, marker.others)
    undo.append(logs.close)
    logs.rewind(header.logs if header else {})
    return logs


def _order(settings: Config, directory: Path, mission: Mission, clock: Clock, undo: Undo) -> CrawlOrder | None:
    order = crawl_order(settings, directory, len(mission.urls), clock)
    if order is not None:
        undo.append(order.close)
    return order


def _catalogue(  # noqa: PLR0917
    directory: Path, logs: LogBook, normalizer: URLNormalizer, counters: Counters, notes: list[str], undo: Undo
) -> Catalogue:
    try:
        from larm.archive.catalogue import Catalogue  # for who crawls archives
    except ImportError as error:
        raise ConfigError(f"crawl.start: WARC files need FastWARC: pip install 'larm[warc]' ({error})") from error
    catalogue = Catalogue(directory / QUEUES, normalizer.parse, counters.add, logs.open("archive").line, notes.append)
    undo.append(catalogue.close)
    return catalogue


def _archive_pool(settings: Config, catalogue: Catalogue, clock: Clock, undo: Undo) -> FetcherPool:
    from larm.archive.fetcher import ArchiveFetcher

    fetchers = [ArchiveFetcher(settings.fetch, catalogue, clock) for _ in range(settings.fetch.threads)]
    undo += [fetcher.close for fetcher in fetchers]
    return FetcherPool(fetchers)


def _archive_scope(settings: Config) -> Filter:
    from larm.archive.scope import ArchiveScope

    crawl = settings.crawl
    return ArchiveScope(ScopeFilter(crawl.restrict_to or ".*", Globs(crawl.include, crawl.exclude)))


def _records(settings: Config, logs: LogBook, readers: int, clock: Clock) -> list[FetcherRecord]:
    """Of the threads that fetch or read, in the order of their numbers."""
    names = [f"larm-fetch-{number}" for number in range(settings.fetch.threads)]
    names += [f"larm-read-{number}" for number in range(max(1, settings.processing.documents.processes))]
    names += [f"larm-relief-{number}" for number in range(readers)]
    return [FetcherRecord(logs, number, clock, name) for number, name in enumerate(names)]


def _address_rule(settings: Config, start_urls: Sequence[str], header: Header | None) -> AddressRule:
    return AddressRule(
        {urlsplit(url).hostname or "" for url in start_urls if not url.startswith("file:")},
        settings.crawl.allow_private,
        networks=settings.crawl.private_networks,
        met=header.met if header else None,
    )


def _pool(  # noqa: PLR0917
    settings: Config,
    rule: AddressRule,
    folders: FileRules | None,
    clock: Clock,
    air: Air,
    undo: Undo,
    *,
    exchanges: bool,
) -> FetcherPool:
    agent = user_agent(settings.agent, VERSION)
    fetchers: list[Fetcher] = []
    for _ in range(settings.fetch.threads):
        web = CurlFetcher(settings.fetch, settings.robots, agent, rule, clock, air, exchanges=exchanges)
        fetchers.append(web if folders is None else _with_files(web, settings, folders, clock))
        undo.append(fetchers[-1].close)
    pool = FetcherPool(fetchers)
    air.on_room = pool.wake_all
    return pool


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
    now = settings.storage
    return [
        StorageLine(
            storage,
            now.queue,
            positions.get(storage.name),
            Overflow(directory / QUEUES / f"visits-{storage.name}") if now.overflow else None,
            now.overflow,
        )
        for storage in chain
    ]


def _asked_again(mission: Mission, book: HostBook) -> list[URLMessage] | None:
    """The start URLs of a revisit; None: there is none, or an earlier run has begun it."""
    if not mission.again:
        return None
    return [URLMessage(url) for url in mission.urls if not book.waits(url.host)]  # else it may be among what waits there


def _trap_log(settings: Config, logs: LogBook) -> Callable[[Sequence[str]], None]:
    """Into the log of the filter, where it is in the chain."""
    if TrapsFilter.name not in settings.filters.order:
        return lambda _: None
    return logs.open(TrapsFilter.log_name).lines


def _open_filter_log(logs: LogBook, clock: Clock) -> Callable[[str], FilterLog]:
    return lambda name: DatedLog(logs.open(name), clock) if name == RobotsFilter.log_name else logs.open(name)
