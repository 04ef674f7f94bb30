"""Wiring: Config -> running parts. Read it to see what a crawl is made of, in the order of the river.

The files beside it name the classes behind the seams: `ground` (what all else stands on), `mission` (what the run is to do),
`storage_lines`, `fetchers`, `frontier`, `reading`. Called by `larm.ops.observers`, which has it looked at, on the main thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from larm.building.archives import about_archives, archive_scope, archives_of, offline, open_catalogue, paths_of
from larm.building.built import Built, Observe
from larm.building.fetchers import address_rule, archive_pool, fetcher_pool
from larm.building.following import following_of, has_changed, note_of, noted
from larm.building.frontier import frontier_of, order_of
from larm.building.ground import Ground, ground_of, steering_of
from larm.building.ledger import ledger_of
from larm.building.mission import Mission, limits_of, mission_of, notes_of, storages_apart
from larm.building.named_parts import check, traps_are_told, wants_text
from larm.building.readers import Processors, air_of, memory_budget
from larm.building.reading import reading_of
from larm.building.recrawl import recrawl_of
from larm.building.scoping import scope_of
from larm.building.start_folders import file_rules
from larm.building.storage_lines import half_made, storage_lines, with_retention
from larm.cluster.files import IDENTITY
from larm.config import Config
from larm.crawldir.marker import forget, permit, refuse_to_begin, set_marker
from larm.crawldir.sealing import Sealing
from larm.crawldir.state import (
    PAGES,
    QUEUES,
    Undo,
    check_databases,
    check_folders,
    check_forgotten,
    close_all,
    logs_of,
    open_state,
    recover,
    refuse_bytes,
)
from larm.engine.agenda import Agenda
from larm.engine.allowance import RECEIVED, Allowance, ByteLimit
from larm.engine.budget import SPENT, PageBudget
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
from larm.errors import UsageError
from larm.fetch.pool import FetcherPool
from larm.filters.dated_log import DatedLog
from larm.filters.scope import ScopeFilter, StartScope
from larm.filters.visited import VisitedFilter
from larm.index.duplicates.novelty import NoveltyJudge
from larm.index.swap import put_back
from larm.kit.clock import SystemClock
from larm.kit.disk.lock import DirectoryLock
from larm.kit.processes.helper_process import HelperProcess
from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.file_url import FILES
from larm.model.message import ORDINARY
from larm.seams import Clock, CrawlOrder
from larm.store.lines import StorageLines
from larm.store.pages.page_book import PageBook
from larm.version import VERSION

if TYPE_CHECKING:
    from larm.cluster.node import Node

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
        archives = archives_of(settings.crawl.start, places=settings.files.places)
        if archives:
            settings = offline(settings, archives)
        check(settings, directory)
        refuse_bytes(directory)
        there = permit(directory, fresh=fresh)
        if there and not (settings.cluster.name or fresh):
            _refuse_alone(directory)
        lock = DirectoryLock(directory)
        undo.append(lock.close)
        if not there:
            set_marker(directory, VERSION, saved=False)
        if fresh:
            forget(directory, logs_of(directory))
            set_marker(directory, VERSION, saved=False)  # last: whoever is killed before has to say --fresh again
        put_back(directory)
        sealing = Sealing(directory)
        undo.append(sealing.close)  # after all that comes below, which has files open
        check_databases(directory, sealing.found)
        state = open_state(directory, undo)
        if state.header is None:
            refuse_to_begin(directory, str(state.store))
        else:
            check_folders(state.header, directory)
            check_forgotten(state.header)
        recover(state, directory, sealing.found)
        clock = clock or SystemClock()
        state, retained = with_retention(settings, directory, state, clock)
        marker = set_marker(directory, VERSION, saved=state.header is not None)
        ground = ground_of(settings, directory, state, marker, clock, undo, sealing)
        ground.notes.extend(retained)
        return _assemble(ground, lock, observe, ahead, parked=parked)
    except BaseException:
        close_all(undo)
        raise


def _assemble(ground: Ground, lock: DirectoryLock, observe: Observe, ahead: HelperProcess | None, *, parked: bool) -> Crawl:
    """From the source of the river to its mouth."""
    settings, shared, header, notes = ground.settings, ground.shared, ground.header, list[str]()
    memory = memory_budget(settings, careful=ground.suspects.killed)
    steering = steering_of(ground)
    mission = mission_of(settings, ground.normalizer, header, half_made=half_made(ground), parked=parked)
    archives = archives_of(settings.crawl.start, header.start_urls if header else (), settings.files.places)
    catalogue = open_catalogue(ground, notes) if archives else None
    new_archives = paths_of(message.url.access for message in mission.starts) if catalogue else []
    if new_archives:
        notes.append(about_archives(new_archives))
    if catalogue:  # its addresses are the start URLs
        mission = msgspec.structs.replace(mission, urls=(), starts=(), hosts={FILES})
    folders = file_rules(settings.files, ground.directory, mission.start_urls) if catalogue is None else None
    addresses = address_rule(ground, mission)
    lines = storage_lines(ground)
    pool = (
        fetcher_pool(ground, addresses, folders, air_of(memory), exchanges=lines.exchanges)
        if catalogue is None
        else archive_pool(ground, catalogue)
    )

    order = order_of(ground, mission)
    allowance = _allowance(ground, mission, pool)
    watch = StartWatch(mission.urls, shared.clock, notes.append)
    scope = scope_of(settings, ground.normalizer, header, notes.append) if catalogue is None else None
    node = _node(ground, mission, steering)
    following = following_of(settings, scope)
    others = has_changed(header, following)
    brakes = [steering.may_lease, allowance.received.may_lease, *([node.may_lease] if node is not None else [])]
    frontier = frontier_of(
        ground,
        mission,
        scope or archive_scope(settings),
        folders,
        order,
        pool,
        watch,
        brakes,
        None if node is None else node.owners,
        node.copies if node is not None and settings.cluster.recover else None,
        anew=others,
        pages=lines.named(PageBook.name),
    )
    apart = storages_apart(header, [line.name for line in lines if line.lasting])
    notes += [*notes_of(settings, header, mission, scope), *ground.notes, *apart.notes(again=mission.again)]
    notes += [note_of(again=mission.again)] if others else []
    recrawl = recrawl_of(ground, mission, frontier, notes, whole=bool(apart.late) or others)
    agenda = Agenda(
        mission.starts,
        catalogue.read(new_archives) if catalogue and new_archives else (),
        recrawl,
        watch,
        DatedLog(ground.logs.open("starts"), shared.clock).lines,
    )

    lander = _lander(ground, frontier, order, memory)
    recent = Recent(shared.clock)
    unloader = Unloader(
        shared=shared,
        frontier=frontier,
        lander=lander,
        judge=NoveltyJudge() if traps_are_told(settings) else None,
        lines=lines,
        allowance=allowance,
        suspects=ground.suspects,
        logbook=Logbook(ground.records, watch, recent),
    )

    reading = reading_of(ground, mission, frontier.queues, pool, unloader, memory, ahead)
    moves = _moves(ground, frontier, steering, lines)
    starts = scope if isinstance(scope, StartScope) else None
    checkpointer = Checkpointer(
        shared=shared,
        frontier=frontier,
        logs=ground.logs,
        lines=lines,
        ledger=ledger_of(
            ground, mission, frontier, apart, met=addresses.met, following=noted(following, changed=others, again=mission.again)
        ),
        scope=starts,
        parts=[each for each in (steering, moves, node, recrawl, starts) if each is not None],
    )
    brakes.append(checkpointer.keeps_up)
    checkpointer.on_saved += [moves.work, pool.wake_all]
    _follow_changes(steering, frontier, lander, allowance, alone=node is None)
    if node is not None:
        node.take(frontier, pool.wake_all, moves, allowance.pages, recrawl)
        notes.append(node.note())
    steering.take(Hands(frontier, lines, ground.normalizer.parse, pool.wake_all))
    notes += steering.notes
    observers = observe(Built(ground, lock, frontier, lines, checkpointer, steering, recent, notes, pool.names, node))
    if node is not None:
        node.hang = observers.watchdog.hang
    _stop_on_full_disk(ground, checkpointer, notes)
    crew = Crew(
        settings=settings,
        queues=frontier.queues,
        pool=pool,
        reading=reading,
        unloader=unloader,
        allowance=allowance,
        suspects=ground.suspects,
        records=ground.records,
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


def _stop_on_full_disk(ground: Ground, checkpointer: Checkpointer, notes: list[str]) -> None:
    floor = DiskFloor(ground.directory, int(ground.settings.limits.disk), ground.shared.bell.ring, notes.append)
    floor.look()
    checkpointer.on_saved.append(floor.look)


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


def _moves(ground: Ground, frontier: Frontier, steering: Steering, lines: StorageLines) -> Moves:
    state = moves_state_of(ground.header.parts if ground.header else {})
    return Moves(ground.shared, frontier, steering, lines.named(PageBook.name), ground.directory / QUEUES / PAGES, state)


def _refuse_alone(directory: Path) -> None:
    """A part of a crawl by several agents can't go on alone: it would ask all hosts of the others. Raises UsageError."""
    path = directory / QUEUES / IDENTITY
    if path.exists():
        from larm.cluster.identity import read_identity  # for who has a cluster

        cluster = read_identity(path).cluster
        raise UsageError(
            f"{directory} has a part of a crawl by the agents of the cluster {cluster}: run it with --cluster {cluster} and the"
            " other options as before, or put these into config.yaml; --fresh forgets it and crawls alone"
        )


def _node(ground: Ground, mission: Mission, steering: Steering) -> Node | None:
    if not ground.settings.cluster.name:
        return None
    from larm.building.cluster import node_of  # for who has a cluster

    return node_of(ground, mission.start_urls, steering)


def _lander(ground: Ground, frontier: Frontier, order: CrawlOrder | None, memory: MemoryBudget) -> Lander:
    settings, text = ground.settings, wants_text(ground.settings)
    shared, parts = ground.shared, frontier.chain.filters
    scope = [part for part in parts if part.name == ScopeFilter.name]
    process = Processors(settings, ground.normalizer, shared.counters, shared.clock, text=text, memory=memory)
    ground.closed(process.close)
    return Lander(
        process.process,
        ground.normalizer.join,
        settings.frontier,
        settings.crawl.max_depth,
        order,
        recall=frontier.chain.recall,
        is_news=next((part.spellings.is_news for part in parts if isinstance(part, VisitedFilter) and part.spellings), None),
        is_outside=lambda message: any(part.explain(msgspec.structs.replace(message, link_type=ORDINARY)) for part in scope),
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
