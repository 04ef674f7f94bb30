"""PublishedSearcher: an index of this machine as others see it: each hit has an address that they can open, or is left out.

Implements `larm.seams.Searcher`. Any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.peers.yousearch.shares import Shares
from larm.search.shared import SharedSearcher


class PublishedSearcher:
    """Constant after construction."""

    def __init__(self, searcher: SharedSearcher, shares: Shares, hidden: Collection[str] = ()) -> None:
        """``hidden``: names of shares of which nothing is shown."""
        self.name = searcher.name
        self._searcher = searcher
        self._shares = shares
        self._hidden = hidden

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """As the index has them."""
        return self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, with addresses for others."""
        for part in self._searcher.search(asked):
            hits = tuple(hit for each in part.hits if (hit := self._published(each)) is not None)
            left_out = len(part.hits) - len(hits)
            exact = part.exact and not left_out
            yield msgspec.structs.replace(part, hits=hits, total=part.total - left_out, exact=exact)

    def _published(self, hit: Hit) -> Hit | None:
        if hit.url.startswith(("http://", "https://")):
            return hit
        address = self._shares.address(hit.url, self._hidden)
        return None if address is None else msgspec.structs.replace(hit, url=address)
