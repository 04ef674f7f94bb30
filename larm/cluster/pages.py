"""Pages: this agent's part of ``--max-pages`` of all agents, which etcd hands out (`larm.cluster.session`). Not one too many is
fetched: what is given back is taken from the budget first, and nothing is added to it before etcd has that back.

``larm-agents`` asks what is wanted, ``larm-etcd`` brings what was granted.
"""

import threading

from larm.engine.allowance import PageBudget

_AHEAD = 3.0
"""Seconds for which the pages that are left should last: a grant takes a round or two."""


class Pages:
    """Of one crawl."""

    def __init__(self) -> None:
        # replaced before any other thread runs
        self._budget = PageBudget(None, 0)
        # only larm-agents
        self._spent = 0
        self._at = 0.0
        # guarded by self._lock
        self._lock = threading.Lock()
        self._granted = 0
        self._keep: int | None = None

    def take(self, budget: PageBudget) -> None:
        """Before any other thread runs."""
        budget.share()
        self._budget = budget

    def granted(self, pages: int) -> bool:
        """So many may be fetched here, in all runs; True: more than before. On ``larm-etcd``."""
        with self._lock:
            if not self._budget.limited or pages == self._granted or (self._keep is not None and pages > self._keep):
                return False
            self._granted = pages
            return self._budget.change(pages)

    def wanted(self, now: float, *, work: bool) -> tuple[bool, int | None]:
        """Whether more pages are wanted, and how many are kept at most (None: all). ``work``: something is left to do."""
        if not self._budget.limited:
            return False, None
        with self._lock:
            left = self._granted - self._budget.spent
            rate = (self._budget.spent - self._spent) / max(now - self._at, 0.01)
            self._spent, self._at = self._budget.spent, now
            if not work:
                given = self._budget.give_up(1.0)
                self._keep = (self._granted if self._keep is None else self._keep) - given
                return False, self._keep
            if self._keep is not None and self._granted <= self._keep:
                self._keep = None
            return left <= _AHEAD * rate, self._keep

    @property
    def exhausted(self) -> bool:
        """All that was granted is fetched, and nothing is under way."""
        with self._lock:
            return self._budget.limited and self._budget.spent >= self._granted
