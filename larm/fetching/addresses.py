"""AddressRule: which addresses a crawl may connect to. A page on the web must not make a crawler read an intranet.

Asked before every connection, with the address that the name has resolved to, so that neither a redirect nor a DNS answer gets
round it. One for the whole crawl; used on all fetcher threads.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Collection

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ASKED = 8  # start hosts that are looked up at most; each may take a dead resolver many seconds


def _look_up(hostname: str) -> list[str]:
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(hostname, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


class AddressRule:
    """Public addresses always; others only for start hosts, or where a start host is itself at such an address.

    ``start_hosts`` are host names of start URLs, with or without port.
    """

    def __init__(
        self, start_hosts: Collection[str], allow_private: bool, look_up: Callable[[str], list[str]] = _look_up
    ) -> None:
        # constant after construction
        self._start_hosts = frozenset(_hostname(host) for host in start_hosts)
        self._allow_private = allow_private
        self._look_up = look_up
        self._lock = threading.Lock()  # held while looking up: who comes meanwhile needs the answer as well
        # guarded by self._lock, but may be read without: it only ever becomes True
        self._private_start = any(_is_private_name(host) for host in self._start_hosts)
        # guarded by self._lock
        self._asked = False

    def permits(self, hostname: str, ip: str) -> bool:
        """Whether ``hostname``, which is at ``ip``, may be connected to.

        Blocks once in a crawl at most, for look-ups: a crawl that goes on may have done with its start hosts long ago.
        """
        if self._allow_private or is_public(ip):
            return True
        if _hostname(hostname) in self._start_hosts:
            with self._lock:
                self._private_start = True
            return True
        return self._private_start or self._ask()

    def _ask(self) -> bool:
        with self._lock:
            if not self._asked and not self._private_start:
                self._asked = True
                hosts = sorted(self._start_hosts)[:_ASKED]
                self._private_start = any(not is_public(ip) for host in hosts for ip in self._look_up(host))
            return self._private_start


def is_public(ip: str) -> bool:
    """Whether anybody on the Internet could reach this address. No: private, loopback, link-local, unspecified, carrier-grade
    NAT, multicast, reserved, and IPv6 forms that carry such an IPv4 address. What is not an address is not public.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return False
    return all(part.is_global and not part.is_multicast and not _is_site_local(part) for part in _parts(address))


def _parts(address: IPAddress) -> list[IPAddress]:
    """The address, or the IPv4 addresses that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address]


def _is_site_local(address: IPAddress) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.is_site_local


def _hostname(host: str) -> str:
    """Lower case, without port, brackets and the dot of the DNS root."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    if host.count(":") == 1:
        host = host.partition(":")[0]
    return host.rstrip(".")


def _is_private_name(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761 6.3
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return not is_public(host)
