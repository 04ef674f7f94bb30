"""Parts of a page's text: the main text, what is around it (menus, headers, footers, side boxes), the headings. Pure.

The parsers walk a page once and write its text down with marks: where a block begins, where a box begins and ends, where a link
begins. `split` takes that apart. On a plain page, one that has nothing of a magazine and is not half menus (documentation,
mostly), all but the menus is main text; of the others `larm.processing.main_text` looks at each block. No word is lost.

Most plain pages are read in one pass, and taken apart in it: ``regular/text.pxi`` does what is done with `_plain` here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from larm.processing.boxes import FURNITURE, MAIN, NAVIGATION, Box
from larm.processing.main_text import Block, blocks, scores
from larm.processing.page import MAX_HEADINGS
from larm.processing.readable import names, squeeze_line

HEADINGS: Final = names("h1 h2 h3 h4 h5 h6")

# Marks: NUL, which a parser never passes on, so that no page has them, and white space.
EDGE: Final = "\0"
BLOCK: Final = "\0\n"
PARAGRAPH: Final = "\0 "
ITEM: Final = "\0\t"
HEADING: Final = "\0\r"
"""Where one begins, and where it ends."""
BOX: Final = "\0\f"
BOX_END: Final = "\0\v"
"""Of boxes that have a kind."""
LIGHT_BOX: Final = "\0\x1c"
LIGHT_BOX_END: Final = "\0\x1d"
"""Of boxes that have a weight alone."""
ANCHOR: Final = "\1"
"""A link. Some pages have this character; then a link more or less is counted."""

_MARKS = dict.fromkeys(names("p pre blockquote td th"), PARAGRAPH) | dict.fromkeys(names("li dt dd"), ITEM)
_MARKS |= dict.fromkeys(HEADINGS, HEADING) | {"br": "\n"}

MAX_TITLE: Final = 100
"""Characters of a heading that stands for a title."""

MOST: Final = 0.5
"""Share of the text outside menus that the menus of a plain page may have, and that a main part must have to be believed."""

_CLEAN = bytes.maketrans(b"\0\x1c\x1d", b"\n\n\n")
_EITHER = MAIN | NAVIGATION
_FURNISHED = 0.02
"""Share of the text outside menus that is furniture, in a page that is no plain one."""
_LEAST = 0.2
"""Share of it that may be main text of a page full of links, which wants to be found as such."""


def mark(tag: str) -> str:
    """What a parser writes where a block element begins."""
    return _MARKS.get(tag, BLOCK)


class Parts(NamedTuple):
    """A page's text, taken apart."""

    main: str = ""
    other: str = ""
    headings: Sequence[str] = ()


def title_of(title: str, headings: Sequence[str]) -> str:
    """The title of a page, or its first heading (YIOOP-15)."""
    return title if title.strip() or not headings else headings[0][:MAX_TITLE]


def split(
    marked: str,
    boxes: Sequence[Box],
    anchors: Sequence[int],
    headings: Sequence[str] | None = None,
    plain: tuple[str, str] | None = None,
) -> Parts:
    """Takes a text with marks apart. ``boxes`` as they begin; ``anchors``: characters of the links.

    What is known already need not be found in it. ``headings``: what is between their marks; ``plain``: main and other text.
    """
    if plain is None:
        main, other = _plain(marked, boxes) or _by_blocks(marked, boxes, anchors)
        plain = _clean(main).strip(), _clean(other).strip() if other else ""
    headings = _headings(marked.split(HEADING)[1::2] if headings is None else headings)
    return Parts(*plain, headings)


def _clean(text: str) -> str:
    """Without marks; by way of bytes, as `str.translate` takes thirty times as long."""
    return text.encode("utf-8", "surrogatepass").translate(_CLEAN, b"\1").decode("utf-8", "surrogatepass")


def _headings(marked: Sequence[str]) -> list[str]:
    found = [squeeze_line(each if each.isprintable() else _clean(each)) for each in marked]  # printable: nothing to clean
    return [each for each in found if each][:MAX_HEADINGS]


def _plain(marked: str, boxes: Sequence[Box]) -> tuple[str, str] | None:
    """(main, other) of a plain page, by the kinds of its boxes; None for any other."""
    for _, kind in boxes:
        if kind & FURNITURE and not kind & NAVIGATION:
            return None
    areas = list(_areas(marked, boxes))
    named = menus = rest = 0
    for kinds, text in areas:
        if kinds & NAVIGATION:
            menus += len(text)
        elif kinds & MAIN:
            named += len(text)
        else:
            rest += len(text)
    if named <= rest and menus > MOST * (named + rest):
        return None
    beside = {NAVIGATION, _EITHER, 0} if named > rest else {NAVIGATION, _EITHER}
    main = "".join([text for kinds, text in areas if kinds & _EITHER not in beside])
    return main, "".join([text for kinds, text in areas if kinds & _EITHER in beside])


def _areas(marked: str, boxes: Sequence[Box]) -> Iterator[tuple[int, str]]:
    """(kinds of the boxes around it, text): each as long as the kinds are the same."""
    around: list[int] = []
    kinds = begin = 0
    coming = (kind for _, kind in boxes if kind)
    ends = _places(marked, BOX_END)
    for at, opens in sorted([(at, True) for at in _places(marked, BOX)] + [(at, False) for at in ends]) if ends else ():
        before = kinds
        if opens:
            around.append(kinds)
            kinds |= next(coming, 0)
        elif around:
            kinds = around.pop()
        if kinds != before:
            yield before, marked[begin:at]
            begin = at
    yield kinds, marked[begin:]


def _places(marked: str, mark: str) -> list[int]:
    """Where the mark stands. Its second character is rare, and one character is found at a tenth of the cost of two."""
    found: list[int] = []
    sign = mark[1]
    at = marked.find(sign)
    while at >= 0:
        if marked[at - 1 : at] == EDGE:
            found.append(at - 1)
        at = marked.find(sign, at + 1)
    return found


def _by_blocks(marked: str, boxes: Sequence[Box], anchors: Sequence[int]) -> tuple[str, str]:
    pieces = f"\n{marked}".split(EDGE)
    page = blocks(pieces, iter(boxes), iter(anchors))
    chosen = _choose(page)
    main = [pieces[number] for number, *_ in chosen]
    kept = {number for number, *_ in chosen}
    other = [piece for number, piece in enumerate(pieces) if number not in kept]
    return EDGE.join(main), EDGE.join(other)


def _choose(page: list[Block]) -> list[Block]:
    """The blocks of the main text."""
    text = furniture = 0
    for block in page:
        kinds = block[-1]
        if not kinds & NAVIGATION:
            text += block[3]
            if kinds & FURNITURE:
                furniture += block[3]
    chosen = [block for block, score in zip(page, scores(page), strict=True) if score > 0]
    kept = sum([block[3] for block in chosen])
    if not kept or (kept < _LEAST * text and furniture <= _FURNISHED * text):
        chosen = [block for block in page if not block[-1] & NAVIGATION] or page
    return chosen
