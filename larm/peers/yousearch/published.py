"""PublishedSearcher: an index of this machine as others see it: each hit has an address that they can open, or is left out.

What is left out is counted, suggested and noted nowhere, or others could find out word by word what stands in it: ``web``.
Implements `larm.seams.Searcher`. Any thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.hit import Hit
from larm.peers.yousearch.shares import Shares
from larm.search.shared import SharedSearcher

_WEB = ("http://", "https://")


class PublishedSearcher:
    """Constant after construction."""

    def __init__(self, searcher: SharedSearcher, shares: Shares, hidden: Collection[str] = (), *, web: bool = False) -> None:
        """``hidden``: names of shares of which nothing is shown. ``web``: nor of any files, as if there were none."""
        self.name = searcher.name
        self._searcher = searcher
        self._shares = shares
        self._hidden = hidden
        self._web = web

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """As the index has them, where all of it may be known."""
        return None if self._web and self._searcher.has_files else self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, with addresses for others."""
        for part in self._searcher.search(msgspec.structs.replace(asked, web=True) if self._web else asked):
            hits = tuple(hit for each in part.hits if (hit := self._published(each)) is not None)
            left_out = len(part.hits) - len(hits)
            yield msgspec.structs.replace(
                part,
                hits=hits,
                total=part.total - left_out,
                exact=part.exact and not left_out,
                notes=() if self._web else part.notes,
                suggestion="" if self._web else part.suggestion,
            )

    def _published(self, hit: Hit) -> Hit | None:
        if hit.url.startswith(_WEB):
            return hit
        address = self._shares.address(hit.url, self._hidden)
        return None if address is None else msgspec.structs.replace(hit, url=address)
