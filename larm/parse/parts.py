"""Parts of a page's text: the main text, what is around it (menus, headers, footers, side boxes), the headings. Pure.

On a plain page all but the menus is main text: a page without anything of a magazine whose menus are not most of it, mostly
documentation. Of any other page `larm.parse.main_text` scores each block. The page's own ``<h1>`` is main text on both. No
word is lost.
"""

from collections.abc import Sequence
from itertools import compress, pairwise
from operator import not_
from typing import Final, NamedTuple

from larm.parse.boxes import APART, BESIDE, FURNITURE, HEADLINE, MAIN, NAVIGATION
from larm.parse.main_text import ENDS, scores
from larm.parse.page import MAX_HEADINGS, Block, Reading
from larm.parse.readable import squeeze_line

MAX_TITLE: Final = 100
"""Characters of a heading that stands for a title."""

_MENUS: Final = 2.0
"""Size of the menus of a plain page that only their names tell, as a multiple of the other text."""

_NAME = "NAME"
_FURNISHED = 0.02
"""Share of the text outside menus that is furniture, in a page that is no plain one."""
_APART = 0.5
"""Characters of main text that each character of surplus before it outweighs."""
_SURPLUS = -2.0
"""Score below which a block is surely no main text."""
_LINKS = 0.5
"""Share of a block that is links, if it leads elsewhere."""
_FEW_LINKS = 0.2
"""The same of a sentence at most."""
_SENTENCE = 100
"""Characters; a shorter text may be an entry of a menu."""
_SPECIAL = APART | HEADLINE
"""Kinds of blocks whose place in the whole page decides."""
_ANCHORS = " #\xa7\xb6"
"""Signs of a heading's link to itself."""
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
    special = [at for at, block in enumerate(page.blocks) if block[3] & _SPECIAL]
    blocks = _with_sides(page.blocks, special) if special else page.blocks
    chosen = (None if page.furnished else _plain(blocks)) or _by_blocks(blocks)
    if special:
        _keep_headline(page, blocks, special, chosen)
    texts = [block[0] for block in blocks]
    main, other = "\n".join(compress(texts, chosen)), "\n".join(compress(texts, map(not_, chosen)))
    return Parts(main, other, *headings_of(page))


def _with_sides(blocks: Sequence[Block], special: Sequence[int]) -> Sequence[Block]:
    """Let forms, pop-ups and comments be beside the text, unless they are most of it: some frameworks make each page a form."""
    apart = [blocks[at] for at in special if blocks[at][3] & (APART | NAVIGATION) == APART]
    if not apart or 2 * _length(apart) > _length([block for block in blocks if not block[3] & NAVIGATION]):
        return blocks
    sides = NAVIGATION | BESIDE
    return [Block(*each[:3], each[3] | sides, each[4]) if each[3] & (APART | HEADLINE) == APART else each for each in blocks]


def _length(blocks: Sequence[Block]) -> int:
    return sum([len(block[0]) for block in blocks])


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
            menus += 0 if kinds & BESIDE else len(text)
        elif kinds & MAIN:
            named += len(text)
        else:
            rest += len(text)
    if not named + rest or (named <= rest and menus > _MENUS * (named + rest)):
        return None
    asked, wanted = (MAIN | NAVIGATION, MAIN) if named > rest else (NAVIGATION, 0)
    chosen = [kinds & asked == wanted for _, _, _, kinds, _ in blocks]
    if menus:
        _add_sentences(blocks, chosen)
    return chosen


def _add_sentences(blocks: Sequence[Block], chosen: list[bool]) -> None:
    """Add the side boxes of a manual: sentences amid the main text in a box that only its name tells as a menu."""
    for at in range(chosen.index(True), len(chosen) - chosen[::-1].index(True)):
        text, mark, _, kinds, linked = blocks[at]
        if kinds & (NAVIGATION | BESIDE) == NAVIGATION and len(text) > _SENTENCE and mark in " \n":
            chosen[at] = text[-1] in ENDS and linked <= _FEW_LINKS * len(text)


def _by_blocks(blocks: Sequence[Block]) -> list[bool]:
    """The same of any page."""
    text = furniture = kept = 0
    found = scores(blocks)
    chosen = [score > 0 and not block[3] & BESIDE for score, block in zip(found, blocks, strict=True)]
    _cut_tail(blocks, chosen, found)
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


def _cut_tail(blocks: Sequence[Block], chosen: list[bool], found: Sequence[float]) -> None:
    """Drop what stands apart behind the main text, such as comments, then headings and links at its end.

    Text stands apart if it is less than half as long as the surplus before it.
    """
    best = total = 0.0
    end = 0
    for at, block in enumerate(blocks):
        if chosen[at]:
            total += len(block[0])
            if total > best:
                best, end = total, at + 1
        elif total and found[at] < _SURPLUS:
            total = max(0.0, total - _APART * len(block[0]))
    chosen[end:] = [False] * (len(blocks) - end)
    for at in range(end - 1, -1, -1):
        if chosen[at]:
            text, mark, _, _, linked = blocks[at]
            if mark != "\r" and linked <= _LINKS * len(text):
                return
            chosen[at] = False


def _keep_headline(page: Reading, blocks: Sequence[Block], special: Sequence[int], chosen: list[bool]) -> None:
    """Add the page's own ``<h1>``, which many templates put into a header, and drop the site's name before it.

    The own one is the next before the longest block of the main text, or else the first one.
    """
    found = [at for at in special if blocks[at][3] & (HEADLINE | BESIDE) == HEADLINE]
    own = [at for at in found if _is_own(blocks[at], page)]
    if own:
        longest = max(compress(range(len(blocks)), chosen), key=lambda at: len(blocks[at][0]), default=0)
        headline = max([at for at in own if at <= longest], default=own[0])
        for at in found:
            chosen[at] = at == headline or (chosen[at] and (at > headline or at in own))


def _is_own(block: Block, page: Reading) -> bool:
    """Return False for an ``<h1>`` with the site's name.

    The page's title begins with its own name. The site's name is a link, or stands in a header while the title ends with it
    and begins with another heading.
    """
    text, _, _, kinds, linked = block
    name, title = squeeze_line(text).rstrip(_ANCHORS), squeeze_line(page.title)
    if title.startswith(name):
        return True
    if linked > _LINKS * len(text):
        return False
    in_header = kinds & (NAVIGATION | MAIN) == NAVIGATION
    return not (
        in_header and title.endswith(name) and any(title.startswith(squeeze_line(each)) for each in page.headings if each)
    )
