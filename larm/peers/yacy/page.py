"""Page: a document as its owners keep it, and the words by which it is found (YACY-32, 33). Pure.

A document is one item or several: each has a piece of the text, the first one all else. All pieces lie at the place of the URL.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from math import log2, log10

import msgspec

from larm.index.page import url_words
from larm.peers.yacy.chunk import ADDRESS, DESCRIPTION, MOST_RANK, NAMED, RANK_STEPS, TITLE, Reference
from larm.peers.yacy.hashes import position_of, word_hash
from larm.peers.yacy.item import LARGEST, read_squeezed, squeeze
from larm.peers.yacy.url_hash import url_hash

TEXT = 1_000_000
"""Characters of the main text: eight items. The words behind them are not shared."""
SHORT = 1_000
"""Characters of title and description."""
_PIECE = 120_000
"""Characters of one item at most; English text of this length nearly fills it."""
_BYTES = 600_000
"""Bytes of a body after decompression."""
_OTHER, _LINKS = 8_000, 22_000
"""Bytes of menus, headers and footers, and of texts of links. With title and description they fit into the first item."""
_LONGEST_LINK = 200
"""Characters of a text of a link."""
_MOST_LINKED = int(10 ** (MOST_RANK / RANK_STEPS))
"""Links to a page. Beyond this number, no claim improves its rank."""
_LONGEST_URL = 2_048
_LARGEST_NUMBER = 1 << 36
"""Of bytes, or of seconds since 1970. An index refuses negative numbers, and with them all pages that come beside."""

Words = Callable[[str], Iterable[str]]
"""The words of a text, as the index knows them."""


class Page(msgspec.Struct, frozen=True, array_like=True):
    """The public data of a page, or a further piece of its text."""

    url: str
    title: str = ""
    description: str = ""
    text: str = ""
    language: str = ""
    mime: str = ""
    modified: int = 0
    fetched: int = 0
    size: int = 0
    other: str = ""
    """Words of menus, headers and footers."""
    links: tuple[str, ...] = ()
    """Texts of links to the page."""
    linked: int = 0
    """Number of pages that link to it, as its author says."""
    piece: int = 0
    more: bool = False
    """True if another piece follows."""

    @property
    def hash(self) -> str:
        """The hash of its URL. Raises ValueError for a malformed URL."""
        return url_hash(self.url)


class BadPageError(ValueError):
    """The bytes are no page."""


def write_page(page: Page) -> list[bytes]:
    """Return the bodies of its items; what exceeds the limits is truncated."""
    first, rest, bodies = _bounded(page), page.text[:TEXT], list[bytes]()
    while rest or not bodies:
        head = first if not bodies else Page(page.url, fetched=page.fetched, size=page.size, piece=len(bodies))
        length = _PIECE
        while True:
            piece = msgspec.structs.replace(head, text=rest[:length], more=len(rest) > length)
            body = squeeze(piece)
            if len(body) <= LARGEST:
                break
            length = min(length, len(rest)) * 2 // 3
        bodies.append(body)
        rest = rest[length:]
    return bodies


def read_page(data: bytes) -> Page:
    """Return one piece. Raises BadPageError."""
    try:
        page = read_squeezed(data, Page, _BYTES)
        if page.url[:7] != "http://" and page.url[:8] != "https://":
            raise BadPageError("its address is not one of the web")
        page.hash  # noqa: B018
    except ValueError as error:
        raise error if isinstance(error, BadPageError) else BadPageError(str(error)) from error
    return msgspec.structs.replace(_bounded(page), text=page.text[:_PIECE])


def joined(pieces: Iterable[Page]) -> Page | None:
    """Return the page of one author, from its first piece on, as far as no piece is missing; None without the first one."""
    by_number = {each.piece: each for each in pieces}
    first = by_number.get(0)
    if first is None:
        return None
    texts, last = [first.text], first
    while last.more and (following := by_number.get(last.piece + 1)) is not None:
        if (following.fetched, following.size) != (first.fetched, first.size):
            break
        texts.append(following.text)
        last = following
    return msgspec.structs.replace(first, text="".join(texts)[:TEXT], more=False)


def place_of(page: Page) -> int:
    """Return its position on the ring."""
    return position_of(page.hash)


def references_of(page: Page, words: Words, stems: Words, is_common: Callable[[str], bool]) -> Iterator[tuple[str, Reference]]:
    """Yield (hash of a word, reference) for all words of a page and, so that other forms of a word find it, for their stems.

    ``stems``: the stems of one word that are added. Stop words, which are common, are left out (YACY-34).
    """
    hits, where = Counter(words(page.text[:TEXT])), Counter[str]()
    parts = {TITLE: page.title, DESCRIPTION: page.description, ADDRESS: url_words(page.url), NAMED: "\n".join(page.links)}
    for bit, text in {**parts, 0: page.other}.items():
        for word in set(words(text)):
            where[word] |= bit
    length = min(255, int(4 * log2(sum(hits.values()) + 1)))
    rank = min(MOST_RANK, round(RANK_STEPS * log10(1 + max(0, page.linked))))
    counted, placed = Counter[str](), Counter[str]()
    for word in {*hits, *where}:
        if not is_common(word):
            for each in {word, *stems(word)}:
                counted[each] += hits[word]
                placed[each] |= where[word]
    url = page.hash
    for word, bits in placed.items():
        yield word_hash(word), Reference(url, min(255, counted[word]), bits | rank << 4, length)


def _bounded(page: Page) -> Page:
    return msgspec.structs.replace(
        page,
        url=page.url[:_LONGEST_URL],
        title=page.title[:SHORT],
        description=page.description[:SHORT],
        language=page.language[:8],
        mime=page.mime[:100],
        other=page.other.encode(errors="replace")[:_OTHER].decode(errors="ignore"),
        links=_fitting(page.links),
        linked=min(max(0, page.linked), _MOST_LINKED),
        **{name: min(max(0, getattr(page, name)), _LARGEST_NUMBER) for name in ("modified", "fetched", "size")},
    )


def _fitting(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first of these texts, each truncated, as far as all of them fit."""
    short = [text[:_LONGEST_LINK] for text in texts]
    sizes = accumulate(len(text.encode(errors="replace")) + 2 for text in short)
    return tuple(text for text, size in zip(short, sizes, strict=True) if size <= _LINKS)
