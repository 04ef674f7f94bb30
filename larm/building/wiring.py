"""Wiring: Config -> running parts. Read it to see what a crawl is made of, in the order of the river.

The files beside it name the classes behind the seams: `ground` (what all else stands on), `mission` (what the run is to do),
`bounds` (what belongs to the crawl), `storage_lines`, `fetchers`, `frontier`, `reading`. Called by `larm.ops.observers`, which
has it looked at, on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from larm.building.archives import archives_of, catalogue_of, offline
from larm.building.bounds import Bounds, bounds_of
from larm.building.fetchers import address_rule, fetcher_pool, host_cookies
from larm.building.frontier import frontier_of
from larm.building.ground import Ground, ground_of, steering_of
from larm.building.ledger import ledger_of
from larm.building.mission import Mission, limits_of, mission_of, notes_of, storages_apart
from larm.building.named_parts import check, stores_text, traps_are_told
from larm.building.readers import Processors, memory_budget
from larm.building.reading import reading_of
from larm.building.recrawl import recrawl_of
from larm.building.storage_lines import half_made, storage_lines
from larm.config import Config
from larm.crawldir.opening import open_directory
from larm.crawldir.state import PAGES, QUEUES, Undo, close_all
from larm.engine.agenda import Agenda
from larm.engine.allowance import RECEIVED, SPENT, Allowance, ByteLimit, PageBudget
from larm.engine.checkpointer import Checkpointer
from larm.engine.crawl import Crawl, Helm
from larm.engine.crew import Crew
from larm.engine.disk_floor import DiskFloor
from larm.engine.landing import Lander
from larm.engine.move_orders import moves_state_of
from larm.engine.moves import Moves
from larm.engine.parts import Frontier, Logbook
from larm.engine.recent import Recent
from larm.engine.starts import StartWatch
from larm.engine.steering import Hands, Steering
from larm.engine.unloading import Unloader
from larm.fetch.fence import Fence
from larm.fetch.pool import FetcherPool
from larm.filters.dated_log import DatedLog
from larm.filters.scope import ScopeFilter, StartScope
from larm.index.duplicates.novelty import NoveltyJudge
from larm.kit.clock import SystemClock
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.file_url import FILES
from larm.model.message import ORDINARY
from larm.seams import Clock
from larm.store.pages.page_book import PageBook

if TYPE_CHECKING:
    from larm.building.ground import Ground
    from larm.cluster.node import Node
    from larm.engine.checkpointer import Checkpointer
    from larm.engine.parts import Frontier, Observers
    from larm.engine.recent import Recent
    from larm.engine.steering import Steering
    from larm.fetch.look_ups import LookUps
    from larm.store.lines import StorageLines


class Built(NamedTuple):
    """All of a crawl but its threads."""

    ground: Ground
    frontier: Frontier
    lines: StorageLines
    checkpointer: Checkpointer
    steering: Steering
    recent: Recent
    names: LookUps | None
    """Where fetchers have hosts looked up."""
    node: Node | None
    """Of a crawl by several agents."""


Observe = Callable[[Built], "Observers"]
"""Who looks at it; raises StorageError."""


__all__ = ["build_crawl", "check"]


def build_crawl(
    settings: Config,
    directory: Path,
    *,
    observe: Observe,
    fresh: bool = False,
    parked: bool = False,
    clock: Clock | None = None,
    ahead: HelperProcess | None = None,
) -> Crawl:
    """All parts of a crawl, ready to `Crawl.run`; an earlier crawl of the directory is continued unless ``fresh``.

    ``observe`` makes those who look at it. ``parked``: what earlier runs held back as it looked like a trap is fetched as well.
    ``ahead``: a process that reads pages, of `larm.parse.reading.ahead`; it is ours from now on.

    Raises ConfigError and UsageError before anything is touched, UsageError if the directory is in use, StorageError.
    """
    undo: Undo = [] if ahead is None else [ahead.close]
    try:
        if archives := archives_of(settings.crawl.start, places=settings.files.places):
            settings = offline(settings, archives)
        check(settings, directory)
        opened = open_directory(directory, undo, fresh=fresh, alone=not settings.cluster.name)
        ground = ground_of(settings, opened, clock or SystemClock(), undo)
        return _assemble(ground, observe, ahead, parked=parked, fresh=fresh)
    except BaseException:
        close_all(undo)
        raise


def _assemble(ground: Ground, observe: Observe, ahead: HelperProcess | None, *, parked: bool, fresh: bool) -> Crawl:
    """From the source of the river to its mouth."""
    settings, shared, header, notes = ground.settings, ground.shared, ground.header, ground.notes
    memory = memory_budget(settings, careful=ground.suspects.killed)
    mission = mission_of(settings, ground.normalizer, header, half_made=half_made(ground), parked=parked)
    catalogue, new_archives = catalogue_of(ground, mission)
    if catalogue is not None:
        mission = msgspec.structs.replace(mission, urls=(), starts=(), hosts={FILES}, archives=True)
    bounds = bounds_of(ground, mission)
    notes += notes_of(settings, header, mission, bounds.scope)
    lines = storage_lines(ground)
    apart = storages_apart(header, [line.name for line in lines if line.lasting])
    notes += [*apart.notes(again=mission.again), *bounds.notes(again=mission.again)]

    addresses = address_rule(ground, mission)
    cookies = host_cookies(settings)
    fence = Fence() if settings.cluster.name else None
    pool = fetcher_pool(
        ground, addresses, bounds.folders, catalogue, memory, cookies=cookies, fence=fence, exchanges=lines.exchanges
    )
    allowance = _allowance(ground, mission, pool)
    watch = StartWatch(mission.urls, shared.clock, notes.append)
    steering = steering_of(ground, lambda: Hands(frontier, lines, ground.normalizer.parse, pool.wake_all))
    notes += steering.notes
    node = _node(ground, mission, steering, fence, fresh=fresh)
    frontier = frontier_of(
        ground,
        mission,
        bounds,
        pool=pool,
        watch=watch,
        pages=lines.named(PageBook.name),
        others={} if node is None else node.filters(),
    )
    recrawl = recrawl_of(ground, mission, frontier, notes, whole=bool(apart.late) or bounds.changed)
    agenda = Agenda(
        mission.starts,
        catalogue.read(new_archives) if catalogue and new_archives else (),
        recrawl,
        watch,
        DatedLog(ground.logs.open("starts"), shared.clock).lines,
    )

    lander = _lander(ground, bounds, frontier, memory)
    recent = Recent(shared.clock)
    unloader = Unloader(
        shared=shared,
        frontier=frontier,
        lander=lander,
        judge=NoveltyJudge() if traps_are_told(settings) else None,
        cookies=cookies,
        lines=lines,
        allowance=allowance,
        suspects=ground.suspects,
        logbook=Logbook(ground.records, watch, recent),
    )

    reading = reading_of(ground, mission, frontier.queues, pool, unloader, memory=memory, ahead=ahead)
    state = moves_state_of(header.parts if header else {})
    moves = Moves(shared, frontier, steering, lines.named(PageBook.name), ground.directory / QUEUES / PAGES, state)
    starts = bounds.scope if isinstance(bounds.scope, StartScope) else None
    checkpointer = Checkpointer(
        shared=shared,
        frontier=frontier,
        logs=ground.logs,
        lines=lines,
        ledger=ledger_of(ground, mission, frontier, apart, met=addresses.met, following=bounds.noted(again=mission.again)),
        scope=starts,
        parts=[each for each in (steering, moves, node, recrawl, starts) if each is not None],
    )
    checkpointer.on_saved += [moves.work, pool.wake_all]
    frontier.queues.brakes += [steering.may_lease, allowance.received.may_lease, checkpointer.keeps_up]
    _follow_changes(steering, frontier, lander, allowance, alone=node is None)
    if node is not None:
        node.take(frontier, pool.wake_all, moves, allowance.pages, recrawl)
        frontier.queues.brakes.append(node.may_lease)
        notes.append(node.note())
    observers = observe(Built(ground, frontier, lines, checkpointer, steering, recent, pool.names, node))
    if node is not None:
        node.hang = observers.watchdog.hang
    floor = DiskFloor(ground.directory, int(settings.limits.disk), shared.bell.ring, notes.append)
    floor.look()
    checkpointer.on_saved.append(floor.look)
    crew = Crew(
        settings=settings,
        queues=frontier.queues,
        pool=pool,
        reading=reading,
        unloader=unloader,
        allowance=allowance,
        suspects=ground.suspects,
        records=ground.records,
        fence=fence,
    )
    return Crawl(
        shared=shared,
        agenda=agenda,
        frontier=frontier,
        crew=crew,
        lines=lines,
        checkpointer=checkpointer,
        helm=Helm(steering, moves, node),
        observers=observers,
        close=lambda well: ground.close(well=well),
    )


def _allowance(ground: Ground, mission: Mission, pool: FetcherPool) -> Allowance:
    """What all runs together may fetch; a revisit begins to count anew."""
    settings, shared = ground.settings, ground.shared
    if mission.again:
        kept = shared.counters.snapshot().items()
        shared.counters.load({name: value for name, value in kept if name not in {SPENT, RECEIVED}})
    counted = shared.counters.snapshot()
    budget = PageBudget(settings.crawl.max_pages, counted.get(SPENT, 0))
    received = ByteLimit(settings.limits.bytes, counted.get(RECEIVED, 0), shared.bell.ring)
    return Allowance(budget, received, shared.bell.ring, pool.wake_one)


def _node(ground: Ground, mission: Mission, steering: Steering, fence: Fence | None, *, fresh: bool) -> Node | None:
    if fence is None:
        return None
    from larm.building.cluster import node_of  # for who has a cluster

    return node_of(ground, mission.start_urls, steering, fence, fresh=fresh)


def _lander(ground: Ground, bounds: Bounds, frontier: Frontier, memory: MemoryBudget) -> Lander:
    settings, shared = ground.settings, ground.shared
    text = traps_are_told(settings) or stores_text(settings)
    scope = bounds.scope if ScopeFilter.name in settings.filters.order else None
    process = Processors(settings, ground.normalizer, shared.counters, shared.clock, text=text, memory=memory)
    ground.closed(process.close)
    return Lander(
        process.process,
        ground.normalizer.join,
        settings.frontier,
        settings.crawl.max_depth,
        frontier.order,
        recall=frontier.chain.recall,
        news_among=None if frontier.spellings is None else frontier.spellings.news_among,
        is_outside=lambda page: bool(scope and scope.explain(msgspec.structs.replace(page, link_type=ORDINARY))),
        limits=limits_of(settings),
        text=text,
    )


def _follow_changes(steering: Steering, frontier: Frontier, lander: Lander, allowance: Allowance, *, alone: bool) -> None:
    """Settings that change while it runs reach the parts that go by them. ``alone``: else all agents together count pages."""

    def tell(now: Config) -> None:
        frontier.turns.change(now.frontier)
        lander.max_depth = now.crawl.max_depth
        allowance.received.change(now.limits.bytes)
        if alone:
            allowance.change(now.crawl.max_pages)

    steering.limits.tell = tell
    if steering.limits.changes:  # of the last run, which was killed
        tell(steering.limits.now)
