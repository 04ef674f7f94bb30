"""The numbers that lexbor has for the names of elements: a tree is walked by them. Computed once, then constant; any thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from larm.processing.page import LINKING, SPEAKING
from larm.processing.readable import HIDDEN


def nodes(html: str | bytes) -> Iterator[LexborNode]:
    """All of them, in their order."""
    root = LexborHTMLParser(html).root
    return iter(()) if root is None else root.traverse(include_text=True)


def ids(names: frozenset[str]) -> dict[int, str]:
    """The numbers of some names."""
    tree = LexborHTMLParser("")
    return {tree.create_node(name).tag_id: name for name in names}


def _id(name: str) -> int:
    (number,) = ids(frozenset((name,)))
    return number


TEXT_ID: Final = next(node.tag_id for node in nodes("x") if node.is_text_node)
ANCHOR_ID: Final = _id("a")
FRAME_ID: Final = _id("frame")
IMAGE_ID: Final = _id("img")
NOFRAMES_ID: Final = _id("noframes")
NOSCRIPT_ID: Final = _id("noscript")
SCRIPT_ID: Final = _id("script")
SVG_ID: Final = _id("svg")
TITLE_ID: Final = _id("title")
HIDDEN_IDS: Final = frozenset(ids(HIDDEN))
LINKING_IDS: Final = ids(LINKING)
SPEAKING_IDS: Final = ids(SPEAKING)
