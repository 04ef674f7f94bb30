"""Restrictions: why strangers could not have had a page, as bits of one number; 0: they could. Pure; any thread.

The fetcher that got a page notes them (`larm.fetch.transfer`). The page book keeps them in `larm.model.message.Known`, and
the index as a word of `READERS`, by which searches for others are narrowed. What nobody has noted is shared with nobody.
"""

from collections.abc import Mapping
from typing import Literal

PRIVATE_ADDRESS, CREDENTIALS, MARKED, UNKNOWN = 1, 2, 4, 8

OpenTo = Literal["owner", "network", "anybody"]
"""Who searches: the crawl's owner, people on the private network, or strangers."""
READERS: Mapping[OpenTo, tuple[str, ...]] = {"anybody": ("yes",), "network": ("yes", "private")}
"""For each of the others, the values of the meta word ``open`` that they may see."""
_CLOSED = frozenset({"private", "no-store"})
_SENTENCES = {
    PRIVATE_ADDRESS: "it came from a private address or through a proxy",
    CREDENTIALS: "a password, cookie, certificate or header was sent for it",
    MARKED: "its server calls it private or no-store",
    UNKNOWN: "larm has not noted how it came",
}


def open_to(*, private: bool) -> OpenTo:
    """Return the readers of what is shared. ``private``: pages of private addresses are for all of them, as on an intranet."""
    return "network" if private else "anybody"


def marked(headers: Mapping[str, str]) -> int:
    """Return `MARKED` if Cache-Control restricts the response to one reader (RFC 9111 5.2.2.5 and 5.2.2.7)."""
    value = headers.get("cache-control", "").lower()
    if "private" not in value and "no-store" not in value:  # nearly always
        return 0
    return 0 if _CLOSED.isdisjoint(part.partition("=")[0].strip() for part in value.split(",")) else MARKED


def renewed(restricted: int, headers: Mapping[str, str], now: int) -> int:
    """Return the restrictions of a stored page after a 304, which keeps the fields it leaves out (RFC 9111 3.2)."""
    return now if "cache-control" in headers else now | restricted & MARKED


def open_word(restricted: int) -> str:
    """Return the value of the meta word ``open`` of a page."""
    return "yes" if not restricted else "private" if restricted == PRIVATE_ADDRESS else "no"


def reasons(restricted: int) -> str:
    """Return why a page is shared with nobody, for a person; empty: it may be shared."""
    return " and ".join(said for bit, said in _SENTENCES.items() if restricted & bit)
