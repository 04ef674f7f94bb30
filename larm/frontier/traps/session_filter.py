"""SessionFilter: links that have a session of a visitor go on as if they had none. In front of the filter ``visited``.

Which parameters of a host are sessions is found out where pages are read (`HostParameters`). `sift` runs on the handler thread,
`know` where pages have been read, and for records of earlier runs at the start.
"""

from collections.abc import Callable, Collection, Sequence

import msgspec

from larm.model.message import REDIRECT, URLMessage
from larm.model.url import BadUrl, Url
from larm.model.url_shape import without_parameters
from larm.seams import Drop

LINKS = "sessions/links"
"""The counter of links that went on without a session."""


class SessionFilter:
    """Implements `larm.seams.Filter`; it drops nothing. Start URLs stay as they are, and what a server redirects to."""

    name = "sessions"
    log_name = "filter_errors"

    def __init__(self, parse: Callable[[str], Url], count: Callable[[str, int], None]) -> None:
        """``parse``: from a text to a Url; raises BadUrl. ``count``: that of the crawl."""
        self._parse = parse
        self._count = count
        self.names: dict[str, frozenset[str]] = {}
        """Sessions by host; replaced as a whole, so no lock is needed."""

    def know(self, host: str, names: Collection[str]) -> None:
        """Take these parameters out of links to this host from now on."""
        if names and len(self.names.get(host, ())) != len(names):
            self.names[host] = frozenset(names)

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:  # noqa: ARG002
        """See `larm.seams.Filter`."""
        if not self.names:
            return list(batch)
        passing = [self._without(each) for each in batch]
        if changed := sum(one is not other for one, other in zip(passing, batch, strict=True)):
            self._count(LINKS, changed)
        return passing

    def peek(self, batch: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """Return what `sift` would, and count nothing. Any thread."""
        return [self._without(each) for each in batch] if self.names else batch

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        url = self._without(message).url
        return None if url is message.url else f"a session of a visitor apart, it is {url.access}"

    def _without(self, message: URLMessage) -> URLMessage:
        names = self.names.get(message.url.host)
        if not names or message.depth == 0 or message.link_type == REDIRECT or message.known is not None:
            return message
        access = without_parameters(message.url.access, names)
        if access == message.url.access:
            return message
        try:
            return msgspec.structs.replace(message, url=self._parse(access))
        except BadUrl:
            return message
