"""WebPages: an index as readers see it who could have had only some of its pages. Implements `larm.seams.Searcher`. Any thread.

What is left out is counted, suggested and noted nowhere, or others could find out word by word what it says.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from larm.model.findings import Asked, Findings, WordStatistics
from larm.model.restriction import OpenTo
from larm.seams import Searcher

_WEB = ("http://", "https://")
_HIDDEN: Mapping[str, Any] = {"notes": (), "suggestion": "", "instead": "", "statistics": WordStatistics()}
"""What an answer says of the whole index."""


class WebPages:
    """Constant after construction."""

    def __init__(self, searcher: Searcher, open_to: OpenTo, *, copies: bool = False) -> None:
        """``copies``: say where the stored copies are, if they can be had (`larm.web.copy_page`)."""
        self.name = searcher.name
        self._open_to = open_to
        self._copies = copies
        self._searcher = searcher

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """None where other pages would be counted, or might be."""
        return self._searcher.statistics(asked) if self._is_whole() else None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The same parts, of pages that these readers could have had."""
        copies = self._copies and self._is_whole()
        asked = msgspec.structs.replace(asked, open_to=self._open_to, advice=False)
        for part in self._searcher.search(asked):
            hits = tuple(hit for hit in part.hits if hit.url.startswith(_WEB))  # the searcher may not know of `open_to`
            if copies:
                hits = tuple(msgspec.structs.replace(hit, copy=self._copy(hit.url)) for hit in hits)
            yield msgspec.structs.replace(part, hits=hits, **_HIDDEN)

    def _is_whole(self) -> bool:
        is_all_open = getattr(self._searcher, "is_all_open", None)
        return is_all_open is not None and is_all_open(self._open_to)

    def _copy(self, url: str) -> str:
        return "/copy?" + urlencode({"in": self.name, "url": url}, errors="replace")
