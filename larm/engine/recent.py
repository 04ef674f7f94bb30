"""Recent: the last pages and the last errors of a run, for whoever looks on. In memory only, and few.

Written by the threads that fetch and read, read by any.
"""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from larm.engine.landed import Landed
from larm.model.outcome import Timing
from larm.model.seen import Seen
from larm.seams import Clock

KEPT = 500
"""Of each: more than anybody reads, some hundred KB."""
_TITLE = 200
"""Characters of a title: a screen has no more."""


class _Kept(NamedTuple):
    """What is kept of a fetch: no body, and nothing is computed for whoever never asks."""

    at: float
    url: str
    status: int
    timing: Timing
    mime: str
    title: str
    line: str


class Recent:
    """The newest last."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        # single operations of many threads
        self._pages: deque[_Kept] = deque(maxlen=KEPT)
        self._errors: deque[_Kept] = deque(maxlen=KEPT)

    def add(self, landed: Iterable[Landed]) -> None:
        """Fetches that have ended."""
        now = self._clock.wall()
        for each in landed:
            if each.page or each.error:
                kept = _kept(each, now)
                if each.page:
                    self._pages.append(kept)
                if each.error:
                    self._errors.append(kept)

    def pages(self, count: int) -> list[Seen]:
        """The last so many, the newest first."""
        return [_seen(each) for each in islice(reversed(self._pages.copy()), count)]

    def errors(self, count: int) -> list[Seen]:
        """The same of what went wrong."""
        return [_seen(each) for each in islice(reversed(self._errors.copy()), count)]


def _kept(landed: Landed, now: float) -> _Kept:
    document = landed.visit.document if landed.visit is not None else None
    outcome = landed.outcome
    return _Kept(
        now,
        landed.lease.message.url.access,
        getattr(outcome, "status", 0),
        outcome.timing,
        document.mime if document else "",
        document.title[:_TITLE] if document else "",
        landed.log_line if landed.error else "",
    )


def _seen(kept: _Kept) -> Seen:
    error = kept.line.partition(" ms: ")[2].removesuffix(f": {kept.url}")  # without time and address
    return Seen(
        kept.at, kept.url, kept.status, round(kept.timing.seconds, 4), kept.timing.received, kept.mime, kept.title, error
    )
