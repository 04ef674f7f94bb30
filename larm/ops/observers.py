"""Who looks at a running crawl: the probe, the reporter, the watchdog, the control socket.

`build_crawl` is the way to a crawl: called by the command line and by programs, on the main thread.
"""

from collections.abc import Sequence
from functools import partial

from larm.building import wiring
from larm.building.ground import Ground
from larm.building.wiring import Built
from larm.engine.checkpointer import Checkpointer
from larm.engine.figures.reporter import Reporter
from larm.engine.parts import Frontier, Observers
from larm.engine.probe import Probe
from larm.engine.verdicts import live_rows, refusals_of
from larm.engine.watchdog import LOG, Watchdog, Watched
from larm.kit.logs.log_views import LogViews
from larm.ops.control.cluster import Cluster
from larm.ops.control.desk import ControlDesk, Parts
from larm.ops.control.hosts import HostLister
from larm.ops.control.server import ControlServer
from larm.store.lines import StorageLines
from larm.store.pipeline import StorageLine


def _observers_of(built: Built) -> Observers:
    ground, frontier, lines, checkpointer, steering, recent, names, node = built
    cluster = Cluster(ground, node) if node is not None else None
    if node is not None:
        from larm.ops.why_cluster import answer  # for who has a cluster

        node.explain = answer(ground.settings, ground.directory)
    settings, shared, logs = ground.settings, ground.shared, ground.logs
    watchdog = Watchdog(
        _watched(ground, frontier, lines, checkpointer),
        settings.monitor.stalled,
        shared.clock,
        log=lambda lines: logs.open(LOG).lines(lines),  # made when there is something to say
        counted=shared.counters.add,
    )
    probe = Probe(
        settings=settings,
        shared=shared,
        frontier=frontier,
        records=ground.records,
        lines=lines,
        checkpointer=checkpointer,
        paused=lambda: steering.paused,
        stalled=lambda: watchdog.stalled,
        cluster=cluster.figures if cluster is not None else lambda: None,
        names=names,
    )
    reporter = Reporter(probe, shared.clock, ground.directory, ground.settings.monitor.log_size)
    ground.closed(reporter.close)
    limits, book = steering.limits, frontier.book
    desk = ControlDesk(
        Parts(
            directory=ground.directory,
            clock=shared.clock,
            snapshot=probe,
            pace=reporter.pace,
            steering=steering,
            hosts=HostLister(book, lambda: limits.now.frontier, shared.clock, shared.addresses),
            recent=recent,
            logs=LogViews(logs.directory),
            parse=ground.normalizer.parse,
            why=lambda url: live_rows(url, refusals_of(url, frontier.chain.filters), book, limits.now, shared.addresses),
            stop=lambda: shared.bell.ring("shutdown"),
            cluster=cluster,
        )
    )
    door = ControlServer(ground.lock, desk, shared.clock, checkpointer, shared.ticker.hurry, counted=shared.counters.add)
    ground.closed(door.close)
    checkpointer.on_saved.append(door.saved)
    return Observers(probe, reporter, watchdog, door, ground.notes)


build_crawl = partial(wiring.build_crawl, observe=_observers_of)
"""`larm.building.wiring.build_crawl`, with those who look at the crawl."""


def _watched(ground: Ground, frontier: Frontier, lines: StorageLines, checkpointer: Checkpointer) -> Sequence[Watched]:
    ticker = ground.shared.ticker
    return [
        Watched("larm-handler", frontier.handler.pulse, lambda: "filters what has come"),
        *(Watched(each.name, each.pulse, each.doing) for each in ground.records),
        *map(_watched_line, lines),
        Watched("larm-tick", ticker.pulse, lambda: "saves a checkpoint", lambda: f"{checkpointer.begun}, {checkpointer.done}"),
    ]


def _watched_line(line: StorageLine) -> Watched:
    return Watched(line.thread, line.pulse, lambda: line.doing, lambda: line.progress)
