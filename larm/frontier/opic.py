"""OPIC: the URL with the most cash is next (YIOOP-48, YIOOP-49; Abiteboul, Preda and Cobena, 2003).

The start URLs share a cash of 1. A page that is fetched gives its cash to its links; so cash gathers where many and rich pages
link to. The cash is in a table of fixed size, the bands go by its logarithm, and who waits is filed again when the crawl has
grown by half, as cash comes in while a URL waits.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence

from larm.frontier.banded_queue import BANDS
from larm.kit.disk.number_table import NumberTable
from larm.model.message import START, URLMessage

ROWS = 1 << 21
"""URLs whose cash is told apart, about: 16 MB of the memory and the disk. More of them share rows, and look richer."""
_UNIT = 1 << 40
"""Cash that YIOOP-49's whole numbers count as 1."""
_GROWN = 1.5
"""Pages to the next filing: less is more work, and orders hardly better."""


def domain_shares(cash: int, links: int, same: int) -> tuple[int, int]:
    """YIOOP-49: what each link to the page's own domain gets, of which there are ``same``, and each other one."""
    own = cash // (2 * links) if links else 0
    other = (cash - own * same) // (links - same) if links > same else 0
    return own, other


def band_of(cash: float) -> int:
    """Half powers of two: 0 for all the cash there is, 127 for next to nothing.

    Measured on two webs: whole powers get a twentieth less, quarters hardly more; 64 bands are too few for the cash of a page
    in a crawl of 300,000.
    """
    return min(max(int(-2 * math.log2(cash)), 0), BANDS - 1) if cash > 0 else BANDS - 1


class OpicOrder:
    """Implements `larm.seams.CrawlOrder`."""

    fair = False

    def __init__(self, table: NumberTable, starts: int, site: Callable[[str], str] | None = None) -> None:
        """``starts``: how many URLs share the first cash. ``site`` groups host names for YIOOP-49; None: equal shares."""
        # constant after construction
        self._starts = max(starts, 1)
        self._site = site
        self._lock = threading.Lock()
        # guarded by self._lock; reading it without costs nothing but precision
        self._table = table
        self._pages = 0
        self._next = 16.0
        self.generation = 0

    def found(self, page: URLMessage, links: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """Hand the page's cash on; a page without links keeps it."""
        own, table = page.url.fingerprint, self._table
        goals = {link.url.fingerprint: link for link in links}
        goals.pop(own, None)
        with self._lock:
            self._pages += 1
            if self._pages >= self._next:
                self._next *= _GROWN
                self.generation += 1
            if not goals:
                return links
            cash = table.get(own) + (1 / self._starts if page.referrer == START else 0.0)
            table.put(own, 0.0)
            if self._site is None:
                share = cash / len(goals)
                for goal in goals:
                    table.add(goal, share)
            else:
                for goal, share in self._shares(page, goals, cash, self._site):
                    table.add(goal, share)
        return links

    def file(self, messages: Sequence[URLMessage]) -> list[tuple[int, URLMessage]]:
        """By the cash they have now."""
        get = self._table.get
        return [(0 if message.referrer == START else band_of(get(message.url.fingerprint)), message) for message in messages]

    def file_again(self, message: URLMessage, _: int) -> int:
        """By the cash it has now."""
        return 0 if message.referrer == START else band_of(self._table.get(message.url.fingerprint))

    def close(self) -> None:
        """Keep the cash for the next run."""
        self._table.close()

    def _shares(
        self, page: URLMessage, goals: Mapping[int, URLMessage], cash: float, site: Callable[[str], str]
    ) -> list[tuple[int, float]]:
        home = site(page.url.hostname)
        same = {goal for goal, link in goals.items() if site(link.url.hostname) == home}
        own, other = domain_shares(int(cash * _UNIT), len(goals), len(same))
        return [(goal, (own if goal in same else other) / _UNIT) for goal in goals]
