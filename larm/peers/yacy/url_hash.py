"""The hash of an address: of what it is, where it lies, whose it is, and a character of flags (YACY-7 to 11). Pure.

Characters 7 to 12 are the same for all pages of a host. Addresses come normalised (`larm.model.url`); session ids that larm's
normaliser leaves are a part of the address.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from larm.peers.yacy.hashes import ALPHABET, VALUES, hash_of
from larm.peers.yacy.regions import GENERIC, LOCAL, region_of

_PORTS = {"http": 80, "https": 443, "ftp": 21, "smb": 445}
_NOT_HTTP = 32
_SHORT_NAMES = (8, 12, 16)


class Parts(NamedTuple):
    """What of an address goes into its hash."""

    protocol: str
    host: str
    port: int
    sub: str
    """What stands before the domain: ``www``."""
    domain: str
    """The label before the last one: ``yacy``."""
    top: str
    """The last label: ``net``."""
    root: str
    """The first segment of the path, if something follows it."""
    normal: str
    """The address without its fragment, and without the usual port."""


def parts_of(address: str) -> Parts:
    """Of an absolute URL. Raises ValueError for text that is none."""
    split = urlsplit(address)
    host = (split.hostname or "").rstrip(".")
    usual = _PORTS.get(split.scheme, 0)
    port = split.port or usual
    before, _, top = host.rpartition(".")
    if ":" in host or not before:
        before, top = host, ""
    sub, _, domain = before.rpartition(".") if ":" not in before else ("", "", before)
    first, slash, rest = split.path.removeprefix("/").partition("/")
    place = f"[{host}]" if ":" in host else host
    normal = f"{split.scheme}://{place}{'' if port == usual else f':{port}'}{split.path or '/'}"
    normal += f"?{split.query}" if split.query else ""
    return Parts(split.scheme, host, port, sub, domain, top, first if slash and rest else "", normal)


@lru_cache(10_000)
def url_hash(address: str) -> str:
    """Twelve characters. Raises ValueError."""
    parts = parts_of(address)
    whole = hash_of(parts.normal)[:5]
    place = hash_of(f"{parts.sub}:{parts.port}:{parts.root}")[:1]
    host = hash_of(f"{parts.protocol}:{parts.host}:{parts.port}")[:5]
    return whole + place + host + ALPHABET[_flags(parts)]


def flags_of(name: str) -> int:
    """Of an address's hash: whether it is http, its region, how long its domain is."""
    return VALUES[name[-1]]


def _flags(parts: Parts) -> int:
    length = sum(len(parts.domain) > most for most in _SHORT_NAMES)
    return (0 if parts.protocol == "http" else _NOT_HTTP) | _region(parts) << 2 | length


def _region(parts: Parts) -> int:
    if not parts.host or parts.host == "localhost" or parts.top == "localhost":
        return LOCAL
    try:
        return LOCAL if ip_address(parts.host).is_private else GENERIC
    except ValueError:
        return region_of(parts.top)
