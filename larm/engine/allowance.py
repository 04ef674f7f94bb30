"""Allowance: what all runs of a crawl together may fetch, pages and bytes. When it is spent, the run ends.

`PageBudget` makes ``--max-pages`` exact: a lease reserves a page before its request is sent, so no request is too many.
Bytes are not exact, as nobody knows how long an answer will be before it is there.

Called by the threads that fetch or read, and told in the step of the gate in which the answers are accounted for; `change` is
called by who steers the crawl.
"""

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

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


BYTES_SPENT: Final = "bytes_spent"
"""The reason of a run that ends for this."""
RECEIVED: Final = "limits/bytes"
"""Counter of the bytes that were received since the crawl or its last revisit began."""


class ByteLimit:
    """``limit`` bytes in the whole crawl (all its runs), of which ``received`` were received already; None: any number."""

    def __init__(self, limit: int | None, received: int, end: Callable[[str], object]) -> None:
        """``end`` ends the run; it may be called more than once."""
        # constant after construction
        self._end = end
        self._lock = threading.Lock()
        # guarded by self._lock
        self._limit = limit
        self._received = received
        self._spent = False
        self._look()

    def add(self, count: int) -> None:
        """So many bytes more were received."""
        with self._lock:
            self._received += count
        self._look()

    def change(self, limit: int | None) -> None:
        """From now on it is so many in the whole crawl."""
        with self._lock:
            self._limit = limit
        self._look()

    def _look(self) -> None:
        """End the run if that is all."""
        with self._lock:
            self._spent = spent = self._limit is not None and self._received >= self._limit
        if spent:
            self._end(BYTES_SPENT)

    def may_lease(self) -> bool:
        """Some may still be received, as far as is known; without the lock."""
        return not self._spent


PAGES_SPENT: Final = "closespider_pagecount"
"""The reason of a run that ends for its pages; Scrapy's word."""


class Allowance:
    """``--max-pages`` and ``--max-bytes``."""

    def __init__(
        self, pages: PageBudget, received: ByteLimit, end: Callable[[str], object], free: Callable[[], object]
    ) -> None:
        """``end`` ends the run, also where it is called more than once. ``free``: a fetcher may get a lease again."""
        # constant after construction
        self.pages = pages
        self.received = received
        self._end = end
        self._free = free

    def settle(self, ended: int, pages: int) -> None:
        """So many requests have ended, and brought so many pages."""
        self.pages.settle(ended, pages)
        if pages and self.pages.exhausted:
            self.look()
        elif self.pages.limited:
            self._free()  # a reservation may have come free

    def change(self, pages: int | None) -> None:
        """From now on it is so many pages in the whole crawl."""
        self.pages.change(pages)
        self.look()

    def look(self) -> None:
        """End the run if no page is left."""
        if self.pages.exhausted:
            self._end(PAGES_SPENT)
