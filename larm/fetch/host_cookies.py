"""HostCookies: cookies of hosts that write a session into the links of whoever sends none, kept as a browser keeps them.

`HostCookies.keep` is called where pages are read, the rest by transfers on the fetcher threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from larm.model.url import Url

if TYPE_CHECKING:
    from larm.fetch.cookies import CookieJar

_MOST = 10_000
"""Hosts; of more, the first one's cookies go."""
_AGAIN = 16
"""Pages of a host that are requested again with its cookies: those that were under way without, when the first one came."""


class HostCookies:
    """A jar for each host, for this run: no host gets the cookies of another. Any thread: single operations."""

    def __init__(self, allows: Callable[[Url], bool] = lambda _: True) -> None:
        """``allows``: False where ``keep_cookies`` says so, or the section of the site has cookies of its own."""
        self._allows = allows
        self._jars: dict[str, CookieJar] = {}
        self._again: dict[str, int] = {}

    def of(self, host: str) -> CookieJar | None:
        """Return the jar of a host; None: its cookies are not kept."""
        return self._jars.get(host) if self._jars else None

    def keep(self, url: Url) -> bool:
        """Keep what the host of this address sets from now on; return True if the page is to be requested again, with that."""
        if not self._allows(url):
            return False
        if url.host not in self._jars:
            from larm.fetch.cookies import CookieJar  # with half of the standard library's HTTP, for hosts with sessions

            while len(self._jars) >= _MOST:
                self._again.pop(next(iter(self._jars)), None)
                self._jars.pop(next(iter(self._jars)), None)
            self._jars[url.host] = CookieJar()
        self._again[url.host] = self._again.get(url.host, 0) + 1
        return self._again[url.host] <= _AGAIN

    def __len__(self) -> int:
        """Hosts whose cookies are kept."""
        return len(self._jars)
