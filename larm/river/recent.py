"""Recent: the last pages and the last errors of a run, for whoever looks on. In memory only, and few.

Written by the threads that fetch and read, read by any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice

from larm.model.outcome import Failed, Fetched, Moved, Refused
from larm.model.seen import Seen
from larm.river.landing import Landed
from larm.seams import Clock

KEPT = 500
"""Of each: more than anybody reads, some hundred KB."""
_TITLE = 200
"""Characters of a title: a screen has no more."""


class Recent:
    """The newest last."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        # single operations of many threads
        self._pages: deque[Seen] = deque(maxlen=KEPT)
        self._errors: deque[Seen] = deque(maxlen=KEPT)

    def add(self, landed: Iterable[Landed]) -> None:
        """Fetches that have ended; 1 us for each page."""
        now = self._clock.wall()
        for each in landed:
            if each.page:
                self._pages.append(_seen(each, now))
            if each.error:
                self._errors.append(_seen(each, now))

    def pages(self, count: int) -> list[Seen]:
        """The last so many, the newest first."""
        return list(islice(reversed(self._pages.copy()), count))

    def errors(self, count: int) -> list[Seen]:
        """The same of what went wrong."""
        return list(islice(reversed(self._errors.copy()), count))


def _seen(landed: Landed, now: float) -> Seen:
    outcome = landed.outcome
    document = landed.visit.document if landed.visit is not None else None
    return Seen(
        at=now,
        url=landed.lease.message.url.access,
        status=outcome.status if isinstance(outcome, (Fetched, Moved, Refused)) else 0,
        seconds=round(outcome.timing.seconds, 4),
        received=outcome.timing.received,
        mime=document.mime if document else "",
        title=document.title[:_TITLE] if document else "",
        error=_error(landed) if landed.error else "",
    )


def _error(landed: Landed) -> str:
    """The line of the thread's log without time and address."""
    if isinstance(landed.outcome, Failed):
        return f"{landed.outcome.reason.value}: {landed.outcome.detail}"
    return landed.log_line.partition(" ms: ")[2].removesuffix(f": {landed.lease.message.url.access}")
