"""Hashes and places: names of 72 bits in 12 characters, and where they stand on a ring of 2^63 positions (YACY-1 to 6).

Pure.
"""

import base64
import hashlib
from functools import lru_cache

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""In the order of their values, which is that of base64url; hashes are ordered by value, not by character code."""
LENGTH = 12
RING = 1 << 63
"""Positions; the ring is closed."""
VALUES = {character: value for value, character in enumerate(ALPHABET)}
_PLACED = 10  # characters that make a position
_REMEMBERED = 100_000
"""Hashes whose place is known: those of all peers are asked for again and again; some 20 MB."""
_PRIVATE = "_____"
_CODES = str.maketrans(ALPHABET, "".join(map(chr, range(64))))


def hash_of(text: str) -> str:
    """The first 72 bits of the text's MD5 (YACY-2)."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest[:9]).decode("ascii")


def word_hash(word: str) -> str:
    """Of a word in lower case; never one of those that a peer keeps for itself (YACY-3)."""
    found = hash_of(word.lower())
    while found.startswith(_PRIVATE):
        found = found[1:] + "A"
    return found


def is_hash(text: str) -> bool:
    """Twelve characters of the alphabet."""
    return len(text) == LENGTH and not text.strip(ALPHABET)


@lru_cache(_REMEMBERED)
def order(text: str) -> str:
    """A key by which hashes are sorted."""
    return text.translate(_CODES)


@lru_cache(_REMEMBERED)
def position_of(name: str) -> int:
    """Where a hash stands, 0 to 2^63 - 1, by its first ten characters; missing ones count 0 (YACY-4)."""
    number = 0
    for character in name[:_PLACED].ljust(_PLACED, "A"):
        number = number << 6 | VALUES[character]
    return number << 3 | 7


def hash_at(position: int) -> str:
    """The hash that stands at a position; the last two characters say nothing of it (YACY-5)."""
    number = position >> 3
    return "".join(ALPHABET[number >> shift & 63] for shift in range(54, -6, -6)) + "__"


def distance(start: int, end: int) -> int:
    """Steps clockwise from one position to another (YACY-6)."""
    return (end - start) % RING


def packed(name: str) -> bytes:
    """A hash in nine bytes, in which hashes are sorted as bytes are."""
    return base64.urlsafe_b64decode(name)


def unpacked(data: bytes) -> str:
    """The hash of nine bytes."""
    return base64.urlsafe_b64encode(data).decode("ascii")
