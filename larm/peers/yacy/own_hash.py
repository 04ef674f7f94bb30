"""A peer chooses its own hash, once: in one of the largest gaps between those that it knows (YACY-24). Pure.

Only the first two characters are chosen: they decide where on the ring it will be. The rest says whose hash it is: the first 60
bits of SHA-256 of the peer's public key (in its 43 characters), so that a hash can't be taken by somebody else.
"""

import base64
import hashlib
from collections.abc import Collection
from random import Random

from larm.peers.yacy.hashes import ALPHABET, LENGTH, RING, distance, hash_at, is_hash, position_of

_CHOSEN = 2
_FEW = 2


def key_part(public_key: str) -> str:
    """Characters 3 to 12 of the hash of whoever has this key."""
    return base64.urlsafe_b64encode(hashlib.sha256(public_key.encode()).digest()[:9]).decode("ascii")[: LENGTH - _CHOSEN]


def belongs(name: str, public_key: str) -> bool:
    """Whether the hash is one that a peer with this key may have."""
    return is_hash(name) and name[_CHOSEN:] == key_part(public_key)


def own_hash(known: Collection[str], public_key: str, random: Random) -> str:
    """A hash for a new peer that knows these others."""
    return _beginning(known, random) + key_part(public_key)


def gaps(known: Collection[str]) -> list[tuple[int, int]]:
    """Between each two neighbours, also across the end of the ring: (where it begins, how long), the longest first."""
    places = sorted({position_of(each) for each in known})
    found = [(place, distance(place, places[(n + 1) % len(places)]) or RING) for n, place in enumerate(places)]
    return sorted(found, key=lambda gap: (-gap[1], gap[0]))


def place_in_gap(gap: tuple[int, int], share: float) -> int:
    """A place in the inner six eighths of a gap; ``share`` from 0 to below 1 says where."""
    start, length = gap
    return (start + length // 8 + int(share * (length * 6 // 8))) % RING


def _beginning(known: Collection[str], random: Random) -> str:
    if len(known) > _FEW:
        for gap in gaps(known):
            if random.random() < 0.5:
                return hash_at(place_in_gap(gap, random.random()))[:_CHOSEN]
    return "".join(random.choices(ALPHABET, k=_CHOSEN))
