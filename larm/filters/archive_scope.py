"""ArchiveScope: in a crawl of archives, links that lead out of them are recorded and go nowhere. Handler thread only.

All addresses of the archives enter before the first page is read, so a link to one of them has been visited; the filter stands
behind ``visited``, and whatever is a link there is a link to elsewhere.
"""

from larm.filters.chain import MessageFilter
from larm.filters.scope import ScopeFilter
from larm.model.message import START, URLMessage


class ArchiveScope(MessageFilter):
    """Drops all but the addresses of the archives themselves; and of these, what a user's scope does not want."""

    name = "scope"
    log_name = "URLScopeFilter"

    def __init__(self, within: ScopeFilter) -> None:
        # constant after construction
        self.too_slow = within.too_slow
        self._within = within

    def judge(self, message: URLMessage) -> str | None:
        """None for what was not found in a page, and is wanted."""
        if message.referrer != START:
            return "not in the archive"
        return self._within.refusal(message.url.normalised, message.url.spelled) or None
