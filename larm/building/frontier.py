"""The frontier: from a page's links, through the filters, to the queues of the hosts. With what earlier runs left there.

Called by `larm.building.wiring` on the main thread.
"""

from collections.abc import Callable, Mapping, Sequence

from larm.building.bounds import Bounds
from larm.building.ground import Ground
from larm.building.mission import Mission
from larm.building.named_parts import crawl_order, filters, own_filters, trap_rules_of
from larm.building.scoping import wants_sitemaps
from larm.config import Config
from larm.crawldir.state import QUEUES, State, forgotten_of
from larm.engine.move_orders import moves_state_of
from larm.engine.parts import Frontier
from larm.engine.starts import StartWatch
from larm.fetch.pool import FetcherPool
from larm.filters.away import AwayHosts
from larm.filters.chain import FilterChain, FilterLog, NoLog
from larm.filters.dated_log import DatedLog
from larm.filters.files import FilesFilter
from larm.filters.forgotten import ForgottenFilter
from larm.filters.mail_filter import MailFilter
from larm.filters.scope import BEYOND, ScopeFilter, StartScope
from larm.filters.spellings import Spellings
from larm.filters.visited import VisitedFilter
from larm.frontier import resumption
from larm.frontier.changes import HostChanges
from larm.frontier.guard import ForgottenGuard
from larm.frontier.handler import MessageHandler
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.resumption import Standing
from larm.frontier.robots.desk import Arrival, RobotsDesk
from larm.frontier.robots.landing import RobotsLander, RobotsPolicy
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.traps.session_filter import SessionFilter
from larm.frontier.turns import Turns
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.logs.log_book import LogBook
from larm.model.forgotten import ForgottenPages
from larm.model.message import URLMessage, pack_messages, unpack_messages
from larm.model.sites import SiteTable
from larm.model.url_shape import number_of
from larm.seams import Clock, Filter
from larm.store.pages.page_row import forbidden
from larm.store.pipeline import StorageLine


def frontier_of(
    ground: Ground,
    mission: Mission,
    bounds: Bounds,
    *,
    pool: FetcherPool,
    watch: StartWatch,
    pages: StorageLine,
    others: Mapping[str, Filter],
) -> Frontier:
    """``pages``: the line of the page book; ``others``: filters of the agents. Raises ConfigError, StorageError."""
    settings, state, logs, shared, header = ground.settings, ground.state, ground.logs, ground.shared, ground.header
    order = crawl_order(settings, ground.directory, len(mission.urls), shared.clock)
    if order is not None:
        ground.closed(order.close)
    book = HostBook(
        state.store,
        settings.frontier,
        shared.clock,
        shared.ticker.hurry,
        clock_moved=header.clock_moved if header else 0.0,
        order=order,
        sites=SiteTable(settings.sites),
    )
    forgotten = ForgottenPages(forgotten_of(header).items)
    scope = bounds.scope
    starts = scope.hosts if isinstance(scope, StartScope) else mission.hosts
    rules = number_of(repr((trap_rules_of(settings), sorted(starts), forgotten_of(header).items)))
    sessions = SessionFilter(ground.normalizer.parse, shared.counters.add)
    traps = TrapDesk(
        book,
        trap_rules_of(settings),
        shared.tally,
        _trap_log(settings, logs),
        shared.counters.add,
        starts=starts,
        release=mission.parked,
        sessions=sessions,
    )
    guard = ForgottenGuard(forgotten, traps, shared.counters.add) if forgotten else traps
    turns = Turns(
        book,
        settings.frontier,
        shared.clock,
        shared.tally,
        pool.wake_one,
        on_rest=lambda keys: handler.at_rest(keys),  # noqa: PLW0108  it is made below
        on_served=lambda key: handler.robots_arrived(Arrival(key, "", None)),
        order=order,
        addresses=shared.addresses,
    )
    queues = HostQueues(turns, guard=guard, count=shared.counters.add)

    def note(messages: Sequence[URLMessage], name: str = "") -> None:
        pages.put([forbidden(message, name) for message in messages])

    join = ground.normalizer.join
    if isinstance(scope, ScopeFilter | StartScope):
        scope.sitemaps.count, scope.sitemaps.before = shared.counters.add, shared.counters.snapshot().get(BEYOND, 0)
    spellings = Spellings(state.store)
    desk = RobotsDesk(
        book, turns, settings.robots, shared.clock, shared.tally, anew=bounds.changed, note=note, join=join, file=spellings.file
    )
    coming = moves_state_of(header.parts if header else {}).away
    away = AwayHosts(state.store, settings.frontier.host_block, shared.tally, coming)
    own = own_filters(settings)
    there = {
        "forgotten": ForgottenFilter(forgotten) if forgotten else None,
        "files": None if bounds.folders is None else FilesFilter(bounds.folders),
        "scope": scope,
        "away": away,
        "sessions": sessions,
        "visited": VisitedFilter(state.seen, spellings),
        "traps": traps,
        "mail": None if order else MailFilter(book, turns, shared.tally),  # an order must see all URLs of a host at once
        "robots": desk if settings.robots.obey else None,
        **others,
        **own,
    }
    chain = FilterChain(
        filters(settings, there),
        _open_filter_log(settings, logs, shared.clock),
        shared.counters.add,
        watch.dropped,
        state.seen.discard,
        note=note,
        own={part.name for part in own.values()},
    )
    incoming = _incoming(settings, state)
    handler = MessageHandler(
        incoming=incoming,
        chain=chain,
        settle=desk.settle,
        forward=queues.add,
        tally=shared.tally,
        gate=shared.gate,
        enough=queues.enough,
        decide=traps.decide,
        caught_up=pool.wake_one,
    )
    queues.brakes += [handler.keeps_up, book.has_room]
    robots = RobotsLander(
        queues=queues,
        desk=desk,
        arrived=handler.robots_arrived,
        declare=handler.put if wants_sitemaps(settings) else None,
        join=join,
        policy=RobotsPolicy(settings.agent.name, settings.robots, settings.frontier),
        counters=shared.counters,
        log=logs.open("robots").line,
        watch=watch,
    )
    frontier = Frontier(
        incoming=incoming,
        seen=state.seen,
        spellings=spellings if VisitedFilter.name in settings.filters.order else None,
        away=away,
        chain=chain,
        handler=handler,
        book=book,
        turns=turns,
        queues=queues,
        order=order,
        changes=HostChanges(turns, guard),
        robots=robots,
        traps=traps,
        guard=guard,
        rules=rules,
    )
    _go_on(ground, mission, frontier)
    return frontier


def _go_on(ground: Ground, mission: Mission, frontier: Frontier) -> None:
    """With what waited at the last checkpoint; start URLs that traps held back come again."""
    waiting = len(frontier.incoming) + len(frontier.away) + _at_hosts(ground, mission, frontier)
    pulled = frontier.chain.run(frontier.traps.pull(mission.starts), RobotsDesk.name)
    if waiting or pulled:
        ground.shared.tally.rise(waiting + len(pulled))
    if pulled:
        frontier.queues.add(pulled)


def _at_hosts(ground: Ground, mission: Mission, frontier: Frontier) -> int:
    """What waits there; where nothing has changed since a run that ended well, no record is read for that."""
    file, header, settings = ground.state.file, ground.header, ground.settings
    as_before = not (mission.parked or header is None) and settings.frontier.order == "breadth-first"
    if as_before and header is not None and ground.sealing.found.holds(ground.directory / QUEUES / DATABASE):
        standing = file.standing(header)
        if standing is not None and standing.rules == frontier.rules:
            return resumption.go_on(frontier.turns, frontier.guard, standing, revive=mission.again)
    return resumption.load_all(frontier.turns, frontier.guard, file.host_rows(), revive=mission.again)


def standing_of(ground: Ground, frontier: Frontier) -> Standing | None:
    """At the end, for the next run."""
    waiting = ground.shared.tally.value - len(frontier.incoming) - len(frontier.away)
    return resumption.standing_of(frontier.turns, frontier.guard, frontier.rules, waiting)


def _incoming(settings: Config, state: State) -> CachingQueue[URLMessage]:
    name, size = "incoming", settings.frontier.message_block
    if state.header is None:
        return CachingQueue(name, size, state.store, pack_messages, unpack_messages)
    return CachingQueue.restore(state.header.incoming.state(), name, size, state.store, pack_messages, unpack_messages)


def _trap_log(settings: Config, logs: LogBook) -> Callable[[Sequence[str]], None]:
    """Into the log of the filter, where it is in the chain."""
    if TrapDesk.name not in settings.filters.order:
        return lambda _: None
    return logs.open(TrapDesk.log_name).lines


def _open_filter_log(settings: Config, logs: LogBook, clock: Clock) -> Callable[[str], FilterLog]:
    def open_log(name: str) -> FilterLog:
        if name == VisitedFilter.log_name and not settings.filters.visited.log:
            return NoLog()
        return DatedLog(logs.open(name), clock) if name == RobotsDesk.log_name else logs.open(name)

    return open_log
