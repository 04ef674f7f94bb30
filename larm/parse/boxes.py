"""What the name of a box says about its content: whether it is the page's own text or a menu, a comment, an advertisement.

A box is an element that holds blocks of text (`BOXES`). Its tag, the words of its class and id, its role and its itemprop each
have a weight in `larm.parse.box_words`, and the sum counts for all that is in the box. Called by the parsers for each box
of each page, on all fetcher threads; what was once looked up is kept, by single operations on dictionaries.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import fsum
from typing import Final, NamedTuple

from larm.parse.box_words import FURNITURE_WORDS, ROLES, TAGS, WORDS
from larm.parse.readable import names

BOXES: Final = names(
    "article aside blockquote button center dd details dialog div dl figcaption figure footer form header li main nav ol p"
    " section select table td ul"
)

NAVIGATION: Final = 1
"""Never main text, where a page says plainly which part is its main one."""
MAIN: Final = 2
"""The page says that this is its main part."""
FURNITURE: Final = 4
"""Of the kind that surrounds the articles of magazines, shops and blogs, even within their main part."""

WITH_ID = names("div form table ul")  # the id of other boxes is the address of a chapter
_NAVIGATION_TAGS = names("aside footer header nav")
_NAVIGATION_ROLES = names("banner complementary contentinfo navigation search")
_NAVIGATION_WORDS = names(
    "banner breadcrumb breadcrumbs crumbs footer mainmenu masthead menu nav navbar navfooter navheader navi navigation nosearch"
    " pager pagination search searchbox searchform searchmenu sidebar sidenav skip sphinxsidebar submenu tagline toolbar topbar"
    " topmenu"
)
_FURNITURE_TAGS = names("article aside")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
SHORTEST = 3
_FAINT = 0.2  # what weighs less changes nothing but the time that a page takes
_KEPT = 20_000  # names; generated ones would fill the memory


class Box(NamedTuple):
    """What is known of a box by its names."""

    weight: float
    kind: int
    """NAVIGATION, MAIN and FURNITURE, added up."""


class BoxesOf(dict[str | None, Box | None]):
    """Boxes of one tag that have no other attribute than a class, by that class: most boxes are found here at once."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag

    def __missing__(self, class_: str | None) -> Box | None:
        if len(self) >= _KEPT:
            self.clear()
        box = self[class_] = weigh_names((self.tag, class_, None, None, None, False))
        return box


def weigh(tag: str, attributes: Mapping[str, str | None]) -> Box | None:
    """None for a box that says nothing."""
    hidden = "hidden" in attributes or hides(attributes.get("style"))
    ident = attributes.get("id") if tag in WITH_ID else None
    return weigh_names((tag, attributes.get("class"), ident, attributes.get("role"), attributes.get("itemprop"), hidden))


def hides(style: str | None) -> bool:
    """Whether that is the style of a box that nobody sees."""
    return style is not None and "none" in style and "display:none" in style.replace(" ", "")


@lru_cache(maxsize=_KEPT)
def weigh_names(names: tuple[str, str | None, str | None, str | None, str | None, bool]) -> Box | None:
    """The same by (tag, class, id, role, itemprop, whether it is hidden). ``id``: None for boxes of which it says nothing."""
    tag, class_, ident, role, itemprop, hidden = names
    weight, kind = _words(class_) if class_ else (0.0, 0)
    if ident and "." not in ident:  # LDAPObject.search is an entry of a manual, and no field to search in
        more, also = _words(ident)
        weight, kind = weight + more, kind | also
    weight += TAGS.get(tag, 0.0) + ROLES.get(role or "", 0.0) + ROLES.get(itemprop or "", 0.0) + ROLES["hidden"] * hidden
    if tag in _NAVIGATION_TAGS or role in _NAVIGATION_ROLES:
        kind |= NAVIGATION
    if tag == "main" or role == "main":
        kind |= MAIN
    if tag in _FURNITURE_TAGS:
        kind |= FURNITURE
    return Box(round(weight, 2), kind) if kind or abs(weight) >= _FAINT else None


@lru_cache(maxsize=_KEPT)
def _words(text: str) -> tuple[float, int]:
    """The weight and the kind of a class or an id."""
    found = {word.lower() for word in WORD.findall(text) if len(word) >= SHORTEST}
    kind = NAVIGATION * (not found.isdisjoint(_NAVIGATION_WORDS)) + FURNITURE * (not found.isdisjoint(FURNITURE_WORDS))
    return fsum([WORDS.get(word, 0.0) for word in found]), kind  # the same in any order, which differs from run to run
