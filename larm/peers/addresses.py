"""Addresses: which machines are asked when a stranger names their addresses. Pure; for a registrar's peers and seeds alike.

A named address could lead this machine into its own network: to a router, a database, the metadata service of a cloud. So it
must be an IP address, not a name, and its port none that belongs to another service. It must be public, or of a kind at which
this machine listens or that its user has named.
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
"""RFC 6598: addresses of providers, and of networks that join the machines of an office."""
_FIRST_FREE_PORT = 1_024
_WEB = {"http": 80, "https": 443}


@lru_cache(10_000)
def kind_of(ip: str) -> str:
    """Return ``public``, ``private``, ``loopback``, or empty for any other text, such as a name."""
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
    """Return the kinds of IP addresses at which a peer listens or that its user has named; other text has no kind."""
    return frozenset(filter(None, map(kind_of, addresses)))


def host_of(url: str) -> str:
    """Return the host of ``http://host:port``; empty for other text."""
    return (urlsplit(url).hostname or "") if is_address(url) else ""


def may_be_asked(ip: str, port: int, kinds: Iterable[str]) -> bool:
    """Return True if a stranger may lead this machine there. ``kinds``: of addresses that are allowed beside public ones."""
    return (port in _WEB.values() or _FIRST_FREE_PORT <= port < 65_536) and kind_of(ip) in {PUBLIC, *kinds} - {""}


def contact_may_be_asked(contact: Contact, kinds: Iterable[str]) -> bool:
    """Return the same for a peer as a registrar names it: a URL, and for a name with a certificate its IP address."""
    ip = host_of(contact.url)
    if not ip or (contact.address and not contact.url.startswith("https://")):
        return False  # without a certificate a name proves nothing
    parts = urlsplit(contact.url)
    return may_be_asked(contact.address or ip, parts.port or _WEB[parts.scheme], kinds)
