"""StrangerFetch: requests a page as any stranger would, to compare it with what a peer says of it. Used by one thread.

robots.txt and its Crawl-delay hold, a host gets one request at a time, and redirects are not followed. A stranger has named the
page, so only addresses to which peers may be led are asked (`larm.peers.addresses`).
"""

import html
import re
import socket
from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import urlsplit

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer, is_address
from larm.frontier.robots.rules import RobotsRules
from larm.peers.addresses import may_be_asked
from larm.seams import Clock

_TOKEN = "larm"  # noqa: S105 - the product token of the crawler
_PAUSE = 1.0
"""Seconds between two requests to one host, where robots.txt has no longer delay."""
_LONGEST_PAUSE = 60.0
_SECONDS = 10.0
"""Time limit of a request."""
_MOST = 300_000
"""Bytes of a page."""
_ROBOTS_MOST = 500_000
_ROBOTS_AGE = 3_600.0
"""Seconds for which rules are kept, also that there are none to be had."""
_MOST_HOSTS = 1_000
_PORTS = {"http": 80, "https": 443}
_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))
_LONG_NUMBER = re.compile("&#[0-9]{8,}")
"""A character reference that Python may refuse to read."""


class _Host(NamedTuple):
    rules: RobotsRules | None
    """None: they can't be had, so nothing is requested."""
    read: float
    due: float
    """When the next request may be made, by the monotonic clock."""


class StrangerFetch:
    """Requests of one peer."""

    def __init__(self, http: HttpClient, clock: Clock, kinds: Collection[str]) -> None:
        """``kinds``: of addresses that may be asked beside public ones."""
        # constant after construction
        self._http = http
        self._clock = clock
        self._kinds = frozenset(kinds)
        # only the calling thread
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def is_due(self, url: str) -> bool:
        """Return True if the host of the page may be asked now."""
        host = self._hosts.get(origin_of(url))
        return host is None or self._clock.monotonic() >= host.due

    def fetch(self, url: str, seconds: float = _SECONDS) -> HttpAnswer | NoAnswer:
        """Return the response, or NoAnswer where the page must not or can't be requested. ``seconds``: for each request."""
        origin = origin_of(url)
        if not (is_address(origin) and url.isascii() and url.isprintable() and " " not in url):
            return NoAnswer("its URL is malformed")
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
            found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
        except (OSError, ValueError, KeyError, UnicodeError):
            return NoAnswer("its host can't be found")
        address = str(found[0][4][0])
        if not may_be_asked(address, port, self._kinds):
            return NoAnswer("its address is not one that strangers may reach")
        host = self._hosts.pop(origin, None)
        if host is None or self._clock.monotonic() - host.read > _ROBOTS_AGE:
            host = _Host(self._rules(origin, address, seconds), self._clock.monotonic(), 0.0)
        path = "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"
        allowed = host.rules is not None and host.rules.allows(path.partition("#")[0])
        answer = self._ask(url.partition("#")[0], address, _MOST, seconds) if allowed else NoAnswer("its robots.txt forbids it")
        pause = min(_LONGEST_PAUSE, max(_PAUSE, (host.rules.crawl_delay if host.rules else None) or 0.0))
        self._hosts[origin] = host._replace(due=self._clock.monotonic() + pause)
        if len(self._hosts) > _MOST_HOSTS:
            self._hosts.popitem(last=False)
        return answer

    def _rules(self, origin: str, address: str, seconds: float) -> RobotsRules | None:
        came = self._ask(f"{origin}/robots.txt", address, _ROBOTS_MOST, seconds)
        if isinstance(came, NoAnswer) or came.status >= 500 or came.status == 429:
            return None
        return RobotsRules.parse(came.body if came.status == 200 else b"", _TOKEN)

    def _ask(self, url: str, address: str, most: int, seconds: float) -> HttpAnswer | NoAnswer:
        return self._http.ask("GET", url, {}, b"", seconds=seconds, most=most, at=address)


def origin_of(url: str) -> str:
    """Return the part of a URL before its path, in lower case. Does not check it."""
    return "/".join(url.split("/", 3)[:3]).lower()


def text_of(came: HttpAnswer) -> str | None:
    """Return the text of a response, of HTML with its tags; None for other types. A stranger has written it."""
    mime = came.headers.get("content-type", "").partition(";")[0].strip().lower()
    text = came.body.decode("utf-8", "replace") if mime in _TYPES else None
    return text if text is None or mime == "text/plain" else html.unescape(_LONG_NUMBER.sub("", text))
