"""What an element means to who reads a page, by its name: the table that all readers of HTML go by. Constant; any thread."""

from typing import Final, NamedTuple

from larm.parse.boxes import BOXES, BoxesOf
from larm.parse.page import LINKING, SPEAKING
from larm.parse.readable import BLOCK, HIDDEN, names

_MORE: Final = names("noframes noscript")
_SPECIAL: Final = names("br canvas desc rp rt svg template time")
_PARTING: Final = names("audio canvas desc embed iframe img input object svg time video")
"""Boxes of their own within a line. In a drawing each element is one."""

_UNSEEN: Final = names("rp rt template")  # readings stand inside of words, which are whole without them

PLAIN: Final = "\n"
PARAGRAPH: Final = " "
ITEM: Final = "\t"
HEADING: Final = "\r"
"""Marks: what kind of block a text is in; behind a heading it has that mark, too."""

_HEADINGS: Final = names("h1 h2 h3 h4 h5 h6")
_MARKS = dict.fromkeys(names("p pre blockquote td th"), PARAGRAPH) | dict.fromkeys(names("li dt dd"), ITEM)
_MARKS |= dict.fromkeys(_HEADINGS, HEADING)


class Meaning(NamedTuple):
    """Of one name."""

    mark: str = ""
    """Of the text in a block; empty: it is none."""
    heading: bool = False
    boxes: BoxesOf | None = None
    """What its class says, if it is a box (`larm.parse.boxes`)."""
    leads: bool = False
    """It may lead somewhere."""
    says: bool = False
    """It says something about the page."""
    hidden: bool = False
    """No reader sees what is in it."""
    parts: bool = False
    """A word behind it is another one than the word before."""
    more: bool = False
    """What is in it is HTML for other browsers than ours, in which all is one text; it may lead somewhere, too."""


def _meaning(name: str) -> Meaning:
    return Meaning(
        mark=_MARKS.get(name, PLAIN) if name in BLOCK and name != "br" else "",
        heading=name in _HEADINGS,
        boxes=BoxesOf(name) if name in BOXES else None,
        leads=name in LINKING,
        says=name in SPEAKING,
        hidden=name in HIDDEN or name in _MORE or name in _UNSEEN,
        parts=name in _PARTING,
        more=name in _MORE,
    )


ELEMENTS: Final = {name: _meaning(name) for name in sorted(BLOCK | HIDDEN | LINKING | SPEAKING | _MORE | _SPECIAL)}
"""All that are more than a part of the text around them."""
NOTHING: Final = Meaning()
"""Of any other name."""
