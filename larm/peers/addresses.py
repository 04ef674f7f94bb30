"""Addresses: which machines are asked, when a stranger has said where they are. Pure; for a registrar's peers and seeds alike.

Whoever believed such an address could be led into the network that he stands in himself: to a router, a database, the service
that tells a machine in a cloud its secrets. So it has to be an address and not a name; its port one that no other service has
by right; and of the kind that this machine listens at, or was told of by its user, unless it is one that anybody may reach.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network
from urllib.parse import urlsplit

from larm.fetch.http_client import is_address
from larm.fetch.ip_address import address_of, is_public
from larm.peers.channel import Contact

PUBLIC = "public"
_SHARED = IPv4Network("100.64.0.0/10")
"""RFC 6598: of providers, and of networks that join the machines of an office."""
_FIRST_FREE_PORT = 1_024
_WEB = {"http": 80, "https": 443}


@lru_cache(10_000)
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
    return "private" if address.is_private or address in _SHARED else ""


def kinds_of(addresses: Iterable[str]) -> frozenset[str]:
    """Of IP addresses that a peer listens at, or that its user has named; what is none has no kind."""
    return frozenset(filter(None, map(kind_of, addresses)))


def host_of(url: str) -> str:
    """Empty for what is no address."""
    return (urlsplit(url).hostname or "") if is_address(url) else ""


def may_be_asked(ip: str, port: int, kinds: Iterable[str]) -> bool:
    """``kinds``: of addresses that one may be led to, beside public ones."""
    return (port in _WEB.values() or _FIRST_FREE_PORT <= port < 65_536) and kind_of(ip) in {PUBLIC, *kinds} - {""}


def contact_may_be_asked(contact: Contact, kinds: Iterable[str]) -> bool:
    """The same of a peer as a registrar names it: a url, and where it has a name and a certificate, its IP address."""
    ip = host_of(contact.url)
    if not ip or (contact.address and not contact.url.startswith("https://")):
        return False  # without a certificate a name says nothing
    parts = urlsplit(contact.url)
    return may_be_asked(contact.address or ip, parts.port or _WEB[parts.scheme], kinds)
