"""Forgotten filter: what ``larm forget`` has taken out of the crawl does not enter it again. Handler thread; pure.

It stands before all others where anything is forgotten, and is not in ``filters.order``: nobody should lose it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.forgotten import ForgottenPages
from larm.model.message import URLMessage
from larm.seams import Drop


class ForgottenFilter:
    """Drops a message whose page is forgotten."""

    name = "forgotten"
    log_name = "ForgottenFilter"

    def __init__(self, pages: ForgottenPages) -> None:
        self._pages = pages

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        out = [message for message in batch if self._pages.holds(message.url.normalised)]
        if not out:
            return list(batch)
        for message in out:
            drop([message], str(self._pages.find(message.url.normalised)))
        return [message for message in batch if not self._pages.holds(message.url.normalised)]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        found = self._pages.find(message.url.normalised)
        return None if found is None else str(found)
