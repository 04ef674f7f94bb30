"""Item: words with their references, or a document, which a peer hands to others to keep. Signed by its author. Pure.

The signed header has the item's positions on the ring, its time, and the digest of the body. So a newer header renews or
withdraws an item, and peers exchange headers before bodies. An item that is not renewed for 30 days is over. Bodies are
compressed; those of strangers are read within bounds.
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
"""Seconds after which an item is over, and its withdrawal is forgotten."""
RENEWED = 20 * 86_400
"""Age in seconds at which the author renews an item."""
LARGEST = 45_000
"""Bytes of a body at most: in base64 it fits into a request."""
_AHEAD = 600
_PURPOSE = "yacy item"
_WIDEST = RING >> 4
"""Number of positions of one item at most, those of one partition, so that no item belongs to all peers."""


class Kind(IntEnum):
    """The kind of a body."""

    WORDS = 0
    PAGE = 1


class Header(msgspec.Struct, frozen=True, array_like=True):
    """The header of one item at one moment."""

    kind: Kind
    author: str
    """Public key of the author."""
    digest: bytes
    """16 bytes of the body's SHA-256. Author and digest name the item."""
    first: int
    last: int
    """First and last position of the item, clockwise."""
    created: int
    """Time of the signature, in seconds since 1970."""
    gone: bool = False
    """True if its author has withdrawn it."""
    signature: str = ""

    @property
    def name(self) -> tuple[str, bytes]:
        """Author and digest, the same for all headers of an item."""
        return self.author, self.digest


class Item(msgspec.Struct, frozen=True, array_like=True):
    """A header with its body."""

    header: Header
    body: bytes


def digest_of(body: bytes) -> bytes:
    """Return 16 bytes of the SHA-256. A collision harms only those that trust the author."""
    return hashlib.sha256(body).digest()[:16]


def new_header(
    kind: Kind, body_digest: bytes, places: tuple[int, int], now: float, signer: Signer, *, gone: bool = False
) -> Header:
    """Return a signed header."""
    first, last = places
    header = Header(kind, signer.key, body_digest, first, last, int(now), gone)
    return msgspec.structs.replace(header, signature=signer.sign(_PURPOSE, _signed(header)))


def refusal(header: Header, now: float, verify: Verify) -> str:
    """Return why a header is refused; empty: it is not. The signature is verified last, since it costs most."""
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
    """Return True if the body belongs to the header."""
    return len(body) <= LARGEST and digest_of(body) == header.digest


def _signed(header: Header) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(header, signature=""))


def encoded_key(key: str) -> bytes:
    """Return a public key as 32 bytes, for the disk. Raises ValueError."""
    return base64.b64decode(key + "=", altchars=b"-_", validate=True)


def decoded_key(data: bytes) -> str:
    """Return the public key of 32 bytes."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


T = TypeVar("T")


def squeeze(value: msgspec.Struct) -> bytes:
    """Compress a value; equal values have equal bytes."""
    return zlib.compress(msgspec.msgpack.encode(value), 6)


def read_squeezed(data: bytes, kind: type[T], most: int) -> T:
    """Return a decompressed value of at most ``most`` bytes. Raises ValueError."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(data, most)
        if not unpacker.eof:
            raise ValueError("it is too large, or cut off")
        return decoded_msgpack(raw, kind)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
