"""ControlDesk: what a running crawl answers. Knows the parts of the river, nothing of sockets. On the control thread only.

Nothing here waits: what can't be answered at once (a checkpoint) or is never answered to the end (a stream) is the server's.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.engine.figures.limits import ending
from larm.engine.figures.rates import Rate
from larm.engine.figures.snapshot import Snapshot
from larm.engine.orders import AnyOrder, Done
from larm.engine.recent import KEPT, Recent
from larm.engine.steering import Steering
from larm.engine.verdicts import Row
from larm.errors import UsageError, refusing
from larm.kit.logs.log_views import LogViews
from larm.model.url import BadUrl, Url
from larm.ops.control.cluster import Cluster, of_one_agent
from larm.ops.control.hosts import HostLister
from larm.ops.control.requests import (
    Agents,
    All,
    AnyAnswer,
    AnyRequest,
    Checkpoint,
    Do,
    Errors,
    Explanation,
    Fetches,
    Hold,
    Hosts,
    Leave,
    Lines,
    Pages,
    Release,
    Report,
    Status,
    Stop,
    Tail,
    Watch,
    Why,
)
from larm.seams import Clock

_LINES = 1_000
"""Of a log, at most; and so many bytes of each are looked at."""


class Parts(NamedTuple):
    """What the desk asks."""

    directory: Path
    clock: Clock
    snapshot: Callable[[], Snapshot]
    pace: Callable[[Snapshot], tuple[Rate, str]]
    """Averages, and what limits the crawl."""
    steering: Steering
    hosts: HostLister
    recent: Recent
    logs: LogViews
    parse: Callable[[str], Url]
    """Raises BadUrl."""
    why: Callable[[Url], Sequence[Row]]
    stop: Callable[[], object]
    cluster: Cluster | None = None
    """None: this crawl is alone."""


class ControlDesk:
    """`answer` for each request."""

    def __init__(self, parts: Parts) -> None:
        # constant after construction
        self._parts = parts
        # replaced as a whole by the main thread
        self.waits: tuple[str, ...] | None = None
        """What the end of the crawl waits for; None: it is not ending."""

    def answer(self, request: AnyRequest) -> AnyAnswer:
        """At once. Raises UsageError with a sentence for who has asked; StorageError ends the crawl."""
        parts = self._parts
        answer: AnyAnswer
        match request:
            case Status() | Watch():
                answer = self._report()
            case Hosts():
                answer = parts.hosts.table(request)
            case Pages(count):
                answer = Fetches(tuple(parts.recent.pages(_bounded(count, KEPT))))
            case Agents() | All() | Leave():
                if parts.cluster is None:
                    raise UsageError("this crawl is alone: cluster.name is not set")
                answer = parts.cluster.answer(request)
            case Errors(count):
                answer = Fetches(tuple(parts.recent.errors(_bounded(count, KEPT))))
            case Why(url):
                answer = Explanation(tuple(self._why(url)))
            case Tail():
                answer = self._tail(request)
            case Do(order):
                answer = self._do(order)
                parts.hosts.forget()
            case Stop():
                parts.stop()
                answer = Done("it ends: what is in the air lands or is given back, and everything is saved")
            case Checkpoint() | Hold():
                answer = Done("saved")
            case Release():
                answer = Done("it saves again")
        return answer

    def carry_out(self) -> None:
        """What was ordered takes effect."""
        self._parts.steering.carry_out()

    def _do(self, order: AnyOrder) -> Done:
        cluster = self._parts.cluster
        if cluster is None:
            return self._parts.steering.order(order)
        cluster.check(order)
        return of_one_agent(order, self._parts.steering.order(order))

    def _report(self) -> Report:
        parts = self._parts
        now = parts.snapshot()
        rate, limit = parts.pace(now)
        waits = self.waits
        return Report(
            state=self._state(now),
            directory=str(parts.directory.absolute()),
            pid=os.getpid(),
            written=parts.clock.wall(),
            limited_by=limit if waits is None else ending(waits) or "the end of the crawl",
            pages_per_second=round(rate.pages, 3),
            bytes_per_second=round(rate.received, 1),
            average_over_seconds=round(rate.seconds, 1),
            figures=now,
            changes=dict(parts.steering.limits.changes),
            waits=waits or (),
        )

    def _state(self, now: Snapshot) -> str:
        if self.waits is not None:
            return "ending"
        if now.paused:
            return "paused"
        return "idle" if now.idle else "running"

    def _why(self, text: str) -> Sequence[Row]:
        with refusing(text[:200], BadUrl):
            return self._parts.why(self._parts.parse(text))

    def _tail(self, asked: Tail) -> Lines:
        if not asked.log:
            return Lines("", (), tuple(self._parts.logs.names()))
        return Lines(asked.log, tuple(self._parts.logs.last(asked.log, _bounded(asked.lines, _LINES))))

    def added(self, log: str, position: int | None) -> tuple[Lines, int]:
        """Return what a log has got since it was as long as this (None: nothing), and its length now. Raises UsageError."""
        lines, position = self._parts.logs.since(log, position)
        return Lines(log, tuple(lines)), position


def _bounded(count: int, most: int) -> int:
    return min(max(count, 0), most)
