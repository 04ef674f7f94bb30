"""Wiring: Config -> running parts. The only file that names the classes behind the seams.

Read it from top to bottom to see what a crawl is made of. Called by the command line, on the main thread.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from larm import __version__, config
from larm.budget import PageBudget
from larm.checkpointer import Checkpointer
from larm.config import Config
from larm.crawl import SPENT, Crawl
from larm.errors import ConfigError, LarmError, StorageError, UsageError
from larm.explain import explain
from larm.fetcher_record import FetcherRecord
from larm.fetching.addresses import AddressRule
from larm.fetching.agent import user_agent
from larm.fetching.curl_fetcher import CurlFetcher
from larm.fetching.pool import FetcherPool
from larm.filters.chain import FilterChain
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.robots import RobotsFilter
from larm.filters.scope import ScopeFilter, StartHostsFilter
from larm.filters.visited import VisitedFilter
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.frontier.handler import MessageHandler
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.robots_desk import RobotsDesk
from larm.frontier.robots_errand import RobotsErrand
from larm.frontier.saved_host import QueueRow
from larm.kit.bell import Bell
from larm.kit.block_store import BlockStore
from larm.kit.caching_queue import CachingQueue
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.gate import Gate
from larm.kit.lock import DirectoryLock
from larm.kit.log_book import LogBook
from larm.kit.seen_set import DiskSeenSet
from larm.kit.tally import Tally
from larm.landing import Lander
from larm.model.host_resolver import HostResolver, parse_rules
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import BadUrl, URLNormalizer
from larm.monitor.reporter import Reporter
from larm.probe import Probe
from larm.processing.by_mime import processors
from larm.recrawl.page_book import PageBook
from larm.recrawl.revisit import Recrawl
from larm.seams import Clock, Fetcher, Filter, Processor, RobotsGate, SeenSet, Storage
from larm.storage.index import IndexStorage
from larm.storage.log import LogStorage
from larm.storage.pipeline import StorageLine

QUEUES, INDEX, LOGS = "cachingqueue", "index", "logs"
"""Folders of a crawl's directory; it also holds ``lock``, ``stats.json`` and the user's ``config.yaml``."""


class _State(NamedTuple):
    """What lies on the disk, opened; what an earlier run left of it is loaded."""

    store: BlockStore
    seen: DiskSeenSet
    logs: LogBook
    file: CheckpointFile
    header: Header | None


def build_crawl(settings: Config, directory: Path, *, fresh: bool = False, clock: Clock | None = None) -> Crawl:
    """All parts of a crawl, ready to `Crawl.run`; an earlier crawl of the directory is continued unless ``fresh``.

    Raises ConfigError and UsageError before anything is touched, UsageError if the directory is in use, StorageError.
    """
    check(settings, directory)
    lock = DirectoryLock(directory)
    undo: list[Callable[[], object]] = [lock.close]
    try:
        if fresh:
            _forget(directory)
        state = _open_state(settings, directory, undo)
        return _assemble(settings, directory, state, clock or SystemClock(), undo)
    except BaseException:
        _close_all(undo)
        raise


def check(settings: Config, directory: Path) -> None:
    """Everything of a configuration that can be wrong without the types showing it. Raises ConfigError; changes nothing."""
    if settings.crawl.restrict_to:
        ScopeFilter(settings.crawl.restrict_to)
    resolver_of(settings, directory)
    if not settings.monitor.tick:
        raise ConfigError("monitor.tick: expected more than 0 s, or larm would do nothing but save")
    own = [
        _own(name, "filters.order", Filter, _FILTERS, settings.filters.own)
        for name in settings.filters.order
        if name not in _FILTERS
    ]
    _once("filters.order", [*filter(_FILTERS.__contains__, settings.filters.order), *(part.name for part in own)])
    _once("storage.chain", [*(storage.name for storage in _storages(settings, directory)), PageBook.name])
    for mime, name in settings.processing.by_mime.items():
        _own(name, f"processing.by_mime.{mime}", Processor, {}, {})


def resolver_of(settings: Config, directory: Path) -> HostResolver:
    """The rules of ``urls.host_resolver``. Raises ConfigError."""
    if not settings.urls.host_resolver:
        return HostResolver()
    path = directory / settings.urls.host_resolver
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't read the host resolver's rules: {error}") from error
    return parse_rules(text, str(path))


def explain_url(settings: Config, directory: Path, text: str) -> list[tuple[str, str]]:
    """(topic, sentence) rows for `larm why`. Raises UsageError for what is no URL, or no crawl; StorageError."""
    normalizer = URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path)
    try:
        url = normalizer.parse(text)
    except BadUrl as error:
        raise UsageError(f"{text}: {error}") from error
    if not (directory / QUEUES).is_dir():
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    undo: list[Callable[[], object]] = []
    clock = SystemClock()
    try:
        state = _open_state(settings, directory, undo)
        book = HostBook(state.store, settings.frontier, clock)
        book.load(state.file.host_rows())
        tally = Tally(lambda: None)
        desk = RobotsDesk(book, HostQueues(book, settings.frontier, clock, tally, lambda: None), settings.robots, clock, tally)
        scope: Filter = StartHostsFilter(state.header.scope_hosts if state.header else ())
        restrict_to = settings.crawl.restrict_to or (state.header.restrict_to if state.header else "")
        if restrict_to:
            scope = ScopeFilter(restrict_to)
        filters = _filters(settings, _FilterParts(scope, state.seen, desk))
        return explain(url, filters, book, settings, directory)
    finally:
        _close_all(undo)


def _open_state(settings: Config, directory: Path, undo: list[Callable[[], object]]) -> _State:
    store = BlockStore(directory / QUEUES)
    undo.append(store.close)
    seen = DiskSeenSet(directory / QUEUES / "visited.db", settings.filters.visited.recent)
    undo.append(seen.close)
    book = LogBook(directory / LOGS)
    undo.append(book.close)
    file = CheckpointFile(store)
    found = file.read()
    if found is None:
        return _State(store, seen, book, file, None)
    header, fresh = found
    seen.apply(fresh)  # the last run may have died before it did
    return _State(store, seen, book, file, header)


def _assemble(settings: Config, directory: Path, state: _State, clock: Clock, undo: list[Callable[[], object]]) -> Crawl:
    """From the source of the river to its mouth."""
    header, logs = state.header, state.logs
    logs.rewind(header.logs if header else {})
    counters, gate = Counters(), Gate()
    counters.load(header.counters if header else {})
    bell: Bell[str | LarmError] = Bell()
    tally = Tally(lambda: bell.ring("finished"))

    normalizer = URLNormalizer(resolver_of(settings, directory), settings.urls.lowercase_path)
    urls = [normalizer.parse(text) for text in settings.crawl.start]
    known = set(header.start_urls) if header else set()
    starts = [URLMessage(url) for url in dict.fromkeys(urls) if url.access not in known]
    start_hosts = {url.host for url in urls} | set(header.scope_hosts if header else ())

    rule = AddressRule({url.hostname for url in urls}, settings.crawl.allow_private)
    agent = user_agent(settings.agent, __version__)
    fetchers: list[Fetcher] = []
    for _ in range(settings.fetch.threads):
        fetcher = CurlFetcher(settings.fetch, settings.robots, agent, rule, clock)
        undo.append(fetcher.close)
        fetchers.append(fetcher)
    pool = FetcherPool(fetchers)

    book = HostBook(state.store, settings.frontier, clock)
    if header:
        book.load(state.file.host_rows())
    queues = HostQueues(book, settings.frontier, clock, tally, pool.wake_one)
    desk = RobotsDesk(book, queues, settings.robots, clock, tally)
    scope = StartHostsFilter(start_hosts) if not settings.crawl.restrict_to else None

    incoming = _queue(settings, state, "incoming", header.incoming if header else None)
    revisits = _queue(settings, state, "revisits", header.revisits if header else None)
    state.file.drop_unreferenced([*incoming.keys(), *revisits.keys(), *book.block_keys()])
    filters = _filters(settings, _FilterParts(scope or ScopeFilter(settings.crawl.restrict_to), state.seen, desk))
    chain = FilterChain(filters, _open_filter_log(logs, clock), counters.add)
    handler = MessageHandler(
        incoming=incoming, revisits=revisits, chain=chain, settle=desk.settle, forward=queues.add, tally=tally, gate=gate
    )
    robots_log = logs.open("robots")
    errand = RobotsErrand(
        queues=queues,
        desk=desk,
        arrived=handler.robots_arrived,
        join=normalizer.join,
        frontier=settings.frontier,
        robots=settings.robots,
        token=settings.agent.name,
        counters=counters,
        log=robots_log.line,
    )
    own = {mime: _own(name, mime, Processor, {}, {}) for mime, name in settings.processing.by_mime.items()}
    text = any(name not in _TEXTLESS for name in settings.storage.chain)
    process = processors(LinkMemo(normalizer), settings.processing, own, counters.add, text=text)
    lander = Lander(process, normalizer.join, settings.frontier, settings.crawl.max_depth)
    positions = header.storages if header else {}
    pages = directory / QUEUES / "pages.db"
    storages = [*_storages(settings, directory), PageBook(pages)]
    lines = [StorageLine(storage, settings.storage.queue, positions.get(storage.name)) for storage in storages]
    again = header is not None and header.finished and not starts
    notes = _notes(settings, header, start_hosts if scope else set(), again=again)
    recrawl = None
    if again:
        queues.revive_all()
        asked = [URLMessage(url) for url in urls if not book.waits(url.host)]  # else it may be among what waits there
        recrawl = Recrawl(pages, asked, settings.recrawl.most_gone, notes.append)
        counters.load({name: value for name, value in counters.snapshot().items() if name != SPENT})
    checkpointer = Checkpointer(
        gate=gate,
        file=state.file,
        store=state.store,
        incoming=incoming,
        revisits=revisits,
        book=book,
        seen=state.seen,
        counters=counters,
        logs=logs,
        lines=lines,
        scope=scope,
        restrict_to=settings.crawl.restrict_to,
        start_urls=sorted(known | {url.access for url in urls}),
        cycle=(header.cycle if header else 0) + again,
        clock=clock,
    )
    records = [FetcherRecord(logs, number, clock) for number in range(settings.fetch.threads)]
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
        clock=clock,
    )
    reporter = Reporter(probe, clock, directory)
    undo.append(reporter.close)
    crawl = Crawl(
        settings=settings,
        clock=clock,
        handler=handler,
        queues=queues,
        errand=errand,
        pool=pool,
        bell=bell,
        lander=lander,
        lines=lines,
        checkpointer=checkpointer,
        budget=PageBudget(settings.crawl.max_pages, counters.snapshot().get(SPENT, 0)),
        counters=counters,
        tally=tally,
        gate=gate,
        records=records,
        starts=starts,
        recrawl=recrawl,
        snapshot=probe,
        reporter=reporter,
        notes=notes,
        close=lambda: _close_all(undo),
    )
    waiting = len(incoming) + len(revisits) + queues.schedule_all()
    if waiting:
        tally.rise(waiting)
    return crawl


def _queue(settings: Config, state: _State, name: str, saved: QueueRow | None) -> CachingQueue[URLMessage]:
    size = settings.frontier.message_block
    if saved is None:
        return CachingQueue(name, size, state.store, encode_messages, decode_messages)
    return CachingQueue.restore(saved.state(), name, size, state.store, encode_messages, decode_messages)


# -- what config.yaml names


class _FilterParts(NamedTuple):
    """What built-in filters need beside their settings."""

    scope: Filter
    seen: SeenSet
    desk: RobotsGate


_FILTERS: dict[str, Callable[[config.Filters, _FilterParts], Filter]] = {
    "length": lambda settings, _: LengthFilter(settings.length.max),
    "known_paths": lambda settings, _: KnownPathsFilter(settings.known_paths),
    "scope": lambda _, parts: parts.scope,
    "visited": lambda _, parts: VisitedFilter(parts.seen),
    "robots": lambda _, parts: RobotsFilter(parts.desk),
}
_STORAGES: dict[str, Callable[[config.Storage, Path], Storage]] = {
    "log": lambda settings, directory: LogStorage(directory, settings.log),
    "index": lambda settings, directory: IndexStorage(directory, settings.index),
}

_TEXTLESS = frozenset({"log"})
"""Storages that have no use for the text of pages."""


def _filters(settings: Config, parts: _FilterParts) -> Sequence[Filter]:
    order = [name for name in settings.filters.order if name != "robots" or settings.robots.obey]
    return [
        _FILTERS[name](settings.filters, parts)
        if name in _FILTERS
        else _own(name, "filters.order", Filter, _FILTERS, settings.filters.own)
        for name in order
    ]


def _storages(settings: Config, directory: Path) -> Sequence[Storage]:
    return [
        _STORAGES[name](settings.storage, directory)
        if name in _STORAGES
        else _own(name, "storage.chain", Storage, _STORAGES, settings.storage.own)
        for name in settings.storage.chain
    ]


def _once(key: str, names: Sequence[str]) -> None:
    """Counters, logs and checkpoints go by these names. Raises ConfigError."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(f"{key}: {name!r} is there twice, or is the name of another part")


def _own(name: str, key: str, seam: type, built_in: Iterable[str], arguments: Mapping[str, Mapping[str, Any]]) -> Any:
    """An object of the user's, by the dotted name of its class (LARM-47). Raises ConfigError."""
    module, colon, attribute = name.partition(":")
    if not colon:
        known = ", ".join(built_in)
        raise ConfigError(f"{key}: {name!r}: expected {f'one of {known}, or ' if known else ''}package.module:Class")
    try:
        made = getattr(importlib.import_module(module), attribute)(**arguments.get(name, {}))
    except Exception as error:  # whatever the user's module raises while it is loaded
        raise ConfigError(f"{key}: can't make {name}: {type(error).__name__}: {error}") from error
    needed = [each for each in (*seam.__annotations__, *vars(seam)) if not each.startswith("_")]
    missing = [each for each in needed if not hasattr(made, each)]
    if missing:
        raise ConfigError(f"{key}: {name} has no {', '.join(missing)}; see larm.seams.{seam.__name__}")
    return made


# -- small things


class _DatedLog:
    """A log whose lines begin with date and time, and are flushed at once (LARM-97)."""

    def __init__(self, book: LogBook, name: str, clock: Clock) -> None:
        self._file = book.open(name)
        self._clock = clock

    def lines(self, lines: Sequence[str]) -> None:
        """Append and flush."""
        now = datetime.fromtimestamp(self._clock.wall()).isoformat(" ", "milliseconds")
        self._file.lines([f"{now} {line}" for line in lines])
        self._file.flush()


def _open_filter_log(logs: LogBook, clock: Clock) -> Callable[[str], Any]:
    return lambda name: _DatedLog(logs, name, clock) if name == RobotsFilter.log_name else logs.open(name)


def _notes(settings: Config, header: Header | None, scope: set[str], *, again: bool) -> list[str]:
    """What a person should know before it starts."""
    notes = []
    if header is not None:
        pages = header.counters.get("item_scraped_count", 0)
        state = "is finished and is now revisited" if again else "is continued"
        notes.append(f"the crawl of this directory, {pages:,} pages so far, {state}; --fresh starts over")
    if scope:
        some = ", ".join(sorted(scope)[:5]) + (f" and {len(scope) - 5} more" if len(scope) > 5 else "")
        notes.append(f"scope: the hosts of the start URLs ({some}); -restrictto REGEX sets another, '.*' none")
    if not settings.agent.contact:
        notes.append("no contact: set agent.contact to a URL or mail address, so that owners of sites can reach you")
    if not settings.robots.obey or "robots" not in settings.filters.order:
        notes.append("robots.txt is not obeyed")
    return notes


def _forget(directory: Path) -> None:
    """``--fresh``: remove what earlier crawls wrote here, and nothing else."""
    try:
        for folder in (QUEUES, INDEX):
            shutil.rmtree(directory / folder, ignore_errors=False) if (directory / folder).exists() else None
        for file in [*(directory / LOGS).glob("*.log"), *(directory / LOGS).glob("pagefile_*.pfl"), directory / "stats.json"]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{error.filename}: can't be removed for --fresh: {error.strerror}") from error


def _close_all(undo: list[Callable[[], object]]) -> None:
    """In reverse order, all of them, whatever one of them raises."""
    while undo:
        try:
            undo.pop()()
        except LarmError:
            continue  # what is lost was not in the last checkpoint either
