"""Page: a document as its owners keep it, the body of an item, and the words by which it can be found (YACY-32, 33). Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import log2

import msgspec

from larm.index.page import url_words
from larm.index.scripts import composed_and_parted, is_unspaced
from larm.peers.yacy.chunk import ITSELF, Reference
from larm.peers.yacy.hashes import position_of, word_hash
from larm.peers.yacy.item import LARGEST, read_squeezed, squeeze
from larm.peers.yacy.url_hash import url_hash

TEXT = 20_000
"""Characters of the main text; what comes after them can't be found by others."""
_LONGEST_URL, TITLE = 2_048, 1_000
_TITLE, _DESCRIPTION, _ADDRESS, _TEXT, _SIGNS = 1, 2, 4, 8 * ITSELF, 8

Words = Callable[[str], Iterable[str]]
"""The words of a text, as the index knows them."""


class Page(msgspec.Struct, frozen=True, array_like=True):
    """What others may know of a page."""

    url: str
    title: str = ""
    description: str = ""
    text: str = ""
    language: str = ""
    mime: str = ""
    modified: int = 0
    fetched: int = 0
    size: int = 0

    @property
    def hash(self) -> str:
        """Of its address. Raises ValueError where that is none."""
        return url_hash(self.url)


class BadPageError(ValueError):
    """No page."""


def write_page(page: Page) -> bytes:
    """Cut so that it fits."""
    text = page.text[:TEXT]
    while True:
        body = squeeze(_cut(page, text))
        if len(body) <= LARGEST:
            return body
        text = text[: len(text) * 2 // 3]


def read_page(data: bytes) -> Page:
    """Raises BadPageError."""
    try:
        page = read_squeezed(data, Page, 8 * TEXT)
        if page.url[:7] != "http://" and page.url[:8] != "https://":
            raise BadPageError("its address is not one of the web")
        page.hash  # noqa: B018
    except ValueError as error:
        raise error if isinstance(error, BadPageError) else BadPageError(str(error)) from error
    return _cut(page, page.text[:TEXT])


def place_of(page: Page) -> int:
    """Where it is kept."""
    return position_of(page.hash)


def references_of(page: Page, words: Words, stems: Words, is_common: Callable[[str], bool]) -> Iterator[tuple[str, Reference]]:
    """(hash of a word, the reference) for all words of a page and, so that other forms of a word find it, for their stems.

    ``stems``: of one word, those to be added. Stop words, which are common, are left out (YACY-34).
    """
    body = list(words(page.text[:TEXT]))
    where: Counter[str] = Counter()
    for bit, text in ((_TITLE, page.title), (_DESCRIPTION, page.description), (_ADDRESS, url_words(page.url))):
        for word in set(words(text)):
            where[word] |= bit
    hits = Counter(body)
    length = min(255, int(4 * log2(len(body) + 1)))
    in_text = _TEXT if composed_and_parted(page.text[:TEXT]).spaced else _SIGNS
    counted: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    for word in {*hits, *where}:
        if is_common(word):
            continue
        for each in {word, *stems(word)}:
            counted[each] += hits[word]
            placed[each] |= where[word]
        in_body = (_SIGNS if is_unspaced(word[0]) else in_text) if word in hits else 0
        placed[word] |= ITSELF * where[word] | in_body
    url = page.hash
    for word, bits in placed.items():
        yield word_hash(word), Reference(url, min(255, counted[word]), bits, length)


def _cut(page: Page, text: str) -> Page:
    return msgspec.structs.replace(
        page,
        url=page.url[:_LONGEST_URL],
        title=page.title[:TITLE],
        description=page.description[:TITLE],
        text=text,
        language=page.language[:8],
        mime=page.mime[:100],
    )
