"""Chunk: up to 1,000 postings of one cell of the ring, as the body of an item. Pure.

A chunk is signed as a whole, so a posting takes some 10 bytes. A cell is a power of two of positions. Its size depends only on
the number of postings and the size of the network: a changed page changes its own chunks, and a peer that joins or leaves
changes none.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from larm.peers.yacy.hashes import packed, position_of, unpacked
from larm.peers.yacy.item import read_squeezed, squeeze
from larm.peers.yacy.ring import EXPONENT, partition_of, place_in

TITLE, DESCRIPTION, ADDRESS, NAMED = 1, 2, 4, 8
"""Bits of `Reference.where`: title, description, URL, a text of a link to the page."""
MOST_RANK, RANK_STEPS = 15, 6
"""Highest link rank of a reference, and its steps from one number of links to ten times as many."""
MOST = 1_000
"""References in a chunk (YACY-28)."""
_BITS = 63
_DEEPEST = 40
_HASH = 9


class Reference(NamedTuple):
    """A posting: a page has a word (YACY-32). It serves to choose candidates; their documents have the rest."""

    url: str
    """Hash of the page's URL."""
    hits: int
    """Occurrences in the text, 0 to 255."""
    where: int
    """The parts of the page with the word, or with a word of this stem, as bits; above them the link rank."""
    length: int
    """Number of words of the text, in quarters of a power of two: 4 * log2(n)."""

    @property
    def rank(self) -> float:
        """The logarithm of the number of links to the page, as its author says; at most 2.5."""
        return (self.where >> 4) / RANK_STEPS


class _Body(msgspec.Struct, array_like=True):
    urls: bytes
    """Hashes, nine bytes each."""
    lengths: bytes
    words: bytes
    """Hashes, nine bytes each."""
    counts: Sequence[int]
    """Number of references, for each word."""
    pages: Sequence[int]
    """Number of the URL, for each reference."""
    hits: bytes
    where: bytes


class BadChunkError(ValueError):
    """The bytes are no chunk, or contradict themselves."""


def write_chunk(words: Mapping[str, Sequence[Reference]]) -> bytes:
    """Return the body; the order of the references does not change it."""
    ordered = [(word, sorted(words[word])) for word in sorted(words)]
    lengths = {each.url: each.length for _, references in ordered for each in references}
    urls = sorted(lengths)
    numbers = {url: n for n, url in enumerate(urls)}
    body = _Body(
        b"".join(map(packed, urls)),
        bytes(lengths[url] for url in urls),
        b"".join(packed(word) for word, _ in ordered),
        [len(references) for _, references in ordered],
        [numbers[each.url] for _, references in ordered for each in references],
        bytes(each.hits for _, references in ordered for each in references),
        bytes(each.where for _, references in ordered for each in references),
    )
    return squeeze(body)


def read_chunk(data: bytes) -> dict[str, list[Reference]]:
    """Return all references. Raises BadChunkError, also for too many rows, before they take memory."""
    body, found, row = _read(data), dict[str, list[Reference]](), 0
    for number, count in enumerate(body.counts):
        found[unpacked(body.words[_HASH * number : _HASH * (number + 1)])] = _references(body, row, row + count)
        row += count
    return found


def references_in(data: bytes, words: Collection[str]) -> dict[str, list[Reference]]:
    """Return the references of some words. The chunk must have passed `read_chunk`."""
    body, found = read_squeezed(data, _Body, 64 * MOST), {}
    for word in words:
        at = _number_of(body.words, packed(word))
        if at >= 0:
            row = sum(body.counts[:at])
            found[word] = _references(body, row, row + body.counts[at])
    return found


def _number_of(words: bytes, word: bytes) -> int:
    at = words.find(word)
    while at % _HASH and at >= 0:
        at = words.find(word, at + 1)
    return at // _HASH


def words_in(data: bytes) -> list[bytes]:
    """Return the hashes of its words, nine bytes each. Raises BadChunkError."""
    words = _read(data).words
    return [words[at : at + _HASH] for at in range(0, len(words), _HASH)]


def _read(data: bytes) -> _Body:
    try:
        body = read_squeezed(data, _Body, 64 * MOST)
    except ValueError as error:
        raise BadChunkError(str(error)) from error
    rows, pages = len(body.pages), len(body.lengths)
    sizes_fit = len(body.urls) == _HASH * pages and len(body.words) == _HASH * len(body.counts)
    if not (
        sizes_fit and len(body.hits) == len(body.where) == sum(body.counts) == rows <= MOST and all(map(_some, body.counts))
    ):
        raise BadChunkError("its numbers do not fit")
    if not all(0 <= page < pages for page in body.pages):
        raise BadChunkError("it refers to a page that it does not name")
    return body


def _some(count: int) -> bool:
    return count > 0


def _references(body: _Body, start: int, end: int) -> list[Reference]:
    found = []
    for n in range(start, end):
        page = body.pages[n]
        found.append(
            Reference(unpacked(body.urls[_HASH * page : _HASH * (page + 1)]), body.hits[n], body.where[n], body.lengths[page])
        )
    return found


def check_chunk(words: Mapping[str, Sequence[Reference]], first: int, last: int) -> None:
    """Raise BadChunkError if a reference lies outside the places that the header names."""
    for word, references in words.items():
        place = position_of(word)
        for each in references:
            if not first <= place_in(place, partition_of(each.url)) <= last:
                raise BadChunkError("it has words of another part of the ring")


def depth_for(peers: int) -> int:
    """Return the least depth of cells: with half a peer in a cell, a chunk has hardly more owners than a place."""
    return max(EXPONENT, peers.bit_length() + 1)


def cut(
    references: Iterable[tuple[str, Reference]], depth: int
) -> Iterator[tuple[tuple[int, int], dict[str, list[Reference]]]]:
    """Yield ((first position, last position), words) of all cells with references; large cells are halved repeatedly.

    The references of one word in one partition have one position, so a large group of them is split by URLs.
    """
    rows = sorted((place_in(position_of(word), partition_of(each.url)), word, each) for word, each in references)
    yield from _cut(rows, depth)


_Row = tuple[int, str, Reference]


def _cut(rows: Sequence[_Row], depth: int) -> Iterator[tuple[tuple[int, int], dict[str, list[Reference]]]]:
    start = 0
    while start < len(rows):
        cell = rows[start][0] >> _BITS - depth
        end = start
        while end < len(rows) and rows[end][0] >> _BITS - depth == cell:
            end += 1
        group = rows[start:end]
        if len(group) > MOST and depth < _DEEPEST:
            yield from _cut(group, depth + 1)
        else:
            places = (cell << _BITS - depth, (cell + 1 << _BITS - depth) - 1)
            for piece in _pieces(group):
                yield places, piece
        start = end


def _pieces(rows: Sequence[_Row]) -> Iterator[dict[str, list[Reference]]]:
    for at in range(0, len(rows), MOST):
        words: dict[str, list[Reference]] = {}
        for _, word, each in rows[at : at + MOST]:
            words.setdefault(word, []).append(each)
        yield words
