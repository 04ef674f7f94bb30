"""WebPages: an index without its files, for who could not open them. Implements `larm.seams.Searcher`. Any thread.

What is left out is counted, suggested and noted nowhere, or others could find out word by word what stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.seams import Searcher

_WEB = ("http://", "https://")


class WebPages:
    """Constant after construction."""

    def __init__(self, searcher: Searcher) -> None:
        self.name = searcher.name
        self._searcher = searcher

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """None where there are files, or nobody can say: they would be counted."""
        return None if getattr(self._searcher, "has_files", True) else self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, of pages of the web alone."""
        for part in self._searcher.search(msgspec.structs.replace(asked, web=True)):
            hits = tuple(hit for hit in part.hits if hit.url.startswith(_WEB))  # whoever answers may not know of `web`
            yield msgspec.structs.replace(part, hits=hits, notes=(), suggestion="")
