"""Seed: a peer's signed description of itself, and its form on the wire (YACY-15, 16). Pure.

Seeds pass through many hands, so a seed proves itself: its hash belongs to its key, and its key has signed it. Of two seeds the
one signed later counts. Whether the peer answers is not in it, since only others know that.
"""

import base64
import binascii
import gzip
import zlib
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

from larm.peers.identity import Signer, Verify
from larm.peers.yacy.hashes import belongs, is_hash

_BITS = ("direct", "remote_crawl", "remote_index", "root", "ssl")
_CHARACTERS = 4
_FIRST = 32  # a space: nothing set


class Flags(msgspec.Struct, frozen=True):
    """The flags of a peer."""

    direct: bool = False
    """It had a direct connection."""
    remote_crawl: bool = False
    """It crawls for others."""
    remote_index: bool = False
    """It takes references of others."""
    root: bool = False
    """Its last ping took less than a second."""
    ssl: bool = False
    """It is asked over TLS."""


def write_flags(flags: Flags) -> str:
    """Return the flags as four characters."""
    value = sum(getattr(flags, name) << bit for bit, name in enumerate(_BITS))
    return "".join(chr(_FIRST + (value >> 5 * n & 31)) for n in range(_CHARACTERS))


def read_flags(text: str) -> Flags:
    """Read four characters. Unknown bits are ignored; malformed text sets no flag."""
    values = [ord(character) - _FIRST for character in text[:_CHARACTERS]]
    if len(values) < _CHARACTERS or not all(0 <= value < 32 for value in values):
        return Flags()
    return Flags(**{name: bool(values[0] >> bit & 1) for bit, name in enumerate(_BITS)})


LARGEST = 16_000
"""Bytes of a seed at most, as text and on the wire."""
_ESCAPED = {ord(each): f"%{ord(each):02X}" for each in ",{}=%|"} | {n: f"%{n:02X}" for n in (*range(32), 127)}
_REMEMBERED = 10_000
"""Number of seeds whose reading is cached, since peers repeat them: some 10 MB, as only those of usual size are cached."""
_TOLD = 2_000
"""Number of seeds whose writing is cached."""
_USUAL = 1_000
"""Bytes of a seed of usual size, at most; most have some 500."""
_PURPOSE = "yacy seed"


class PeerType(StrEnum):
    """The type of a peer, as others found it (YACY-12)."""

    VIRGIN = "virgin"
    """It has met no network."""
    JUNIOR = "junior"
    """Others can't reach it. It searches and sends."""
    SENIOR = "senior"
    """It answers, too."""
    PRINCIPAL = "principal"
    """A senior that publishes a seed list."""


class BadSeedError(ValueError):
    """Malformed text, or a seed that proves to be another peer's; ``str()`` has the reason."""


_Number = Annotated[int, Meta(ge=0, lt=10**18)]
_NAMES = {
    "hash": "Hash", "name": "Name", "type": "PeerType", "ip": "IP", "port": "Port", "born": "BDate", "flags": "Flags",
    "words": "ICount", "key": "Key", "links": "LCount", "stamp": "LastSeen", "network": "Net", "orders": "RCount",
    "tags": "Tags", "version": "Version", "pin": "Pin", "signature": "Sig",
}  # fmt: skip
"""Fields as YaCy names them on the wire, in the order in which they are signed."""


class Seed(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, omit_defaults=True, rename=_NAMES):
    """The description of one peer at one moment."""

    hash: str
    name: str = ""
    type: PeerType = PeerType.VIRGIN
    ip: str = ""
    port: Annotated[int, Meta(ge=0, lt=65_536)] = 0
    born: _Number = 0
    """Time at which its hash was made, in seconds since 1970."""
    flags: Flags = Flags()
    words: _Number = 0
    """Number of words of which it has references."""
    key: str = ""
    """Its public key."""
    links: _Number = 0
    """Number of its own documents that are shared."""
    stamp: _Number = 0
    """Time of the signature: the peer was there then."""
    network: str = ""
    orders: _Number = 0
    """Number of addresses that others are to crawl for it."""
    tags: tuple[str, ...] = ()
    version: str = ""
    pin: Annotated[str, Meta(pattern=r"^(sha256//[A-Za-z0-9+/]{43}=)?\Z")] = ""
    """Hash of its certificate's key, by which it is asked over TLS; empty: it is asked without."""
    signature: str = ""

    @property
    def address(self) -> str:
        """The place where it is asked: ``192.0.2.1:8090``; empty if it names none."""
        place = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"{place}:{self.port}" if self.ip and self.port else ""

    @property
    def reachable(self) -> bool:
        """True if others have reached it, so that it may be asked."""
        return self.type in {PeerType.SENIOR, PeerType.PRINCIPAL}

    def __repr__(self) -> str:
        return f"<Seed {self.hash} {self.name} {self.type} {self.address}>"


def as_text(seed: Seed) -> str:
    """Return ``{Key=value,...}``, the signed text. Empty fields are left out."""
    return _text(msgspec.structs.replace(seed, signature=""))


def signed(seed: Seed, signer: Signer) -> Seed:
    """Return the seed with the signer's key and signature."""
    seed = msgspec.structs.replace(seed, key=signer.key, signature="")
    return msgspec.structs.replace(seed, signature=signer.sign(_PURPOSE, as_text(seed).encode()))


def check(seed: Seed, verify: Verify) -> None:
    """Verify that its own peer has made it. Raises BadSeedError."""
    if not belongs(seed.hash, seed.key):
        raise BadSeedError("its hash is not one of its key")
    if not verify(seed.key, _PURPOSE, as_text(seed).encode(), seed.signature):
        raise BadSeedError("its signature is not that of its key")


def is_good(seed: Seed, verify: Verify) -> bool:
    """Return True if its own peer has made it."""
    try:
        check(seed, verify)
    except BadSeedError:
        return False
    return True


@lru_cache(_TOLD)
def write_seed(seed: Seed) -> str:
    """Return the form on the wire: ``b|`` and base64, or ``z|`` and gzip in base64 if that is shorter."""
    text = _text(seed)
    plain, squeezed = "b|" + _base64(text.encode()), "z|" + _base64(gzip.compress(text.encode(), mtime=0))
    return min(plain, squeezed, key=len)


def read_seed(wire: str) -> Seed:
    """Read any of the three forms, without verifying the signature (`check` does). Raises BadSeedError."""
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
    except (UnicodeDecodeError, UnicodeEncodeError, binascii.Error, zlib.error, msgspec.ValidationError, ValueError) as error:
        raise error if isinstance(error, BadSeedError) else BadSeedError(str(error)) from error


_read_again = lru_cache(_REMEMBERED)(_read)


def _parsed(text: str) -> Seed:
    if not (text.startswith("{") and text.endswith("}")):
        raise BadSeedError("it is no map")
    said: dict[str, object] = {}
    for field in text[1:-1].split(","):
        key, _, value = field.partition("=")
        said[key] = [_plain(tag) for tag in value.split("|") if tag] if key == "Tags" else _plain(value)
    said["Flags"] = msgspec.structs.asdict(read_flags(str(said.get("Flags", ""))))
    seed = msgspec.convert(said, Seed, strict=False)
    if not is_hash(seed.hash):
        raise BadSeedError("it has no hash")
    return seed


def _text(seed: Seed) -> str:
    said = msgspec.to_builtins(seed)
    if "Flags" in said:
        said["Flags"] = "" if seed.flags == Flags() else write_flags(seed.flags)
    texts = {key: _escaped(str(value)) for key, value in said.items() if value}
    if seed.tags:
        texts["Tags"] = "|".join(map(_escaped, seed.tags))
    return "{" + ",".join(f"{key}={value}" for key, value in texts.items()) + "}"


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
