"""may_be_asked: whether a machine that a stranger has named is one that peers have business with. Pure.

Whoever names addresses to others could have them send requests to what only they can reach: services of their own machine, of
the cloud that it runs in, or a path of his choice. So an address is a scheme, a host and a port and nothing else, never one of
those that mean "this link" or "everybody"; one of the loopback interface comes from there; and no name is looked up: who gives
one gives its IP address as well.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from larm.peers.channel import Contact
from larm.peers.http_client import is_address


def may_be_asked(contact: Contact, told_by: Contact) -> bool:
    """``told_by``: who has named it."""
    if not is_address(contact.url):
        return False
    there = _ip(contact.address or _host(contact.url))
    if there is None or there.is_unspecified or there.is_multicast or there.is_link_local:
        return False
    if contact.address and not contact.url.startswith("https://"):
        return False  # without a certificate a name says nothing
    if there.is_reserved and not there.is_loopback:
        return False
    return not there.is_loopback or _is_here(told_by.address or _host(told_by.url))


def _is_here(host: str) -> bool:
    address = _ip(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
