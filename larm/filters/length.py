"""Length filter: URLs that are too long are traps or mistakes (LARM-48). Handler thread; pure.

It stands behind the scope, so that what it counts are URLs that would have been fetched.
"""

from larm.filters.chain import MessageFilter
from larm.model.file_url import FILES
from larm.model.message import URLMessage


class LengthFilter(MessageFilter):
    """Drops a message whose whole access URL is longer than ``maximum`` characters.

    Files pass: nobody makes up endless names of them, and one in another alphabet is three to nine times as long when escaped.
    Sitemaps pass, as they only name URLs that are judged themselves.
    """

    name = "length"
    log_name = "URLLengthFilter"

    def __init__(self, maximum: int) -> None:
        # constant after construction
        self._maximum = maximum

    def judge(self, message: URLMessage) -> str | None:
        """See `MessageFilter`."""
        length = len(message.url.access)
        if length <= self._maximum or message.url.host == FILES or message.is_sitemap:
            return None
        return f"{length} characters, filters.length.max is {self._maximum}"
