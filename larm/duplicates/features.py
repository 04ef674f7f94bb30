"""Features of texts, counted with numpy: for who has no compiler, and to hold ``compiled.pyx`` against.

What they are says `larm.duplicates.fingerprints`. A batch of texts is one row of bytes for numpy, because each of its calls
gives Python's lock away: next to busy fetchers it comes back milliseconds later, so there must be few calls for many pages. For
one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from larm.duplicates.folding import FOLD
from larm.duplicates.likeness import DRAWERS, Measured

_WINDOW = 16
_SHORT = 64  # features; a quarter of a text with fewer would say too little
_SPOKEN = 4  # digits: of a year
_BATCH = 200_000  # bytes of texts that go through numpy at a time: some 5 MB there
_SPACE, _END = 32, 0
_REST = np.uint64((1 << 57) - 1)  # of a hash, without the number of its drawer
_EMPTY = np.uint64(1 << 63)
_LOWEST = np.uint64(0x0101010101010101)
_C1, _C2, _C3 = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xFF51AFD7ED558CCD))

_Words = NDArray[np.uint64]
_Numbers = NDArray[np.int64]


class Memory:
    """See `larm.duplicates.fingerprints.new_memory`."""

    def __init__(self, slots: int) -> None:
        # constant after construction
        self._mask = np.uint64(slots - 1)
        # only the writer thread
        self._table: NDArray[np.uint16] = np.zeros(slots, np.uint16)

    @property
    def size(self) -> int:
        """Bytes of the table."""
        return self._table.nbytes

    def news(self, hashes: _Words, counts: Sequence[int]) -> list[tuple[int, int]]:
        """Of each page how many features were looked at, and how many were not known; from now on they are.

        ``hashes``: the features of all pages in their order, ``counts``: how many are of each.
        """
        slots = (hashes & self._mask).astype(np.int64)
        marks = (hashes >> np.uint64(48)).astype(np.uint16) | np.uint16(1)
        table, found, end = self._table, [], 0
        for count in counts:  # one by one: a page may repeat the one before it
            begin, end = end, end + count
            own, new = slots[begin:end], marks[begin:end]
            found.append((count, int(np.count_nonzero(table.take(own) != new))))
            table[own] = new
        return found


def measured(texts: Sequence[str], memory: Memory, links: bool) -> list[Measured]:
    """Of each text: the count of its features, their simhash and sketch, and its news."""
    made: list[Measured] = []
    part: list[bytes] = []
    size = 0
    for text in texts:
        part.append(text.encode("utf-8", "surrogatepass").translate(FOLD))
        size += len(part[-1])
        if size >= _BATCH:
            made += _read(part, memory, links)
            part, size = [], 0
    return made + _read(part, memory, links) if part else made


def _read(folded: Sequence[bytes], memory: Memory, links: bool) -> list[Measured]:
    joined = np.frombuffer(b"".join((b"\0 ", b"\0 ".join(folded), b"\0", bytes(_WINDOW))), np.uint8)
    joined = _squeezed(joined)
    places, counts = _places(joined, len(folded))
    return _summed(_hashes(joined, places), counts, _news(joined, places, counts, memory, links))


def _squeezed(joined: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Runs of spaces become one."""
    word = joined != _SPACE
    keep = np.ones(len(joined), bool)
    np.logical_or(word[1:], word[:-1], out=keep[1:])
    return joined[keep]


def _places(joined: NDArray[np.uint8], pages: int) -> tuple[_Numbers, list[int]]:
    """Where features begin, in order, and how many are of each page."""
    ends = np.flatnonzero(joined == _END)[1 : pages + 1]
    blank = joined <= _SPACE
    begins = blank[:-1] & ~blank[1:]
    begins |= joined[1:] >= 0xE0
    places = np.flatnonzero(begins) + 1
    # page by page: to ask of each place where its page ends takes twice as long
    first = [0, *np.searchsorted(places, ends[:-1]).tolist()]
    stop = np.searchsorted(places, ends - (_WINDOW - 2)).tolist()  # the end itself may be the last byte
    counts = [max(end - begin, 0) for begin, end in zip(first, stop, strict=True)]
    return np.concatenate([places[begin : begin + count] for begin, count in zip(first, counts, strict=True)]), counts


def _news(
    joined: NDArray[np.uint8], places: _Numbers, counts: Sequence[int], memory: Memory, links: bool
) -> list[tuple[int, int]]:
    """Of a quarter of the places, chosen by what stands there; of all of a short text."""
    blurred = _blurred(joined, counts, links)
    # what stands there, twice the byte after it and half of the one after that
    mixed = blurred[1:-1] + blurred[1:-1]
    mixed ^= blurred[:-2]
    mixed ^= blurred[2:] >> 1
    mixed &= 3
    chosen = mixed.take(places) == 0
    chosen |= np.repeat(np.array(counts) < _SHORT, counts)
    which = np.flatnonzero(chosen)
    bounds = np.searchsorted(which, np.cumsum([0, *counts]))
    return memory.news(_hashes(blurred, places.take(which)), np.diff(bounds).tolist())


def _blurred(joined: NDArray[np.uint8], counts: Sequence[int], links: bool) -> NDArray[np.uint8]:
    """Words of ASCII with digits are the same, but for their lengths: numbers, dates, identifiers. Where most of a text of some
    length is identifiers and long numbers, they are what it has to say, unless it is that of links."""
    digit = (joined >= 0x30) & (joined <= 0x39)
    letter = (joined >= 0x61) & (joined <= 0x7A)
    words = np.cumsum(~(digit | letter))
    digits, letters = (np.bincount(words[each], minlength=int(words[-1]) + 1) for each in (digit, letter))
    numbers = (digits > 0) & (digits <= _SPOKEN) & (letters == 0)
    identifier = ((digits > 0) & ~numbers)[words] & (digit | letter)
    ends = np.flatnonzero(joined == _END)[: len(counts) + 1]
    said = np.diff(np.cumsum(identifier)[ends]) * 2 > np.diff(ends) - 1
    said &= (np.array(counts) >= _SHORT) & (not links)
    spoken = np.zeros(len(joined), bool)
    spoken[: ends[-1]] = np.repeat(said, np.diff(ends))
    same = (identifier & ~spoken) | (numbers[words] & digit)
    return np.where(same, np.uint8(0x30), joined)


def _hashes(data: NDArray[np.uint8], places: _Numbers) -> _Words:
    words: NDArray[Any] = np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))  # the eight bytes at each place
    mixed = words[places]
    mixed *= _C1
    mixed ^= mixed >> np.uint64(32)
    mixed += words[8:][places]
    mixed *= _C2
    mixed ^= mixed >> np.uint64(29)
    mixed *= _C3
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _summed(hashes: _Words, counts: Sequence[int], news: list[tuple[int, int]]) -> list[Measured]:
    """Sketches and simhashes of all pages."""
    pages = len(counts)
    drawers = (hashes >> np.uint64(57)).astype(np.int64)
    drawers += np.repeat(np.arange(0, pages * DRAWERS, DRAWERS), counts)
    low = np.full(pages * DRAWERS, _EMPTY)
    np.minimum.at(low, drawers, hashes & _REST)
    full = low != _EMPTY
    sketches = low % np.uint64(255)
    sketches += np.uint64(1)
    sketches *= full
    data = sketches.astype(np.uint8).tobytes()
    simhashes = _simhashes(low.reshape(pages, DRAWERS), full.reshape(pages, DRAWERS))
    made: list[Measured] = []
    for number, count in enumerate(counts):
        made.append((count, simhashes[number], data[number * DRAWERS : (number + 1) * DRAWERS], news[number]))
    return made


def _simhashes(smallest: _Words, full: NDArray[np.bool_]) -> list[int]:
    """Of the smallest hash of each drawer: a fair sample of the features, and much faster than all of them."""
    mixed = smallest * _C1
    mixed ^= mixed >> np.uint64(29)
    mixed *= _C3
    mixed[~full] = 0
    # one bit of all eight bytes at a time: their sums stay below 256, so that one word holds eight of them
    sums = np.stack([np.add.reduce(mixed >> np.uint64(bit) & _LOWEST, axis=1) for bit in range(7, -1, -1)], axis=1)
    ones = sums.astype(">u8").view(np.uint8).reshape(len(full), 8, 8).transpose(0, 2, 1)
    most = ones > (full.sum(axis=1) // 2)[:, None, None]
    return [int(each) for each in np.packbits(most.reshape(len(full), 64), axis=1).view(">u8").ravel().tolist()]
