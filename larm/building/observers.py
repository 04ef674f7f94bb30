"""Who looks at a running crawl: the probe, the reporter, the watchdog, the control socket.

Called by `larm.building.wiring` on the main thread.
"""

from collections.abc import Sequence

from larm.building.ground import Ground
from larm.control.cluster import Cluster
from larm.control.desk import ControlDesk, Parts
from larm.control.hosts import HostLister
from larm.control.server import ControlServer
from larm.fetching.look_ups import LookUps
from larm.kit.disk.lock import DirectoryLock
from larm.kit.logs.log_views import LogViews
from larm.monitor.reporter import Reporter
from larm.river.checkpointer import Checkpointer
from larm.river.parts import Frontier, Observers
from larm.river.probe import Probe
from larm.river.recent import Recent
from larm.river.steering import Steering
from larm.river.verdicts import live_rows, refusals_of
from larm.river.watchdog import LOG, Watchdog, Watched
from larm.storage.lines import StorageLines
from larm.storage.pipeline import StorageLine


def observers_of(  # noqa: PLR0917
    ground: Ground,
    lock: DirectoryLock,
    frontier: Frontier,
    lines: StorageLines,
    checkpointer: Checkpointer,
    steering: Steering,
    recent: Recent,
    notes: list[str],
    names: LookUps | None,
    cluster: Cluster | None = None,
) -> Observers:
    """``names``: where fetchers have hosts looked up. Raises StorageError."""
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
    door = ControlServer(lock, desk, shared.clock, checkpointer, shared.ticker.hurry, counted=shared.counters.add)
    ground.closed(door.close)
    checkpointer.on_saved.append(door.saved)
    return Observers(probe, reporter, watchdog, door, notes)


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
