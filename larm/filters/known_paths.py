"""Known paths filter: URLs that are known to be of no use, such as Apache's sorted directory views (LARM-50, LARM-51).

Handler thread; pure.
"""

from larm.config import KnownPathsFilter as Settings
from larm.filters.chain import MessageFilter
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url import Url


class KnownPathsFilter(MessageFilter):
    """Drops by prefix or suffix of path and query, or by host; a prefix that ends in ``$`` is the whole, as in robots.txt.

    Prefixes and suffixes are compared in lower case: LARM compared its upper-case table with lower-cased URLs, which never
    matched. Suffixes of the query are also tried as the normaliser writes them (``=`` and ``;`` stay, others are escaped).
    """

    name = "known_paths"

    def __init__(self, settings: Settings) -> None:
        # constant after construction
        self._prefixes = tuple(prefix.lower() for prefix in settings.prefixes)
        self._suffixes = tuple(suffix.lower() for suffix in settings.suffixes)
        self._hosts = frozenset(host.lower() for host in settings.hosts)

    def judge(self, message: URLMessage) -> str | None:
        """See `MessageFilter`."""
        if message.url.host in self._hosts:
            return f"host {message.url.host} is in filters.known_paths.hosts"
        file = _file(message.url)
        if f"{file}$".startswith(self._prefixes):
            return f"{file} is in filters.known_paths.prefixes"
        return f"{file} is in filters.known_paths.suffixes" if file.endswith(self._suffixes) else None


def _file(url: Url) -> str:
    """Path and query of the normalised form, in lower case."""
    slash = url.normalised.find("/", 7 if url.host == FILES else 8)  # behind file://, http:// or https://
    return url.normalised[slash:].lower() if slash > 0 else "/"
