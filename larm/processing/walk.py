"""The walk through the tree of a page: its text with marks (`larm.processing.parts`), and the elements that matter.

Called by `larm.processing.html` on the fetcher threads. Each page is walked once, a node in 80 ns and a block element in 250:
this is a third of the time that such a page takes. Nothing here recurses, however deep a page is nested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from larm.processing.boxes import BOXES, Box, BoxesOf, weigh
from larm.processing.parts import ANCHOR, BOX, BOX_END, HEADING, HEADINGS, LIGHT_BOX, LIGHT_BOX_END, mark
from larm.processing.parts import BLOCK as BLOCK_MARK
from larm.processing.readable import BLOCK, INNER, is_blank
from larm.processing.tag_ids import (
    ANCHOR_ID,
    HIDDEN_IDS,
    IMAGE_ID,
    LINKING_IDS,
    NOFRAMES_ID,
    NOSCRIPT_ID,
    SPEAKING_IDS,
    SVG_ID,
    TEXT_ID,
    TITLE_ID,
    ids,
)

_DRAWN_DEPTH = 20  # levels in an SVG image
_NOSCRIPTS = 100
_KNOWN_BOXES = {number: BoxesOf(name) for number, name in ids(BOXES).items()}
BLOCKS = {
    number: (mark(name), name not in INNER and name not in HEADINGS, _KNOWN_BOXES.get(number))
    for number, name in ids(BLOCK).items()
}
"""By number: (mark, whether its end needs a look, the boxes of this name)."""
_HEADINGS = frozenset(ids(HEADINGS))
_ROOTS = frozenset(ids(frozenset(("html", "head", "body", "frameset"))))
_KEPT = frozenset(LINKING_IDS) | frozenset(SPEAKING_IDS) | {NOFRAMES_ID}
_SPECIAL = _KEPT | HIDDEN_IDS | {NOSCRIPT_ID}
_BLOCK_END, _BOX_END, _LIGHT_BOX_END = (each.encode() for each in (BLOCK_MARK, BOX_END, LIGHT_BOX_END))  # a tenth faster


class Walked(NamedTuple):
    """What one walk through the tree has found."""

    title: str = ""
    marked: str = ""
    """The text with marks (`larm.processing.parts`)."""
    boxes: Sequence[Box] = ()
    kept: Sequence[tuple[int, LexborNode]] = ()
    """The elements that matter, with the numbers of their names."""
    odd: Sequence[LexborNode] = ()
    """What makes the text of an anchor odd."""
    headings: Sequence[str] | None = None
    """What is between their marks; None where that isn't so simple."""


def walk(root: LexborNode) -> Walked:  # noqa: PLR0912, PLR0915  calls would cost a tenth of the page's time
    """With the text. What is asked of most nodes comes first."""
    title = ""
    words: list[str] = []
    kept: list[tuple[int, LexborNode]] = []
    odd: list[LexborNode] = []
    found: list[Box] = []
    headings: list[int] = []
    add, keep = words.append, kept.append
    blocks, of_block, anchor, special, noscripts = BLOCKS, BLOCKS.get, ANCHOR_ID, _SPECIAL, 0
    nodes = root.traverse(include_text=True)
    for node in nodes:
        text = node.text_content
        if text is not None:
            add(text)
            continue
        tag = node.tag_id
        block = of_block(tag)
        if block is not None:
            beginning, closing, known = block
            if known is not None:
                attributes = node.attributes
                if not attributes:
                    box = known[None]
                elif len(attributes) == 1 and "class" in attributes:
                    box = known[attributes["class"]]
                else:
                    box = weigh(known.tag, attributes)
                if box is not None:
                    found.append(box)
                    if box[1]:
                        add(BOX)
                        node.insert_after(_BOX_END)
                    else:
                        add(LIGHT_BOX)
                        node.insert_after(_LIGHT_BOX_END)
                    add(beginning)
                    continue
            add(beginning)
            if closing:  # what follows a block element is to be separated from what is in it
                after = node.next
                if after is None:
                    _close_last(node)
                elif after.tag_id not in blocks and ((text := after.text_content) is None or not text.isspace()):
                    node.insert_after(_BLOCK_END)
            elif tag in _HEADINGS:
                headings.append(len(words))
                node.insert_after(HEADING)
        elif tag == anchor:
            keep((tag, node))
            add(ANCHOR)
        elif tag in special:
            if tag in _KEPT:
                keep((tag, node))
                if tag == IMAGE_ID:
                    odd.append(node)
            if tag in HIDDEN_IDS:
                if tag == TITLE_ID and is_blank(title) and not _is_drawn(node):
                    title = node.text()
                if node.first_child is not None:
                    odd.append(node)
                    next(nodes)  # its text
            elif tag == NOSCRIPT_ID and noscripts < _NOSCRIPTS:
                noscripts += 1
                _silence(node)
    return Walked(title, "".join(words), found, kept, odd, _headings(words, headings))


def _headings(words: Sequence[str], beginnings: Sequence[int]) -> list[str] | None:
    """What is between the marks of headings; None where they are nested, or are not closed."""
    found: list[str] = []
    end = -1
    for begin in beginnings:
        if begin - 1 <= end:  # where its mark is
            return None
        try:
            end = words.index(HEADING, begin)
        except ValueError:
            return None
        found.append("".join(words[begin:end]))
    return found


def skim(root: LexborNode) -> Walked:
    """Without the text. Texts of links are rougher: what is in <noscript> counts, and a word may stick to a block before it."""
    title = ""
    kept: list[tuple[int, LexborNode]] = []
    odd: list[LexborNode] = []
    for node in root.traverse():
        tag = node.tag_id
        if tag in _SPECIAL:
            if tag in _KEPT:
                kept.append((tag, node))
                if tag == IMAGE_ID:
                    odd.append(node)
            if tag in HIDDEN_IDS:
                if tag == TITLE_ID and is_blank(title) and not _is_drawn(node):
                    title = node.text()
                if node.first_child is not None:
                    odd.append(node)
    return Walked(title, kept=kept, odd=odd)


def _is_drawn(title: LexborNode) -> bool:
    """Whether a title is that of an SVG image."""
    parent = title.parent
    for _ in range(_DRAWN_DEPTH):
        if parent is None or parent.tag_id == SVG_ID:
            break
        parent = parent.parent
    return parent is not None and parent.tag_id == SVG_ID


def _close_last(node: LexborNode) -> None:
    """The same for a block element that is the last node of an element that is no block."""
    after, parent = None, node.parent
    if parent is None or parent.tag_id in BLOCKS:
        return
    while after is None and parent is not None and parent.tag_id not in BLOCKS:
        node, after, parent = parent, parent.next, parent.parent
    if after is None or node.tag_id in _ROOTS:
        return
    tag = after.tag_id
    if tag not in BLOCKS and (tag != TEXT_ID or not (after.text_content or "").isspace()):
        node.insert_after(_BLOCK_END)


def _silence(noscript: LexborNode) -> None:
    """What is said to people without scripts is no text of the page; links in it are links."""
    for node in list(noscript.traverse(include_text=True)):
        if node.tag_id == TEXT_ID:
            node.decompose()
