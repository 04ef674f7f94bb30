"""PageBudget: makes ``--max-pages`` exact. A lease reserves a page before its request is sent, so no request is too many.

Called by the fetcher threads; `change` by who steers the crawl.
"""

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

L = TypeVar("L")


SPENT = "limits/pages"
"""Counter of the pages that ``--max-pages`` has allowed, since the crawl or its last revisit began."""


class PageBudget:
    """``limit`` pages in the whole crawl (all its runs), of which ``spent`` are stored already; None: as many as there are."""

    def __init__(self, limit: int | None, spent: int) -> None:
        self._lock = threading.Lock()
        # guarded by self._lock
        self._spent = spent
        self._left = None if limit is None else limit - spent
        self._reserved = 0
        self._shared = False

    def spend(self, wanted: int, lease: Callable[[int], list[L]]) -> list[L]:
        """What ``lease`` gives for at most ``wanted`` requests; each of them is reserved until `settle`.

        Under the lock: a reservation that nothing came of would, while it lasts, send other threads to sleep.
        """
        if self._left is None:
            leases = lease(wanted)
            with self._lock:
                self._reserved += len(leases)
            return leases
        with self._lock:
            granted = min(wanted, self._free())
            leases = lease(granted) if granted > 0 else []
            self._reserved += len(leases)
            return leases

    def settle(self, reserved: int, pages: int) -> None:
        """``reserved`` requests have ended; ``pages`` of them brought a page."""
        with self._lock:
            self._reserved -= reserved
            self._spent += pages
            if self._left is not None:
                self._left -= pages

    def change(self, limit: int | None) -> bool:
        """From now on it is so many pages in the whole crawl. Whether those are more than before."""
        with self._lock:
            before = self._left
            self._left = None if limit is None else limit - self._spent
            return before is not None and (self._left is None or self._left > before)

    def share(self) -> None:
        """Other processes fetch pages of the same limit: nothing is fetched before `change` says how many are ours, and what
        is exhausted may grow again."""
        with self._lock:
            self._shared = True
            if self._left is not None:
                self._left = 0

    def give_up(self, share: float) -> int:
        """This share of what is neither spent nor reserved may not be spent here any more; so many pages."""
        with self._lock:
            if self._left is None:
                return 0
            count = int((self._left - self._reserved) * share) if self._left > self._reserved else 0
            self._left -= count
            return count

    @property
    def spent(self) -> int:
        """Pages that were fetched."""
        return self._spent

    @property
    def open(self) -> bool:
        """A request may be sent now."""
        return self._free() > 0

    @property
    def exhausted(self) -> bool:
        """Nothing is left, and nothing in flight could give any back."""
        return self._left is not None and self._left <= 0 and not self._shared

    def _free(self) -> int:
        """Requests that may be sent now; with or without the lock."""
        left = self._left
        return sys.maxsize if left is None else left - self._reserved

    @property
    def limited(self) -> bool:
        """A limit was given."""
        return self._left is not None
