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
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that was ever given out; the rest is local, or forms of IPv4 addresses
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 6.1: the upper half of an interface's name; the lower is an IPv4 address
_NOT_REACHED = tuple(  # by the registries of IANA, and not in every Python's table
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20"))
)
_ASKED = 8  # start hosts that are looked up at most; each may take a dead resolver many seconds


def _look_up(hostname: str) -> list[str]:
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(hostname.encode("ascii"), None, type=socket.SOCK_STREAM)]
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
        # start hosts by where they were met; only added to, so it may be read without the lock
        self._public: set[str] = set()
        self._private: set[str] = set()

    def permits(self, hostname: str, ip: str) -> bool:
        """Whether ``hostname``, which is at ``ip``, may be connected to.

        A start host that was met at a public address may not move to a private one, and one that has addresses of both kinds
        has only the public ones: whoever has a name on the web can let it point anywhere, at any moment.

        Blocks for a look-up once for each start host at a private address, and once in a crawl for all others: a crawl that
        goes on may have done with its start hosts long ago.
        """
        if self._allow_private:
            return True
        host = _hostname(hostname)
        if is_public(ip):
            if host in self._start_hosts:
                self._public.add(host)
            return True
        if host in self._start_hosts:
            return host in self._private or self._admit(host)
        return self._private_start or self._ask()

    def _admit(self, host: str) -> bool:
        """A start host is met at a private address."""
        with self._lock:
            if host not in self._public and not any(map(is_public, self._addresses(host))):
                self._private.add(host)
                self._private_start = True
            return host in self._private

    def _addresses(self, host: str) -> list[str]:
        return [] if _is_private_name(host) else self._look_up(host)

    def _ask(self) -> bool:
        with self._lock:
            if not self._asked and not self._private_start:
                self._asked = True
                hosts = sorted(self._start_hosts)[:_ASKED]
                found = [self._look_up(host) for host in hosts if host not in self._public]
                self._private_start = any(ips and not any(map(is_public, ips)) for ips in found)
            return self._private_start


def is_public(ip: str) -> bool:
    """Whether anybody on the Internet could reach this address. No: private, loopback, link-local, unspecified, carrier-grade
    NAT, multicast, reserved, and IPv6 forms that carry such an IPv4 address. What is not an address is not public.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return False
    return all(map(_is_global, _parts(address)))


def _parts(address: IPAddress) -> list[IPAddress]:
    """The address, or the IPv4 addresses that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    within = address.ipv4_mapped or address.sixtofour
    if within or address in _NAT64:
        return [within or _lower(address)]
    if address.teredo:
        return list(address.teredo)
    return [address, _lower(address)] if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else [address]


def _lower(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_global(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _NOT_REACHED)


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
