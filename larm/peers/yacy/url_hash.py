"""The hash of an address: of what it is, where it lies, whose it is, and a character of flags (YACY-7 to 11). Pure.

Characters 7 to 12 are the same for all pages of a host. Addresses come normalised (`larm.model.url`); session ids that larm's
normaliser leaves are a part of the address. Three bits of it are the region of the world of its top-level domain (YACY-11).
"""

from functools import lru_cache
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from larm.peers.yacy.hashes import ALPHABET, VALUES, hash_of

_PORTS = {"http": 80, "https": 443, "ftp": 21, "smb": 445}
_NOT_HTTP = 32
SITE = slice(6, 12)
"""Characters of a URL's hash that are the same for all pages of a host."""
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


GENERIC: Final = 6
"""No country's, an unknown one, an address in digits."""
LOCAL: Final = 7
"""A private address, or no host at all."""
_TABLE: Final = {
    0: """ad al aq at ax ba be bg bv by cat ch cs cz cy de dk es ee eu fi fo fr fx gb gg gi gl gr hr hu ie im is it je li lt
       lu lv mc md me mk mn ms mt mq nato nl no pf pl pm pt ro rs ru se si sj sm sk su tf uk ua va yu""",
    1: "ar aw br bo cl co cr cu do ec fk gf gt gy hn jm mx ni pa pe py sr sv uy ve",
    2: "asia bd bn bt cn hk id in la np jp kh kp kr lk my mm mo mv ph sg tp th tl tw vn",
    3: "ae af am az bh ge il iq ir jo kg kz kw lb ps om qa sa sy tj tm pk tr uz ye",
    4: """edu gov mil net org an as ag ai au bb bz bm bs ca cc ck cx dm fm fj gd gp gs gu hm ht io ki kn ky lc mf mh mp nc nf
       nr nu nz pg pn pr pw sb tc tk to tt tv um us vc vg vi vu wf ws""",
    5: """ac ao bf bi bj bw cd cf cg ci cm cv dj dz eg eh er et ga gh gm gn gq gw ke km lr ls ly ma mg ml mr mu mw mz na ne ng
       re rw sc sd sh sl sn so st sz td tg tn tz ug za zm zr zw yt""",
}
_OF: Final = {name: region for region, names in _TABLE.items() for name in names.split()}


def region_of(top_level_domain: str) -> int:
    """0 Europe and Russia, 1 Middle and South America, 2 South-East Asia, 3 Middle East, 4 North America and Oceania, 5 Africa,
    6 all others."""
    return _OF.get(top_level_domain, GENERIC)
