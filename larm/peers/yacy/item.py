"""Item: what a peer hands to others to keep: words with their references, or a document. Signed as a whole by its author. Pure.

Header and body are parted. The header says where on the ring the item belongs and when it was signed; the body is what its
digest says it is. So to renew an item is to send a newer header, to withdraw it is to send one that says so, and to copy it to
another owner is to offer headers first and to send the bodies that are asked for. What was not renewed for 30 days is over.
Bodies are squeezed, and those of strangers read within bounds.
"""

import base64
import hashlib
import zlib
from enum import IntEnum
from typing import TypeVar

import msgspec

from larm.kit.decoding import decoded_msgpack
from larm.peers.identity import Signer, Verify
from larm.peers.yacy.hashes import RING

LIFE = 30 * 86_400
"""Seconds after which an item is over, and after which nobody need remember that it was withdrawn."""
RENEWED = 20 * 86_400
"""Its author renews it when it is so old."""
LARGEST = 45_000
"""Bytes of a body: in base64 it fits into a request."""
_AHEAD = 600
_PURPOSE = "yacy item"
_WIDEST = RING >> 4
"""Positions of one item: no more than a partition, so nobody can make everyone an owner of it."""


class Kind(IntEnum):
    """What the body is."""

    WORDS = 0
    PAGE = 1


class Header(msgspec.Struct, frozen=True, array_like=True):
    """Of one item at one moment."""

    kind: Kind
    author: str
    """Public key."""
    digest: bytes
    """16 bytes of the body's SHA-256: with the author, its name."""
    first: int
    last: int
    """The places that it is about, clockwise."""
    created: int
    """Seconds since 1970."""
    gone: bool = False
    """Its author has withdrawn it."""
    signature: str = ""

    @property
    def name(self) -> tuple[str, bytes]:
        """The same for all headers of an item."""
        return self.author, self.digest


class Item(msgspec.Struct, frozen=True, array_like=True):
    """With its body."""

    header: Header
    body: bytes


def digest_of(body: bytes) -> bytes:
    """16 bytes: an author who finds two bodies with one digest cheats nobody but who trusts him."""
    return hashlib.sha256(body).digest()[:16]


def new_header(
    kind: Kind, body_digest: bytes, places: tuple[int, int], now: float, signer: Signer, *, gone: bool = False
) -> Header:
    """Signed."""
    first, last = places
    header = Header(kind, signer.key, body_digest, first, last, int(now), gone)
    return msgspec.structs.replace(header, signature=signer.sign(_PURPOSE, _signed(header)))


def refusal(header: Header, now: float, verify: Verify) -> str:
    """Why it is not taken; empty if it may be. A signature is looked at last, as it costs most."""
    if len(header.digest) != 16 or not (0 <= header.first < RING and 0 <= header.last < RING):
        return "it is no header"
    if (header.last - header.first) % RING >= _WIDEST:
        return "it is about too much of the ring"
    if not now - LIFE < header.created <= now + _AHEAD:
        return "it is over, or not yet"
    if not verify(header.author, _PURPOSE, _signed(header), header.signature):
        return "its author has not signed it"
    return ""


def is_body(header: Header, body: bytes) -> bool:
    """That of this header."""
    return len(body) <= LARGEST and digest_of(body) == header.digest


def _signed(header: Header) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(header, signature=""))


def encoded_key(key: str) -> bytes:
    """A public key in 32 bytes, for the disk. Raises ValueError."""
    return base64.b64decode(key + "=", altchars=b"-_", validate=True)


def decoded_key(data: bytes) -> str:
    """Back."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


T = TypeVar("T")


def squeeze(value: msgspec.Struct) -> bytes:
    """The same for the same value."""
    return zlib.compress(msgspec.msgpack.encode(value), 6)


def read_squeezed(data: bytes, kind: type[T], most: int) -> T:
    """``most``: bytes that it may become. Raises ValueError."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(data, most)
        if not unpacker.eof:
            raise ValueError("it is too large, or cut off")
        return decoded_msgpack(raw, kind)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
