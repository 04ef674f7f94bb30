"""Whereabouts: which addresses a peer asks, when others have announced them. Pure.

An address in a seed is a stranger's word, and whoever believed it could be led into the network that it stands in itself: to
a router, a database, the service that tells a machine in a cloud its secrets. So it has to be an address, not a name; its port
one that no other service has by right; and of the kind that this peer listens at, or was told of by its user, unless it is one
that anybody may reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

from larm.fetching.ip_address import address_of, is_public

PUBLIC = "public"
_FIRST_FREE_PORT = 1_024
_WEB = frozenset((80, 443))
_WITNESSES = 9
"""Peers that are believed what our address is: most of them."""


def kind_of(ip: str) -> str:
    """``public``, ``private``, ``loopback``, or empty: nothing to be asked, such as the address of a link, or a name."""
    address = address_of(ip)
    if address is None or "%" in ip:
        return ""
    if is_public(ip):
        return PUBLIC
    if address.is_loopback:
        return "loopback"
    if address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved:
        return ""
    return "private" if address.is_private else ""


def may_be_asked(ip: str, port: int, kinds: Iterable[str]) -> bool:
    """What a seed announces; ``kinds``: of addresses that one may be led to."""
    return (port in _WEB or _FIRST_FREE_PORT <= port < 65_536) and kind_of(ip) in {PUBLIC, *kinds} - {""}


def kinds_of(own: str, seeds: Iterable[str]) -> frozenset[str]:
    """Of the address that a peer listens at (empty: all it has), and of those that its user has named, as ``http://IP:PORT``."""
    named = (urlsplit(each).hostname or "" for each in seeds)
    return frozenset(filter(None, map(kind_of, (own, *named))))


class OwnAddress:
    """Where a peer is: where it listens, or else what most of those say who were asked last."""

    def __init__(self, listening: str) -> None:
        """``listening``: empty where only others know."""
        # only under the node's lock
        self.now = listening
        self._told: dict[str, str] = {}

    def told(self, by: str, address: str) -> None:
        """As another sees it."""
        if kind_of(address):
            self._told.pop(by, None)
            self._told[by] = address
            if len(self._told) > _WITNESSES:
                del self._told[next(iter(self._told))]
            self.now = Counter(self._told.values()).most_common(1)[0][0]
