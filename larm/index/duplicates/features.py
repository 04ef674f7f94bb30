"""Features of texts, counted in Python: where there is no compiler, and to hold ``compiled.pyx`` against. Any thread.

What they are says `larm.index.duplicates.fingerprints`. Some 3 ms for 10 KB of text. Both fold texts by the table of this file.
"""

import re
import sys
from array import array
from collections.abc import Collection, Sequence
from typing import Final

from larm.index.duplicates.likeness import DRAWERS, Measured

_SPACE = ord(" ")
_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789"
FOLD: Final = bytes(
    each if each in _KEPT or each >= 0x80 else each + 32 if 0x41 <= each <= 0x5A else _SPACE for each in range(256)
)
"""ASCII in lower case, everything but letters and digits a space; other bytes of UTF-8 as they are."""


_WINDOW = 16
_SHORT = 64  # features; a quarter of a text with fewer would say too little
_SPOKEN = 4  # digits: of a year
_SPACES = re.compile(rb"  +")
_BEGIN = re.compile(rb"(?<= )[^ ]|[\xe0-\xff]")
_WITH_DIGITS = re.compile(rb"(?<![a-z0-9])[a-z]*+[0-9][a-z0-9]*+")
_ALL = (1 << 64) - 1
_REST = (1 << 57) - 1  # of a hash, without the number of its drawer
_LOWEST = 0x0101010101010101
_C1, _C2, _C3 = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xFF51AFD7ED558CCD


class Memory:
    """The pieces of the texts of late, in bounded memory. For one thread.

    New ones overwrite old ones, and nothing is kept across restarts, after which all text is new for a while.
    """

    def __init__(self, slots: int) -> None:
        """``slots``: a power of two; two bytes each."""
        # constant after construction
        self._mask = slots - 1
        # only the thread that asks
        self._table = array("H", bytes(2 * slots))

    @property
    def size(self) -> int:
        """Bytes of the table."""
        return 2 * len(self._table)

    def news(self, pieces: bytes) -> tuple[int, int]:
        """Return the number of pieces, and of those that were not known; from now on they are."""
        places = [(mixed & self._mask, mixed >> 48 | 1) for mixed in array("Q", pieces)]
        found = sum([self._table[slot] != mark for slot, mark in places])
        for slot, mark in places:  # afterwards: a text may repeat itself
            self._table[slot] = mark
        return len(places), found


def measured(text: str, links: bool) -> Measured:
    """Measure one text. ``links``: it is that of links, in which there is always one more identifier."""
    folded = text.encode("utf-8", "surrogatepass").translate(FOLD)
    words = _SPACES.sub(b" ", b" " + folded) + b"\0"
    places = [found.start() for found in _BEGIN.finditer(words, 0, max(0, len(words) - _WINDOW + 1))]
    low: dict[int, int] = {}
    for at in places:
        mixed = _hash(words, at)
        low[mixed >> 57] = min(low.get(mixed >> 57, _ALL), mixed & _REST)
    sketch = bytes([low[drawer] % 255 + 1 if drawer in low else 0 for drawer in range(DRAWERS)])
    pieces = array("Q", [_hash(*each) for each in _looked_at(words, places, links)])
    return len(places), _simhash(low.values()), sketch, pieces.tobytes()


def _looked_at(text: bytes, places: Sequence[int], links: bool) -> list[tuple[bytes, int]]:
    """A quarter of the places, chosen by what stands there; all of a short text. Words with digits are the same there, but for
    their lengths: numbers, dates, identifiers. Where most of a text of some length is identifiers and long numbers, they are
    what it has to say, unless it is that of links."""
    names = sum([len(word) for word in _WITH_DIGITS.findall(text) if not _is_spoken(word)])
    tell = 2 * names > len(text) - 1 and len(places) >= _SHORT and not links
    same = _WITH_DIGITS.sub(lambda word: word[0] if tell and not _is_spoken(word[0]) else b"0" * len(word[0]), text)
    few = len(places) < _SHORT
    return [(same, at) for at in places if few or not (2 * same[at + 1] ^ same[at] ^ same[at + 2] >> 1) & 3]


def _is_spoken(word: bytes) -> bool:
    """A short number."""
    return len(word) <= _SPOKEN and word.isdigit()


def _hash(text: bytes, at: int) -> int:
    """Of the 16 bytes there."""
    mixed = int.from_bytes(text[at : at + 8], sys.byteorder) * _C1 & _ALL
    mixed ^= mixed >> 32
    mixed = (mixed + int.from_bytes(text[at + 8 : at + _WINDOW], sys.byteorder)) * _C2 & _ALL
    mixed = (mixed ^ mixed >> 29) * _C3 & _ALL
    return mixed ^ mixed >> 32


def _simhash(low: Collection[int]) -> int:
    """Of the smallest hash of each drawer: a fair sample of the features. For each bit, what most of them say."""
    mixed = [rest * _C1 & _ALL for rest in low]
    mixed = [(each ^ each >> 29) * _C3 & _ALL for each in mixed]
    sums = [sum([each >> bit & _LOWEST for each in mixed]) for bit in range(8)]  # in each byte the count of one bit
    return sum((sums[bit & 7] >> (bit & ~7) & 0xFF > len(mixed) // 2) << bit for bit in range(64))
