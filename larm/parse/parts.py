"""Parts of a page's text: the main text, what is around it (menus, headers, footers, side boxes), the headings. Pure.

On a plain page, one that has nothing of a magazine and is not half menus (documentation, mostly), all but the menus is main
text; of the others `larm.parse.main_text` looks at each block. No word is lost.
"""

from collections.abc import Sequence
from itertools import compress, pairwise
from operator import not_
from typing import Final, NamedTuple

from larm.parse.boxes import FURNITURE, MAIN, NAVIGATION
from larm.parse.main_text import scores
from larm.parse.page import MAX_HEADINGS, Block, Reading
from larm.parse.readable import squeeze_line

MAX_TITLE: Final = 100
"""Characters of a heading that stands for a title."""

MOST: Final = 0.5
"""Share of the text outside menus that the menus of a plain page may have, and that a main part must have to be believed."""

_NAME = "NAME"
_FURNISHED = 0.02
"""Share of the text outside menus that is furniture, in a page that is no plain one."""
_LINKS = 0.5
"""Share of a block that is links, if it leads elsewhere."""
_LEAST = 0.2
"""Share of it that may be main text of a page full of links, which wants to be found as such."""


class Parts(NamedTuple):
    """A page's text, taken apart."""

    main: str = ""
    other: str = ""
    headings: Sequence[str] = ()
    places: Sequence[str] = ()
    """See `larm.parse.page.Reading`."""


def title_of(title: str, headings: Sequence[str], text: str = "") -> str:
    """The title of a page, or its first heading (YIOOP-15); of a manual page, as those made of POD, what stands below NAME."""
    if title.strip() or not headings:
        return title
    lines = pairwise(filter(None, map(squeeze_line, text.split("\n")))) if headings[0] == _NAME else ()
    named = (after for line, after in lines if line == _NAME and after not in headings)  # a list of contents has headings
    return next(named, headings[0])[:MAX_TITLE]


def split(page: Reading) -> Parts:
    """Takes the text of a page apart."""
    blocks = page.blocks
    chosen = (None if page.furnished else _plain(blocks)) or _by_blocks(blocks)
    texts = [block[0] for block in blocks]
    main, other = "\n".join(compress(texts, chosen)), "\n".join(compress(texts, map(not_, chosen)))
    return Parts(main, other, *headings_of(page))


def headings_of(page: Reading) -> tuple[Sequence[str], Sequence[str]]:
    """Those that say something, on one line each, and their places."""
    named = zip(page.headings, page.places, strict=True)
    found = [(line, place) for each, place in named if (line := squeeze_line(each))][:MAX_HEADINGS]
    return [line for line, _ in found], [place for _, place in found]


def _plain(blocks: Sequence[Block]) -> list[bool] | None:
    """Of each block of a plain page, whether it is main text: by the kinds of its boxes; None for any other page."""
    named = menus = rest = 0
    for text, _, _, kinds, _ in blocks:
        if kinds & NAVIGATION:
            menus += len(text)
        elif kinds & MAIN:
            named += len(text)
        else:
            rest += len(text)
    if named <= rest and menus > MOST * (named + rest):
        return None
    if named > rest:
        return [kinds & (MAIN | NAVIGATION) == MAIN for _, _, _, kinds, _ in blocks]
    return [not kinds & NAVIGATION for _, _, _, kinds, _ in blocks]


def _by_blocks(blocks: Sequence[Block]) -> list[bool]:
    """The same of any page."""
    text = furniture = kept = 0
    chosen = [score > 0 for score in scores(blocks)]
    _cut_tail(blocks, chosen)
    for block, is_main in zip(blocks, chosen, strict=True):
        size = len(block[0])
        kept += size * is_main
        if not block[3] & NAVIGATION:
            text += size
            if block[3] & FURNITURE:
                furniture += size
    if not kept or (kept < _LEAST * text and furniture <= _FURNISHED * text):
        beside = [not block[3] & NAVIGATION for block in blocks]
        return beside if any(beside) else [True] * len(blocks)
    return chosen


def _cut_tail(blocks: Sequence[Block], chosen: list[bool]) -> None:
    """A main text ends with text: headings and links behind it lead to other pages."""
    for at in range(len(blocks) - 1, -1, -1):
        if chosen[at]:
            text, mark, _, _, linked = blocks[at]
            if mark != "\r" and linked <= _LINKS * len(text):
                return
            chosen[at] = False
