"""Page: what a parser found in a page, before anything is resolved. Made by a parser, read by the `Assembler`; one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from larm.processing.readable import names

Attributes = Mapping[str, str | None]
"""Of an element: names in lower case; None is the value of an attribute without one."""
Element = tuple[str, Attributes, str]
"""Tag, attributes and, of ``<a>``, the text within, as it stands there."""

LINKING = names("a area audio embed frame iframe img input link object script source track video")
"""Elements that may lead somewhere."""
SPEAKING = names("base meta")
"""Elements that say something about the page."""

MAX_LINKS = 50_000
"""Elements of a page that may lead somewhere; a page with more of them is a trap or a mistake."""


class Page(NamedTuple):
    """One page as parsed."""

    title: str
    text: str
    elements: Sequence[Element]
    """Those of LINKING, in document order."""
    about: Sequence[Element]
    """Those of SPEAKING."""
    charset: str
    warnings: Sequence[str] = ()
