"""Open pages: which of the pages that pass a proxy anybody could have fetched (YACY-37). Pure.

Who has sent a cookie or a password, or got one, may have been shown something that is for him alone. What is left is fetched
anew by a crawl, without any of that and as robots.txt allows: so even where a site tells its users apart by something else,
such as their address, nothing gets into the index but what it shows to a stranger.
"""

from collections.abc import Mapping
from typing import Final

_PAGES: Final = frozenset(("text/html", "application/xhtml+xml", "text/plain", "application/pdf"))
_SECRETS: Final = frozenset(("cookie", "authorization", "proxy-authorization", "range"))
_CLOSED: Final = frozenset(("private", "no-store"))

Headers = Mapping[str, str]
"""By names in lower case; values of one name are joined by commas."""


def is_open(method: str, url: str, asked: Headers, status: int, answered: Headers, *, queries: bool) -> bool:
    """``queries``: also addresses with a query."""
    return (
        method == "GET"
        and status == 200
        and (queries or "?" not in url)
        and "@" not in url.partition("://")[2].partition("/")[0]
        and not _SECRETS & asked.keys()
        and "set-cookie" not in answered
        and not _CLOSED & (_directives(asked) | _directives(answered))
        and answered.get("content-type", "").partition(";")[0].strip().lower() in _PAGES
    )


def _directives(headers: Headers) -> set[str]:
    return {part.partition("=")[0].strip().lower() for part in headers.get("cache-control", "").split(",")}
