"""Forgotten filter: what ``larm forget`` has taken out of the crawl does not enter it again. Handler thread; pure.

It stands before all others where anything is forgotten, and is not in ``filters.order``: nobody should lose it there.
"""

from larm.filters.chain import MessageFilter
from larm.model.forgotten import ForgottenPages
from larm.model.message import URLMessage


class ForgottenFilter(MessageFilter):
    """Drops a message whose page is forgotten."""

    name = "forgotten"

    def __init__(self, pages: ForgottenPages) -> None:
        # constant after construction
        self._pages = pages

    def judge(self, message: URLMessage) -> str | None:
        """See `MessageFilter`."""
        found = self._pages.find(message.url.normalised)
        return None if found is None else str(found)
