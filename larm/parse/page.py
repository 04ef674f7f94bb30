"""Page: what a parser found in a page, before anything is resolved. Made by a parser, read by the `Assembler`; one thread."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from larm.model.crawl_hash import letters
from larm.parse.readable import names

Attributes = Mapping[str, str | None]
"""Of an element: names in lower case; None is the value of an attribute without one."""
Element = tuple[str, Attributes, str]
"""Tag, attributes and, of ``<a>``, the text within, as it stands there."""

LINKING = names("a area audio embed frame iframe img input link object script source track video")
"""Elements that may lead somewhere."""
SPEAKING = names("base meta")
"""Elements that say something about the page."""

ASKED = names(
    "alt as content data href hreflang http-equiv itemprop lang media name property rel src srcdoc type xlink:href xml:lang"
)
"""Attributes that somebody asks an element of these two kinds for; the others are left out."""

SHADOW = "shadowrootmode"
"""Attribute of templates that a browser shows at once (WHATWG HTML 4.12.3)."""
LINKED_DATA = "application/ld+json"
"""Type of the scripts that say something about the page."""

MAX_HEADINGS = 1_000


class Blocks(msgspec.Struct):
    """The blocks of a page, as columns. A block is the text between two block boundaries.

    The reader that makes it writes it; constant afterwards.
    """

    texts: list[str] = []
    """Texts without the white space around them; never empty."""
    sizes: list[int] = []
    """Their numbers of characters."""
    marks: list[str] = []
    """For each block one of the marks in `larm.parse.elements`."""
    weights: list[float] = []
    """Sums of the weights of the boxes around each block (`larm.parse.boxes`)."""
    kinds: bytearray = bytearray()
    """The kinds of these boxes, combined."""
    linked: list[int] = []
    """Numbers of characters that are the text of links."""

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, text: str, mark: str, weight: float, kinds: int, linked: int) -> None:
        """Append a block."""
        for name, value in zip(self.__struct_fields__, (text, len(text), mark, weight, kinds, linked), strict=True):
            getattr(self, name).append(value)

    def extend(self, others: "Blocks") -> None:
        """Append the blocks of another reading."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(others, name))

    @property
    def outside(self) -> int:
        """The number of characters outside links."""
        return sum([max(0, size - linked) for size, linked in zip(self.sizes, self.linked, strict=True)])


class Reading(NamedTuple):
    """What is in a page of HTML, before its text is taken apart."""

    title: str
    blocks: Blocks
    """All text that a reader sees."""
    furnished: bool
    """There is a box of the kind that surrounds articles, outside of menus."""
    headings: Sequence[str]
    """Of a heading in another one nothing."""
    elements: Sequence[Element]
    """Those of LINKING that lead somewhere or may, in document order."""
    about: Sequence[Element]
    """Those of SPEAKING."""
    language: str
    """As ``<html lang>`` has it."""
    linked_data: Sequence[str]
    """Texts of the JSON-LD scripts."""
    places: Sequence[str] = ()
    """For each heading the fragment of an address that leads to it: the last id of a block, or name of an anchor, that begins
    with it or stands in it; empty where there is none."""
    letters: bytes = b""
    """Of all blocks, in their order (`larm.model.crawl_hash`)."""
    outside: int = 0
    """Characters of the blocks that are no part of a link; of links the white space around them may count as well."""
    shadowed: bool = False
    """There is a template that a browser shows at once."""

    def and_blocks(self, others: Blocks) -> "Reading":
        """Return the same with the blocks of another reading behind its own, to which they are appended."""
        self.blocks.extend(others)
        return self._replace(letters=self.letters + letters("".join(others.texts)), outside=self.outside + others.outside)


class Page(NamedTuple):
    """One page as parsed."""

    title: str = ""
    text: str = ""
    """The main text."""
    other: str = ""
    """The other text."""
    headings: Sequence[str] = ()
    elements: Sequence[Element] = ()
    """Those of LINKING, in document order."""
    about: Sequence[Element] = ()
    """Those of SPEAKING."""
    charset: str = ""
    language: str = ""
    """As ``<html lang>`` has it."""
    words: int = 0
    """See `larm.model.document.Document`."""
    linked_data: Sequence[str] = ()
    """Texts of the JSON-LD scripts."""
    warnings: Sequence[str] = ()
    modified: int = 0
    """Unix seconds, what the document itself says of its last change; 0: nothing."""
    declared: str = ""
    """What it says of its encoding, where its bytes say otherwise."""
    places: Sequence[str] = ()
    """See `Reading`."""
    cuts: tuple[str, ...] = ()
    """See `larm.model.document.Document`."""
    counts: tuple[str, ...] = ()
    """See `larm.model.document.Document`."""
    lastmods: Sequence[tuple[str, int]] | None = None
    """Of a sitemap: addresses with the Unix seconds of their last change; None: it is none."""


_SELF_CLOSED = re.compile(  # well-formed XML that an HTML parser takes for a start tag
    rb"<(script|style|title|iframe|textarea|noscript|a|div|span|p|h[1-6]|td|th|tr|li|ul|ol|dl|i|b|em|strong)\b([^<>]*)/>"
)


# the end of the page ends a tag that is open, or each such tag would look through all the rest
_TEMPLATE = re.compile(rb"<(/?)template(?=[\s/>])([^>]*+)(?:>|\Z)", re.IGNORECASE)
_SHADOW = re.compile(rb"\sshadowrootmode\s*=", re.IGNORECASE)


# the end of the page ends these, too: see above
_SCRIPT_OR_TEXT = re.compile(rb"<(script|style)\b.*?(?:</\1|\Z)|<!\[CDATA\[(.*?)(\]\]>|\Z)", re.DOTALL)


def as_html(body: bytes, mime: str) -> bytes:
    """The page for an HTML parser: in XHTML an empty ``<script/>`` has ended, in HTML all that follows would be script.

    And what is CDATA there is text, not a comment.
    """
    if mime != "application/xhtml+xml":
        return body
    body = _SELF_CLOSED.sub(rb"<\1\2></\1>", body)
    return _SCRIPT_OR_TEXT.sub(_as_text, body) if b"<![CDATA[" in body else body


def _as_text(found: re.Match[bytes]) -> bytes:
    return found[2].replace(b"&", b"&amp;").replace(b"<", b"&lt;") if found[3] else found[0]


def with_shadows(body: bytes) -> bytes:
    """The page with what a browser shows at once of its templates in no template (see `Reading.shadowed`)."""
    shown: list[bool] = []  # of the templates that are open

    def renamed(tag: re.Match[bytes]) -> bytes:
        if not tag[1]:
            shown.append(_SHADOW.search(tag[2]) is not None)
            return b"<x-shadow%b>" % tag[2] if shown[-1] else tag[0]
        return b"</x-shadow> " if shown and shown.pop() else tag[0]

    return _TEMPLATE.sub(renamed, body)
