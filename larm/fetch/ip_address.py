"""What an IP address is: public or not, and one spelling for each. Pure; asked by `larm.fetch.addresses`."""

import ipaddress
from functools import lru_cache

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that was ever given out; the rest is local, or forms of IPv4 addresses
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 6.1: the upper half of an interface's name; the lower is an IPv4 address
_NOT_REACHED = tuple(  # by the registries of IANA, and not in every Python's table
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20"))
)


@lru_cache(1_000)
def is_public(ip: str) -> bool:
    """Whether anybody on the Internet could reach this address. No: private, loopback, link-local, unspecified, carrier-grade
    NAT, multicast, reserved, and IPv6 forms that carry such an IPv4 address. What is not an address is not public.
    """
    address = address_of(ip)
    return address is not None and all(map(_is_global, _parts(address)))


def address_of(ip: str) -> IPAddress | None:
    """The address without its zone, an IPv4 address also where it is written as an IPv6 one. None: it is no address."""
    try:
        address = ipaddress.ip_address(ip.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _parts(address: IPAddress) -> list[IPAddress]:
    """The address, or the IPv4 addresses that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.sixtofour or address in _NAT64:
        return [address.sixtofour or _lower(address)]
    if address.teredo:
        return list(address.teredo)
    return [address, _lower(address)] if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else [address]


def _lower(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_global(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _NOT_REACHED)
