"""Hashes and positions: names of 72 bits in 12 characters, and their positions on a ring of 2^63 (YACY-1 to 6). Pure."""

import base64
import hashlib
from collections.abc import Collection
from functools import lru_cache
from random import Random

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""Characters in the order of their values, as in base64url. Hashes are ordered by value, not by character code."""
LENGTH = 12
RING = 1 << 63
"""Number of positions. The ring is closed."""
VALUES = {character: value for value, character in enumerate(ALPHABET)}
_PLACED = 10  # characters that make a position
_REMEMBERED = 100_000
"""Number of hashes whose position is cached: those of all peers are needed repeatedly; some 20 MB."""
_PRIVATE = "_____"
_CODES = str.maketrans(ALPHABET, "".join(map(chr, range(64))))


def hash_of(text: str) -> str:
    """Return the first 72 bits of the text's MD5 (YACY-2)."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest[:9]).decode("ascii")


def word_hash(word: str) -> str:
    """Return the hash of a word in lower case; never one that is reserved for a peer's own use (YACY-3)."""
    found = hash_of(word.lower())
    while found.startswith(_PRIVATE):
        found = found[1:] + "A"
    return found


def is_hash(text: str) -> bool:
    """Return True if the text has twelve characters of the alphabet."""
    return len(text) == LENGTH and not text.strip(ALPHABET)


@lru_cache(_REMEMBERED)
def order(text: str) -> str:
    """Return the key by which hashes are sorted."""
    return text.translate(_CODES)


@lru_cache(_REMEMBERED)
def position_of(name: str) -> int:
    """Return the position of a hash, 0 to 2^63 - 1, by its first ten characters; missing ones count 0 (YACY-4)."""
    number = 0
    for character in name[:_PLACED].ljust(_PLACED, "A"):
        number = number << 6 | VALUES[character]
    return number << 3 | 7


def hash_at(position: int) -> str:
    """Return the hash at a position; the last two characters do not depend on it (YACY-5)."""
    number = position >> 3
    return "".join(ALPHABET[number >> shift & 63] for shift in range(54, -6, -6)) + "__"


def distance(start: int, end: int) -> int:
    """Return the number of steps clockwise from one position to another (YACY-6)."""
    return (end - start) % RING


def packed(name: str) -> bytes:
    """Return a hash as nine bytes, which sort like hashes."""
    return base64.urlsafe_b64decode(name)


def unpacked(data: bytes) -> str:
    """Return the hash of nine bytes."""
    return base64.urlsafe_b64encode(data).decode("ascii")


_CHOSEN = 2
"""Number of characters of its hash that a peer chooses once. They decide its position; the others come from its key."""
_FEW = 2


def key_part(public_key: str) -> str:
    """Return characters 3 to 12 of the hash of the peer with this key."""
    return base64.urlsafe_b64encode(hashlib.sha256(public_key.encode()).digest()[:9]).decode("ascii")[: LENGTH - _CHOSEN]


def belongs(name: str, public_key: str) -> bool:
    """Return True if a peer with this key may have this hash."""
    return is_hash(name) and name[_CHOSEN:] == key_part(public_key)


def own_hash(known: Collection[str], public_key: str, random: Random) -> str:
    """Return a hash for a new peer: in one of the largest gaps between those that it knows (YACY-24)."""
    return _beginning(known, random) + key_part(public_key)


def gaps(known: Collection[str]) -> list[tuple[int, int]]:
    """Return (position, length) of the gaps between neighbours, also across the end of the ring, the longest first."""
    places = sorted({position_of(each) for each in known})
    found = [(place, distance(place, places[(n + 1) % len(places)]) or RING) for n, place in enumerate(places)]
    return sorted(found, key=lambda gap: (-gap[1], gap[0]))


def place_in_gap(gap: tuple[int, int], share: float) -> int:
    """Return a position in the inner six eighths of a gap; ``share``, from 0 to below 1, chooses it."""
    start, length = gap
    return (start + length // 8 + int(share * (length * 6 // 8))) % RING


def _beginning(known: Collection[str], random: Random) -> str:
    if len(known) > _FEW:
        for gap in gaps(known):
            if random.random() < 0.5:
                return hash_at(place_in_gap(gap, random.random()))[:_CHOSEN]
    return "".join(random.choices(ALPHABET, k=_CHOSEN))
