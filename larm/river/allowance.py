"""Allowance: what all runs of a crawl together may fetch: pages, to the page, and bytes, about. When it is spent, the run ends.

Asked and told by the threads that fetch or read; `change` is called by who steers the crawl.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from larm.river.budget import PageBudget
from larm.river.byte_limit import ByteLimit

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
