"""Allowance: what all runs of a crawl together may fetch: pages, to the page, and bytes, about. When it is spent, the run ends.

Asked and told by the threads that fetch or read, in the step of the gate in which the answers are accounted for; `change` is
called by who steers the crawl. Bytes are not exact, as pages are: nobody knows how long an answer will be before it is there.
"""

import threading
from collections.abc import Callable
from typing import Final

from larm.engine.budget import PageBudget

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
