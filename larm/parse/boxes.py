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

from larm.parse.box_words import FURNITURE_WORDS, NAVIGATION_WORDS, PART_WORDS, ROLES, TAGS, WORDS
from larm.parse.readable import names

BOXES: Final = names(
    "article aside blockquote button center dd details dialog div dl figcaption figure footer form h1 header li main nav ol p"
    " section select table td ul"
)

NAVIGATION: Final = 1
"""By its name or place a menu, header or footer: never main text, where a page says plainly which part is its main one."""
MAIN: Final = 2
"""The page says that this is its main part."""
FURNITURE: Final = 4
"""Of the kind that surrounds the articles of magazines, shops and blogs, even within their main part."""
HEADLINE: Final = 8
"""An ``<h1>``, but for one that is named after the site."""
BESIDE: Final = 16
"""By its structure a menu, a side box, a dialog or the options of a form: never main text.

No ``<h1>`` in it is the page's own."""
APART: Final = 32
"""A form, a pop-up or a comment: no main text either, unless it is most of the page."""

WITH_ID = names("div form table ul")  # the id of other boxes is the address of a chapter
_OF_TAGS = dict.fromkeys(names("aside dialog footer nav select"), NAVIGATION | BESIDE)
_OF_TAGS |= {"form": APART, "header": NAVIGATION, "main": MAIN}
_OF_ROLES: dict[str | None, int] = dict.fromkeys(
    names("alertdialog complementary contentinfo dialog menu menubar navigation search"), NAVIGATION | BESIDE
)
_OF_ROLES |= {"banner": NAVIGATION, "comment": APART, "main": MAIN}
_NO_FURNITURE = names("dl h1 table")  # a manual has a list of tags and a table of related things
_SITE_WORDS = names("brand logo site")
_SECTIONS = names("chapter outline refentry refsect sect section subsection subsubsection")
_CONSENT = re.compile("consent|cookie|gdpr")
_POPUPS = names("lightbox modal popup")
_SAYING = frozenset(WORDS) | NAVIGATION_WORDS | FURNITURE_WORDS
_STATE = re.compile(r"(?<![^\s_-])(?:for|has|is|no|on|with|without)[-_A-Z]")  # such as ``no-sidebar``
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
SHORTEST = 3
_FAINT = 0.2  # what weighs less changes nothing but the time that a page takes
_KEPT = 20_000  # names; generated ones would fill the memory


class Box(NamedTuple):
    """What is known of a box by its names."""

    weight: float
    kind: int
    """Those of the constants above that hold, added up."""


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
    ident = (tag in WITH_ID and attributes.get("id")) or ""
    said = ident if says(ident) else None
    return weigh_names((tag, attributes.get("class"), said, attributes.get("role"), attributes.get("itemprop"), hidden))


def hides(style: str | None) -> bool:
    """Whether that is the style of a box that nobody sees."""
    return style is not None and "none" in style and "display:none" in style.replace(" ", "")


@lru_cache(maxsize=_KEPT)
def weigh_names(names: tuple[str, str | None, str | None, str | None, str | None, bool]) -> Box | None:
    """The same by (tag, class, id, role, itemprop, whether it is hidden). ``id``: None if it does not say anything (`says`)."""
    tag, class_, ident, role, itemprop, hidden = names
    if tag == "h1":
        return Box(0.0, NAVIGATION if class_ and not _SITE_WORDS.isdisjoint(_found(class_)) else HEADLINE)
    weight, kind = _words(class_) if class_ else (0.0, 0)
    if ident:
        more, also = _words(ident)
        weight += more
        if also and _names_part(ident, class_ or ""):
            kind |= also if len(_found(ident)) > 1 else also & NAVIGATION  # ``meta`` may be a chapter, too
    weight += TAGS.get(tag, 0.0) + ROLES.get(role or "", 0.0) + ROLES.get(itemprop or "", 0.0) + ROLES["hidden"] * hidden
    kind |= _OF_TAGS.get(tag, 0) | _OF_ROLES.get(role, 0) | APART * (itemprop == "comment")
    if tag in _NO_FURNITURE:
        kind &= ~FURNITURE
    return Box(round(weight, 2), kind) if kind or abs(weight) >= _FAINT else None


def _names_part(ident: str, class_: str) -> bool:
    """Return True if an id names a part of the page, such as ``main-menu``, and no topic.

    A topic has other words in its id, such as ``CATALOG-PG-SUBSCRIPTION``, or its box is a section of a manual.
    """
    return _found(ident) <= PART_WORDS and _SECTIONS.isdisjoint(_found(class_))


@lru_cache(maxsize=_KEPT)
def says(ident: str) -> bool:
    """Return True if an id has words that say what a box is, which most ids do not have.

    ``LDAPObject.search`` is an entry of a manual, and no field to search in.
    """
    return "." not in ident and (not _SAYING.isdisjoint(map(str.lower, WORD.findall(ident))) or _is_apart(ident.lower()))


def _is_apart(lowered: str) -> bool:
    return _CONSENT.search(lowered) is not None or not _POPUPS.isdisjoint(lowered.split())


@lru_cache(maxsize=_KEPT)
def _words(text: str) -> tuple[float, int]:
    """The weight and the kind of a class or an id."""
    found, apart = _found(text), _is_apart(text.lower())
    if not apart and found.isdisjoint(_SAYING):
        return 0.0, 0
    stateful = _STATE.search(text) is not None
    named = _found(" ".join([name for name in text.split() if not _STATE.search(name)])) if stateful else found
    kind = NAVIGATION * (not named.isdisjoint(NAVIGATION_WORDS)) + FURNITURE * (not named.isdisjoint(FURNITURE_WORDS))
    if apart:
        kind = kind & ~FURNITURE | APART  # manuals ask for consent, too
    return fsum([WORDS.get(word, 0.0) for word in found]), kind  # the same in any order, which differs from run to run


def _found(text: str) -> set[str]:
    return {word for word in map(str.lower, WORD.findall(text)) if len(word) >= SHORTEST}
