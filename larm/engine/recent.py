"""Recent: the last pages and the last errors of a run, for whoever looks on. In memory only, and few.

Written by the threads that fetch and read, read by any.
"""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from larm.engine.landed import Landed
from larm.model.seen import Seen
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
        """Fetches that have ended."""
        now = self._clock.wall()
        for each in landed:
            if each.page or each.error:
                seen = _seen(each, now)
                if each.page:
                    self._pages.append(seen)
                if each.error:
                    self._errors.append(seen)

    def pages(self, count: int) -> list[Seen]:
        """The last so many, the newest first."""
        return list(islice(reversed(self._pages.copy()), count))

    def errors(self, count: int) -> list[Seen]:
        """The same of what went wrong."""
        return list(islice(reversed(self._errors.copy()), count))


def _seen(landed: Landed, now: float) -> Seen:
    """What is shown of a fetch, without its body."""
    url, outcome, document = landed.lease.message.url.access, landed.outcome, landed.document
    said = landed.log_line.partition(" ms: ")[2].removesuffix(f": {url}") if landed.error else ""  # without time and address
    return Seen(
        now,
        url,
        getattr(outcome, "status", 0),
        round(outcome.timing.seconds, 4),
        outcome.timing.received,
        document.mime if document else "",
        document.title[:_TITLE] if document else "",
        said,
    )
