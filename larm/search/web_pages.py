"""WebPages: an index without its files, for who could not open them. Implements `larm.seams.Searcher`. Any thread.

What is left out is counted, suggested and noted nowhere, or others could find out word by word what stands in it.
"""

from collections.abc import Iterator
from urllib.parse import urlencode

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.seams import Searcher

_WEB = ("http://", "https://")


class WebPages:
    """Constant after construction."""

    def __init__(self, searcher: Searcher, *, copies: bool = False) -> None:
        """``copies``: say where the stored copies are, if they can be had (`larm.web.copy_page`)."""
        self.name = searcher.name
        self._copies = copies
        self._searcher = searcher

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """None where there are files, or nobody can say: they would be counted."""
        return None if self._has_files else self._searcher.statistics(asked)

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, of pages of the web alone."""
        copies = self._copies and not self._has_files
        for part in self._searcher.search(msgspec.structs.replace(asked, web=True)):
            hits = tuple(hit for hit in part.hits if hit.url.startswith(_WEB))  # whoever answers may not know of `web`
            if copies:
                hits = tuple(msgspec.structs.replace(hit, copy=self._copy(hit.url)) for hit in hits)
            yield msgspec.structs.replace(part, hits=hits, notes=(), suggestion="")

    @property
    def _has_files(self) -> bool:
        return bool(getattr(self._searcher, "has_files", True))

    def _copy(self, url: str) -> str:
        return "/copy?" + urlencode({"in": self.name, "url": url}, errors="replace")
