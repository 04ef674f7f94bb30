"""Failing: a stored page whose revisits bring it no more. Pure; the page book counts, and the end of a revisit judges.

A removal for legal reasons (451) counts at once, other refusals and redirects from the second revisit in a row on, servers that
fail or don't answer after ``recrawl.give_up``. A page that comes again is no longer failing.
"""

from __future__ import annotations

import msgspec

REMOVED, REFUSED, MOVED, UNREACHED = range(4)
"""Kinds of failure."""
LEAST_RUNS = 5
"""Revisits in a row that a page must be unreached: some failures of one evening are no proof."""
HOST_GIVEN_UP = "its host was given up, as it does not answer"
"""Failure of a page that was not requested for this."""
_OURS = ("set aside", "it was dropped")
"""How failures begin that say nothing of the page: larm could not read it, or a filter of the user's did not let it pass."""
_BUSY = frozenset({408, 425, 429})


class Failing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page's failures since it last came."""

    since: int
    """When the first was noted, in seconds since 1970."""
    kind: int
    """Of the last one."""
    runs: int = 0
    """Number of revisits in a row without the page."""
    same: int = 0
    """Number of the last of these that failed by the same kind."""

    def again(self, kind: int) -> Failing:
        """Return it with one more failure."""
        return Failing(self.since, kind, self.runs + 1, self.same + 1 if kind == self.kind else 1)

    def is_over(self, now: float, give_up: float, *, leads_to_page: bool) -> bool:
        """Return True if the page is to leave the index. ``leads_to_page``: it redirects to one that is stored."""
        if self.kind == UNREACHED:
            return self.runs >= LEAST_RUNS and now - self.since >= give_up
        return self.kind == REMOVED or self.same > 1 or leads_to_page


def kind_of(status: int, why: str) -> int | None:
    """Return the kind of failure of a response; None: it says nothing of the page. ``why`` as of an `Answer`."""
    if why.startswith(_OURS):
        return None
    if status == 451:
        return REMOVED
    if 300 <= status < 400 and status != 304:
        return MOVED
    forbidden = not status and "robots.txt" in why
    return REFUSED if forbidden or 200 <= status < 300 or (400 <= status < 500 and status not in _BUSY) else UNREACHED
