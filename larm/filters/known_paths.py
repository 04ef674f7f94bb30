"""Known paths filter: URLs that are known to be of no use, such as Apache's sorted directory views (LARM-50, LARM-51).

Handler thread; pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.config import KnownPathsFilter as Settings
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url import Url
from larm.seams import Drop


class KnownPathsFilter:
    """Drops by prefix or suffix of path and query, or by host.

    Prefixes and suffixes are compared in lower case: LARM compared its upper-case table with lower-cased URLs, which never
    matched. Suffixes of the query are also tried as the normaliser writes them (``=`` and ``;`` stay, others are escaped).
    """

    name = "known_paths"
    log_name = "KnownPathsFilter"

    def __init__(self, settings: Settings) -> None:
        # constant after construction
        self._prefixes = tuple(prefix.lower() for prefix in settings.prefixes)
        self._suffixes = tuple(suffix.lower() for suffix in settings.suffixes)
        self._hosts = frozenset(host.lower() for host in settings.hosts)

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        known = [message for message in batch if self._matches(message.url)]
        if not known:
            return list(batch)
        drop(known, "known path")
        return [message for message in batch if not self._matches(message.url)]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        if message.url.host in self._hosts:
            return f"host {message.url.host} is in filters.known_paths.hosts"
        file = _file(message.url)
        for which, found in (("prefixes", file.startswith(self._prefixes)), ("suffixes", file.endswith(self._suffixes))):
            if found:
                return f"{file} is in filters.known_paths.{which}"
        return None

    def _matches(self, url: Url) -> bool:
        file = _file(url)
        return file.endswith(self._suffixes) or file.startswith(self._prefixes) or url.host in self._hosts


def _file(url: Url) -> str:
    """Path and query of the normalised form, in lower case."""
    slash = url.normalised.find("/", 7 if url.host == FILES else 8)  # behind file://, http:// or https://
    return url.normalised[slash:].lower() if slash > 0 else "/"
