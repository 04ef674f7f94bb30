"""Seed: what a peer says of itself, signed, and its form on the wire (YACY-15, 16). Pure; seeds pass through many hands.

A seed comes from its peer only by way of others, so it proves itself: its hash belongs to its key, its key has signed it, and
of two the one signed later counts. What others can't know of a peer is all in it; what only they know, whether it answers, is
not.
"""

import base64
import binascii
import gzip
import zlib
from enum import StrEnum
from functools import lru_cache

import msgspec

from larm.peers.yacy.asker import Signer, Verify
from larm.peers.yacy.flags import Flags, read_flags, write_flags
from larm.peers.yacy.hashes import is_hash
from larm.peers.yacy.own_hash import belongs

LARGEST = 16_000
"""Bytes of a seed as text, and on the wire."""
_ESCAPED = {ord(each): f"%{ord(each):02X}" for each in ",{}=%|"} | {n: f"%{n:02X}" for n in (*range(32), 127)}
_REMEMBERED = 10_000
"""Seeds that were read: the same ones are told again and again; some 10 MB, as only those of usual size are remembered."""
_TOLD = 2_000
"""Those that were written: the youngest ones."""
_USUAL = 1_000
"""Bytes of a seed on the wire; they have some 500."""
_SIGNATURE = "Sig"
_PURPOSE = "yacy seed"


class PeerType(StrEnum):
    """What others found a peer to be (YACY-12)."""

    VIRGIN = "virgin"
    """Has met no network."""
    JUNIOR = "junior"
    """Can't be reached: searches and sends."""
    SENIOR = "senior"
    """Answers, too."""
    PRINCIPAL = "principal"
    """A senior that publishes a seed list."""


class BadSeedError(ValueError):
    """Text that is no seed, or one that is not what it says; ``str()`` says why."""


class Seed(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """Of one peer at one moment."""

    hash: str
    name: str = ""
    ip: str = ""
    port: int = 0
    type: PeerType = PeerType.VIRGIN
    flags: Flags = Flags()
    links: int = 0
    """Addresses of documents that it has (LCount)."""
    words: int = 0
    """Words that it has references of (ICount)."""
    orders: int = 0
    """Addresses that it would have others crawl (RCount)."""
    tags: tuple[str, ...] = ()
    version: str = ""
    born: int = 0
    """When its hash was made, in seconds since 1970 (BDate)."""
    stamp: int = 0
    """When it was signed (LastSeen): the peer was there then."""
    uptime: int = 0
    """Minutes."""
    utc: str = "+0000"
    crawl_speed: int = 0
    """Pages a minute (ISpeed)."""
    search_speed: int = 0
    """Searches an hour (RSpeed)."""
    sent_words: int = 0
    received_words: int = 0
    sent_urls: int = 0
    received_urls: int = 0
    network: str = ""
    key: str = ""
    """Its public key."""
    signature: str = ""

    @property
    def address(self) -> str:
        """Where it is asked: ``192.0.2.1:8090``; empty where it says none."""
        place = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"{place}:{self.port}" if self.ip and self.port else ""

    @property
    def reachable(self) -> bool:
        """Others have reached it, so it may be asked."""
        return self.type in {PeerType.SENIOR, PeerType.PRINCIPAL}

    def __repr__(self) -> str:
        return f"<Seed {self.hash} {self.name} {self.type} {self.address}>"


_NUMBERS = {
    "Port": "port", "LCount": "links", "ICount": "words", "RCount": "orders", "BDate": "born", "LastSeen": "stamp",
    "Uptime": "uptime", "ISpeed": "crawl_speed", "RSpeed": "search_speed", "sI": "sent_words", "rI": "received_words",
    "sU": "sent_urls", "rU": "received_urls",
}  # fmt: skip
_TEXTS = {
    "Hash": "hash", "Name": "name", "PeerType": "type", "IP": "ip", "Version": "version", "UTC": "utc", "Net": "network",
    "Key": "key",
}  # fmt: skip
_ORDER = ("Hash", "Name", "PeerType", "IP", "Port")


def as_text(seed: Seed) -> str:
    """``{Key=value,...}``: what is signed. Fields that say nothing are left out."""
    fields = {key: str(getattr(seed, name)) for key, name in (_TEXTS | _NUMBERS).items() if getattr(seed, name)}
    fields = {key: _escaped(value) for key, value in fields.items() if key != "UTC" or seed.utc != "+0000"}
    if seed.flags != Flags():
        fields["Flags"] = _escaped(write_flags(seed.flags))
    if seed.tags:
        fields["Tags"] = "|".join(_escaped(tag) for tag in seed.tags)
    said = [(key, fields[key]) for key in [*_ORDER, *sorted(fields.keys() - set(_ORDER))] if key in fields]
    return "{" + ",".join(f"{key}={value}" for key, value in said) + "}"


def signed(seed: Seed, signer: Signer) -> Seed:
    """With its key and signature."""
    seed = msgspec.structs.replace(seed, key=signer.key, signature="")
    return msgspec.structs.replace(seed, signature=signer.sign(_PURPOSE, as_text(seed).encode()))


def check(seed: Seed, verify: Verify) -> None:
    """Raises BadSeedError unless its own peer has made it."""
    if not belongs(seed.hash, seed.key):
        raise BadSeedError("its hash is not one of its key")
    if not verify(seed.key, _PURPOSE, as_text(seed).encode(), seed.signature):
        raise BadSeedError("its signature is not that of its key")


def is_good(seed: Seed, verify: Verify) -> bool:
    """Its own peer has made it."""
    try:
        check(seed, verify)
    except BadSeedError:
        return False
    return True


@lru_cache(_TOLD)
def write_seed(seed: Seed) -> str:
    """The form on the wire: ``b|`` and base64, or ``z|`` and gzip in base64 where that is shorter."""
    text = as_text(seed)
    if seed.signature:
        text = f"{text[:-1]},{_SIGNATURE}={_escaped(seed.signature)}}}"
    plain, squeezed = "b|" + _base64(text.encode()), "z|" + _base64(gzip.compress(text.encode(), mtime=0))
    return min(plain, squeezed, key=len)


def read_seed(wire: str) -> Seed:
    """Of any of the three forms; the signature is not looked at (`check`). Raises BadSeedError."""
    return _read_again(wire) if len(wire) <= _USUAL else _read(wire)


def _read(wire: str) -> Seed:
    if len(wire) > LARGEST:
        raise BadSeedError(f"it has more than {LARGEST:,} bytes")
    form, bar, rest = wire.strip().partition("|")
    try:
        if not bar or form not in {"b", "z", "p"}:
            raise BadSeedError("it is in no form that is known")
        data = rest.encode() if form == "p" else _bytes(rest)
        return _parsed((_expanded(data) if form == "z" else data).decode())
    except (UnicodeDecodeError, UnicodeEncodeError, binascii.Error, zlib.error, ValueError) as error:
        raise error if isinstance(error, BadSeedError) else BadSeedError(str(error)) from error


_read_again = lru_cache(_REMEMBERED)(_read)


def _parsed(text: str) -> Seed:
    if not (text.startswith("{") and text.endswith("}")):
        raise BadSeedError("it is no map")
    said: dict[str, str] = {}
    for field in text[1:-1].split(","):
        key, _, value = field.partition("=")
        said[key] = value
    known: dict[str, object] = {name: _plain(said[key]) for key, name in _TEXTS.items() if key in said}
    known |= {name: _number(said[key]) for key, name in _NUMBERS.items() if key in said}
    known["flags"] = read_flags(_plain(said.get("Flags", "")))
    known["tags"] = tuple(_plain(tag) for tag in said["Tags"].split("|")) if said.get("Tags") else ()
    known["signature"] = _plain(said.get(_SIGNATURE, ""))
    known["type"] = PeerType(str(known.get("type", PeerType.VIRGIN)))
    if not is_hash(str(known.get("hash", ""))):
        raise BadSeedError("it has no hash")
    if not 0 <= int(str(known.get("port", 0))) < 65_536:
        raise BadSeedError("its port is none")
    return Seed(**known)  # type: ignore[arg-type]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise BadSeedError(f"{text[:20]!r} is no number")
    return int(text)


def _expanded(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(31)
    found = unpacker.decompress(data, LARGEST + 1)
    if len(found) > LARGEST:
        raise BadSeedError(f"it has more than {LARGEST:,} bytes")
    if not unpacker.eof:
        raise BadSeedError("it is cut off")
    return found


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


def _plain(text: str) -> str:
    parts = text.split("%")
    return parts[0] + "".join(chr(int(part[:2], 16)) + part[2:] for part in parts[1:])


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
