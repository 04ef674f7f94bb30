"""History: how a crawl went, from ``logs/ThreadMonitor.log``: some hundred of its lines, evenly spread over all runs.

The log has a line every five seconds, so it is the record of a crawl over time, and there is no other one. It is looked at in
some hundred places, however long it is: a week has 20 MB. Any thread; a crawl may be writing. For ``larm report`` and
``larm serve``.
"""

import math
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from larm.engine.figures.thread_log import COLUMNS
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.logs.log_file import with_parts

POINTS = 400
"""More than a screen shows of a curve."""
_LONGEST = 65_536
"""Bytes of a line."""


class Moment(msgspec.Struct, frozen=True):
    """A line of the log. Counts are of the run so far."""

    wall: float
    """Seconds since 1970."""
    run: int
    requests: int
    received: int
    waiting: int
    """URLs in all queues."""
    memory: int
    """Bytes."""
    pages: int = 0
    """Of all runs."""
    errors: int = 0
    elapsed: int = 0
    """Milliseconds since the run began."""


_NOTHING = Moment(math.inf, 0, 0, 0, 0, 0)
"""Before the first line."""


class Step(msgspec.Struct, frozen=True):
    """What a crawl did between two moments of the same run."""

    wall: float
    """Its end."""
    run: int
    pages: float
    """A second; so are the next two."""
    received: float
    errors: float
    waiting: int


def history(path: Path, points: int = POINTS) -> list[Moment]:
    """Some ``points`` moments of the log, oldest first. Raises StorageError."""
    with disk_failures(path):
        return list(_sampled([x for x in with_parts(path.parent, path.name) if x.exists()], points))


def steps(moments: list[Moment]) -> list[Step]:
    """Rates between neighbours; none between two runs."""
    found = []
    for one, other in pairwise(moments):
        seconds = other.wall - one.wall
        if one.run == other.run and seconds > 0:
            found.append(
                Step(
                    wall=other.wall,
                    run=other.run,
                    pages=max(0, other.pages - one.pages) / seconds,
                    received=max(0, other.received - one.received) / seconds,
                    errors=max(0, other.errors - one.errors) / seconds,
                    waiting=other.waiting,
                )
            )
    return found


def _sampled(paths: Sequence[Path], points: int) -> Iterator[Moment]:
    step = sum(path.stat().st_size for path in paths) // max(1, points)
    run, before = 0, _NOTHING
    for path in paths:
        for moment in _moments(path, step):
            run += _is_of_a_later_run(moment, before)
            before = moment
            yield msgspec.structs.replace(moment, run=run)


def _moments(path: Path, step: int) -> Iterator[Moment]:
    """About one for each ``step`` bytes."""
    with path.open("rb") as log:
        size, place = os.fstat(log.fileno()).st_size, 0
        while line := log.readline(_LONGEST):
            moment = _parsed(line)
            if moment is not None:
                yield moment
                place += step
            if log.tell() < place < size - step:  # the last part is read whole, or its end would be missed
                log.seek(place)
                log.readline(_LONGEST)


def _is_of_a_later_run(moment: Moment, before: Moment) -> bool:
    """It began after the line before; or, where the clock was set back, has not taken as long."""
    return moment.elapsed < before.elapsed or moment.wall - moment.elapsed / 1000 > before.wall + 0.0005


def _parsed(line: bytes) -> Moment | None:
    """None for the line of names, and for one that a process which was killed did not end."""
    text = line.decode("utf-8", "replace")
    _, _, rest = text.rstrip("\n").partition(";")
    elapsed, _, columns = rest.partition(";")
    values = dict(zip(COLUMNS, columns.split(";"), strict=False))
    try:
        return Moment(
            wall=int(values["time"]) / 1000,
            run=0,
            requests=int(values["overallTasksRun"]),
            received=int(values["overallBytesRead"]),
            waiting=int(values["urlsQueued"]) + int(values["urlsWaiting"]),
            memory=int(values["memUsed"]),
            pages=int(values["pages"]),
            errors=int(values["errors"]),
            elapsed=int(elapsed),
        )
    except (KeyError, ValueError):
        return None
