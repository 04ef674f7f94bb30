"""Fingerprints of texts: what tells, in a few bytes, how much of two texts is the same, and how much of one is new.

Pure; called by `larm.duplicates.aliases` on the writer thread of the index storage, a batch of pages at a time. A batch is one
row of bytes for numpy, because each of its calls gives Python's lock away: next to busy fetchers it comes back milliseconds
later, so there must be few calls for many pages.

A *feature* is 16 bytes of the text, beginning at a word: two or three words. Where words are not set apart (Chinese, Japanese,
Thai) one begins at each character, which makes it five characters. Case, punctuation and white space do not count. From the
features come

- the *sketch*: the features by their hash in 128 drawers, of each drawer's smallest one byte. The share of equal bytes is,
  give or take 4 %, the share of features that two texts have in common (one-permutation minhash, Li, Owen and Zhang 2012);
- the *simhash*: for each of 64 bits, what most features' hashes say (Charikar 2002);
- the *bands*: pieces of the sketch. Texts of which 90 % is the same have one in common 99 times in 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

LEAST = 24
"""Features; a text with fewer is too short to be nearly the same as another: two error messages, say."""
DRAWERS = 128
BANDS, ROWS = 6, 6
"""Bands of a sketch, and drawers in each."""
_WINDOW = 16
_SHORT = 64  # features; a quarter of a text with fewer would say too little
_TEXT = 20_000  # characters of a text that count
_BATCH = 200_000  # bytes of texts that go through numpy at a time: some 5 MB there
_SPACE, _END = 32, 0
_LETTERS = bytes(range(ord("a"), ord("z") + 1)) + bytes(range(ord("0"), ord("9") + 1))
_FOLD = bytes(
    each if each in _LETTERS or each >= 0x80 else each + 32 if 0x41 <= each <= 0x5A else _SPACE for each in range(256)
)
"""ASCII in lower case, everything but letters and digits a space; other bytes of UTF-8 as they are."""
_REST = np.uint64((1 << 57) - 1)  # of a hash, without the number of its drawer
_EMPTY = np.uint64(1 << 63)
_C1, _C2, _C3 = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xFF51AFD7ED558CCD))

_Words = NDArray[np.uint64]


class Fingerprint(NamedTuple):
    """One text."""

    features: int
    simhash: int
    sketch: bytes
    """0 where a drawer is empty."""
    bands: tuple[int, ...]
    """63 bits each; none where the text is too short."""
    news: tuple[int, int]
    """Features that were looked at for `Memory`, and how many of them it did not know; digits are all the same to it."""


class Memory:
    """Features of the texts of late, in bounded memory: what tells new text from that which is only put together anew.

    A quarter of the features (all of a short text), in a table in which new ones overwrite old ones: 8 MB for the last
    10,000 pages or so. It is not kept across restarts, after which all text is new for a while. Only the writer thread.
    """

    def __init__(self, slots: int = 1 << 22) -> None:
        # constant after construction
        self._mask = np.uint64(slots - 1)
        # only the writer thread
        self._table: NDArray[np.uint16] = np.zeros(slots, np.uint16)

    def news(self, hashes: _Words, pages: NDArray[np.int64], count: int) -> list[tuple[int, int]]:
        """Of each page how many features were looked at, and how many were not known; from now on they are.

        ``hashes``: the features of all pages in their order, ``pages``: the page of each.
        """
        slots, marks = hashes & self._mask, (hashes >> np.uint64(48)).astype(np.uint16) | np.uint16(1)
        bounds = np.searchsorted(pages, np.arange(count + 1)).tolist()
        found = []
        for begin, end in pairwise(bounds):  # one by one: a page may repeat the one before it
            own, new = slots[begin:end], marks[begin:end]
            found.append((end - begin, int(np.count_nonzero(self._table[own] != new))))
            self._table[own] = new
        return found


def fingerprints(texts: Sequence[str], memory: Memory) -> list[Fingerprint]:
    """One for each text, in order; the memory has read them afterwards. About 100 us for a page of 10 KB of text."""
    made: list[Fingerprint] = []
    part: list[bytes] = []
    size = 0
    for text in texts:
        part.append(text[:_TEXT].encode("utf-8", "surrogatepass").translate(_FOLD))
        size += len(part[-1])
        if size >= _BATCH:
            made += _read(part, memory)
            part, size = [], 0
    return made + _read(part, memory) if part else made


def likeness(one: bytes, other: bytes) -> float:
    """The share of their features that two texts have in common, estimated from their sketches; 0 for empty ones."""
    # as numbers: equal bytes of the two, and bytes that are 0 in both, become 0
    equal = (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(DRAWERS).count(0)
    empty = (int.from_bytes(one) | int.from_bytes(other)).to_bytes(DRAWERS).count(0)
    return (equal - empty) / (DRAWERS - empty) if empty < DRAWERS else 0.0


def distance(one: int, other: int) -> int:
    """Bits in which two simhashes differ."""
    return (one ^ other).bit_count()


def _read(folded: Sequence[bytes], memory: Memory) -> list[Fingerprint]:
    pages = len(folded)
    joined = np.frombuffer(b"\0 " + b"\0 ".join(folded) + b"\0" + bytes(_WINDOW), np.uint8)
    joined = _squeezed(joined)
    ends = np.flatnonzero(joined == _END)[1 : pages + 1]
    begins = ((joined[:-1] <= _SPACE) & (joined[1:] > _SPACE)) | (joined[1:] >= 0xE0)
    places = np.flatnonzero(begins) + 1
    page = np.searchsorted(ends, places)
    whole = page < pages
    places, page = places[whole], page[whole]
    inside = places + _WINDOW <= ends[page] + 1  # the end itself may be the last byte
    places, page = places[inside], page[inside]
    hashes = _hashes(joined, places)
    return _summed(hashes, page, pages, _news(joined, places, page, pages, memory))


def _news(
    joined: NDArray[np.uint8], places: NDArray[np.int64], page: NDArray[np.int64], pages: int, memory: Memory
) -> list[tuple[int, int]]:
    """Of a quarter of the places, chosen by what stands there; of all of a short text."""
    blurred = np.where((joined >= 0x30) & (joined <= 0x39), np.uint8(0x30), joined)
    chosen = (blurred[places] ^ (blurred[places + 1] << 1) ^ (blurred[places + 2] >> 1)) & 3 == 0
    chosen |= (np.bincount(page, minlength=pages) < _SHORT)[page]
    return memory.news(_hashes(blurred, places[chosen]), page[chosen], pages)


def _squeezed(joined: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Runs of spaces become one."""
    space = joined == _SPACE
    keep = np.ones(len(joined), bool)
    keep[1:] = ~(space[1:] & space[:-1])
    return joined[keep]


def _hashes(data: NDArray[np.uint8], places: NDArray[np.int64]) -> _Words:
    words: NDArray[Any] = np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))  # the eight bytes at each place
    mixed = words[places] * _C1
    mixed ^= mixed >> np.uint64(32)
    mixed += words[places + 8]
    mixed *= _C2
    mixed ^= mixed >> np.uint64(29)
    mixed *= _C3
    return mixed ^ (mixed >> np.uint64(32))


def _summed(hashes: _Words, page: NDArray[np.int64], pages: int, news: list[tuple[int, int]]) -> list[Fingerprint]:
    """Sketches and simhashes of all pages."""
    drawers = page * DRAWERS + (hashes >> np.uint64(57)).astype(np.int64)
    low = np.full(pages * DRAWERS, _EMPTY)
    np.minimum.at(low, drawers, hashes & _REST)
    full = low != _EMPTY
    sketches = np.where(full, low % np.uint64(255) + np.uint64(1), np.uint64(0)).astype(np.uint8).reshape(pages, DRAWERS)
    counts = np.bincount(page, minlength=pages).tolist()
    simhashes = _simhashes(low.reshape(pages, DRAWERS), full.reshape(pages, DRAWERS))
    made = []
    for number, sketch in enumerate(sketches):
        data, count = sketch.tobytes(), counts[number]
        made.append(Fingerprint(count, simhashes[number], data, _bands(data, count), news[number]))
    return made


def _simhashes(smallest: _Words, full: NDArray[np.bool_]) -> list[int]:
    """Of the smallest hash of each drawer: a fair sample of the features, and much faster than all of them."""
    mixed = smallest * _C1
    mixed ^= mixed >> np.uint64(29)
    mixed *= _C3
    mixed[~full] = 0
    bits = np.unpackbits(mixed.byteswap().view(np.uint8).reshape(len(full), DRAWERS, 8), axis=2)
    most = np.add.reduce(bits, axis=1, dtype=np.uint8) > (full.sum(axis=1) // 2)[:, None]
    return [int.from_bytes(row.tobytes()) for row in np.packbits(most, axis=1)]


def _bands(sketch: bytes, features: int) -> tuple[int, ...]:
    if features < LEAST:
        return ()
    pieces = [sketch[at : at + ROWS] for at in range(0, BANDS * ROWS, ROWS)]
    return tuple(xxhash.xxh3_64_intdigest(piece, seed=number) >> 1 for number, piece in enumerate(pieces) if any(piece))
