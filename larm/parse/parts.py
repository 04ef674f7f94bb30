"""Parts of a page's text: the main text, what is around it (menus, headers, footers, side boxes), the headings. Pure.

On a plain page all but the menus is main text: a page without anything of a magazine whose menus are not most of it, mostly
documentation. Of any other page `larm.parse.main_text` scores each block. The page's own ``<h1>`` is main text on both. No
word is lost.
"""

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Final, NamedTuple

import msgspec

from larm.parse.boxes import APART, BESIDE, FURNITURE, HEADLINE, MAIN, NAVIGATION
from larm.parse.main_text import ENDS, scores
from larm.parse.page import MAX_HEADINGS, Blocks, Reading
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
_ANCHORS = " #\xa7\xb6"
"""Signs of a heading's link to itself."""
_LEAST = 0.2
"""Share of it that may be main text of a page full of links, which wants to be found as such."""


def _of(asked: int, wanted: int) -> bytes:
    """Return a table for `bytes.translate`: 1 where ``kinds & asked == wanted``, else 0."""
    return bytes([kinds & asked == wanted for kinds in range(256)])


_TEXT, _REST, _MAIN_PART = _of(NAVIGATION, 0), _of(NAVIGATION | MAIN, 0), _of(NAVIGATION | MAIN, MAIN)
_NAMED_MENUS = _of(NAVIGATION | BESIDE, NAVIGATION)
_FREE_APART, _FREE_FURNITURE = _of(NAVIGATION | APART, APART), _of(NAVIGATION | FURNITURE, FURNITURE)
_HEADLINES = _of(HEADLINE | BESIDE, HEADLINE)
_SIDES = bytes([kinds | (NAVIGATION | BESIDE) * (kinds & (APART | HEADLINE) == APART) for kinds in range(256)])
_OTHERS = _of(1, 0)  # inverts flags


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
    """Take the text of a page apart."""
    if not page.blocks:
        return Parts("", "", *headings_of(page))
    blocks = _with_sides(page.blocks)
    chosen = (None if page.furnished else _plain(blocks)) or _by_blocks(blocks)
    _keep_headline(page, blocks, chosen)
    main, other = (compress(blocks.texts, flags) for flags in (chosen, chosen.translate(_OTHERS)))
    return Parts("\n".join(main), "\n".join(other), *headings_of(page))


def _with_sides(blocks: Blocks) -> Blocks:
    """Let forms, pop-ups and comments be beside the text, unless they are most of it: some frameworks make each page a form."""
    apart = _length(blocks, _FREE_APART)
    if not apart or 2 * apart > _length(blocks, _TEXT):
        return blocks
    return msgspec.structs.replace(blocks, kinds=blocks.kinds.translate(_SIDES))


def _length(blocks: Blocks, kinds: bytes) -> int:
    """Return the number of characters in the blocks of some kinds."""
    return sum(compress(blocks.sizes, blocks.kinds.translate(kinds)))


def headings_of(page: Reading) -> tuple[Sequence[str], Sequence[str]]:
    """Return the headings that say something, on one line each, and their places."""
    lines = [" ".join(each.split()) for each in page.headings]
    named = compress(page.places, lines)
    return list(filter(None, lines))[:MAX_HEADINGS], list(named)[:MAX_HEADINGS]


def _plain(blocks: Blocks) -> bytearray | None:
    """Return 1 for each block of a plain page that is main text, else 0, by the kinds of its boxes; None for any other page."""
    menus, named, rest = (_length(blocks, kinds) for kinds in (_NAMED_MENUS, _MAIN_PART, _REST))
    if not named + rest or (named <= rest and menus > _MENUS * (named + rest)):
        return None
    chosen = blocks.kinds.translate(_MAIN_PART if named > rest else _TEXT)
    if menus:
        _add_sentences(blocks, chosen)
    return chosen


def _add_sentences(blocks: Blocks, chosen: bytearray) -> None:
    """Add the side boxes of a manual: sentences amid the main text in a box that only its name tells as a menu."""
    first, end = chosen.index(1), chosen.rindex(1) + 1
    for at in compress(range(first, end), blocks.kinds[first:end].translate(_NAMED_MENUS)):
        size = blocks.sizes[at]
        if size > _SENTENCE and blocks.marks[at] in " \n":
            chosen[at] = blocks.texts[at][-1] in ENDS and blocks.linked[at] <= _FEW_LINKS * size


def _by_blocks(blocks: Blocks) -> bytearray:
    """Return the same for any page."""
    found = scores(blocks)
    chosen = bytearray([score > 0 and not kinds & BESIDE for score, kinds in zip(found, blocks.kinds, strict=True)])
    _cut_tail(blocks, chosen, found)
    kept, text = sum(compress(blocks.sizes, chosen)), _length(blocks, _TEXT)
    if not kept or (kept < _LEAST * text and _length(blocks, _FREE_FURNITURE) <= _FURNISHED * text):
        beside = blocks.kinds.translate(_TEXT)
        return beside if any(beside) else bytearray(b"\1" * len(beside))
    return chosen


def _cut_tail(blocks: Blocks, chosen: bytearray, found: Sequence[float]) -> None:
    """Drop what stands apart behind the main text, such as comments, then headings and links at its end.

    Text stands apart if it is less than half as long as the surplus before it.
    """
    best = total = 0.0
    end = 0
    for at, size in enumerate(blocks.sizes):
        if chosen[at]:
            total += size
            if total > best:
                best, end = total, at + 1
        elif total and found[at] < _SURPLUS:
            total = max(0.0, total - _APART * size)
    chosen[end:] = bytes(len(chosen) - end)
    for at in range(end - 1, -1, -1):
        if chosen[at]:
            if blocks.marks[at] != "\r" and blocks.linked[at] <= _LINKS * blocks.sizes[at]:
                return
            chosen[at] = False


def _keep_headline(page: Reading, blocks: Blocks, chosen: bytearray) -> None:
    """Add the page's own ``<h1>``, which many templates put into a header, and drop the site's name before it.

    The own one is the next before the longest block of the main text, or else the first one.
    """
    found = list(compress(range(len(chosen)), blocks.kinds.translate(_HEADLINES)))
    own = [at for at in found if _is_own(blocks, at, page)]
    if own:
        longest = max(compress(range(len(chosen)), chosen), key=blocks.sizes.__getitem__, default=0)
        headline = max([at for at in own if at <= longest], default=own[0])
        for at in found:
            chosen[at] = at == headline or (chosen[at] and (at > headline or at in own))


def _is_own(blocks: Blocks, at: int, page: Reading) -> bool:
    """Return False for an ``<h1>`` with the site's name.

    The page's title begins with its own name. The site's name is a link, or stands in a header while the title ends with it
    and begins with another heading.
    """
    name, title = squeeze_line(blocks.texts[at]).rstrip(_ANCHORS), squeeze_line(page.title)
    if title.startswith(name):
        return True
    if blocks.linked[at] > _LINKS * blocks.sizes[at]:
        return False
    in_header = blocks.kinds[at] & (NAVIGATION | MAIN) == NAVIGATION
    return not (
        in_header and title.endswith(name) and any(title.startswith(squeeze_line(each)) for each in page.headings if each)
    )
