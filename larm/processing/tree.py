"""A page of HTML by the tree that lexbor makes of it, which parses as browsers do (WHATWG HTML 13.2) and without the GIL.

Called by `larm.processing.html` for the pages that `larm.processing.regular` leaves to it. The tree is walked once. lexbor's
CSS selectors are not used: setting up the first query of a page costs more than the walk. Nothing here recurses, however deep a
page is nested. Pure; any thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from larm.processing.hostile import cut
from larm.processing.noscript import closed
from larm.processing.page import LINKED_DATA, MAX_LINKS, Element, Reading
from larm.processing.parts import EDGE
from larm.processing.tag_ids import (
    ANCHOR_ID,
    FRAME_ID,
    HIDDEN_IDS,
    IMAGE_ID,
    LINKING_IDS,
    NOFRAMES_ID,
    SCRIPT_ID,
    SPEAKING_IDS,
    TEXT_ID,
    nodes,
)
from larm.processing.walk import BLOCKS, Walked, skim, walk

_ANCHOR_NODES = 100  # enough for 200 characters
ANCHOR_DEPTH = 6  # levels between an anchor and an image or a script in it
ANCHOR_WORK = 300_000_000  # bytes of page x anchors that may be read the quick way: a tenth of a second where they are nested
FEW = 12  # links and metas: pages with frames have little else
FRAME = re.compile(rb"<frame\s[^>]*>", re.IGNORECASE)


def read_tree(body: bytes, *, text: bool) -> tuple[Reading, list[str]]:
    """(what is in a page, warnings). ``body``: UTF-8; ``text``: False where no text is wanted."""
    body, warnings = cut(body)
    root = _root(closed(body))
    title, marked, boxes, found, odd, headings = Walked() if root is None else walk(root) if text else skim(root)
    kept = list(found)
    if len(kept) < FEW and (frames := FRAME.findall(body)) and not any(tag == FRAME_ID for tag, _ in kept):
        kept += _frames(b"".join(frames))
    if len(kept) > MAX_LINKS:
        warnings = [*warnings, f"{len(kept)} links and the like; those after the first {MAX_LINKS} are ignored"]
        del kept[MAX_LINKS:]
    linked_data = _linked_data(kept) if text else []
    elements, about, anchors = _elements(kept, odd, ANCHOR_WORK // (len(body) + 1))
    return Reading(title, marked, boxes, elements, about, anchors, headings, _language(root), linked_data), warnings


def _root(body: bytes) -> LexborNode | None:
    """lexbor takes any bytes, and gives up only where it gets no more memory; then MemoryError is raised."""
    try:
        return LexborHTMLParser(body).root
    except SelectolaxError as error:
        raise MemoryError(str(error)) from error


def _linked_data(kept: Sequence[tuple[int, LexborNode]]) -> list[str]:
    return [node.text() for tag, node in kept if tag == SCRIPT_ID and node.attributes.get("type") == LINKED_DATA]


def _language(root: LexborNode | None) -> str:
    attributes = {} if root is None else root.attributes
    return attributes.get("lang") or attributes.get("xml:lang") or ""


def _frames(tags: bytes) -> list[tuple[int, LexborNode]]:
    """Frames in a place where the standard ignores them, behind text that is meant for browsers without frames."""
    return [(node.tag_id, node) for node in nodes(b"<frameset>" + tags) if node.tag_id == FRAME_ID]


def _elements(
    kept: Sequence[tuple[int, LexborNode]], odd: Sequence[LexborNode], quick: int
) -> tuple[list[Element], list[Element], list[int]]:
    """(those of LINKING, those of SPEAKING, characters of each anchor). ``quick``: anchors that may be read the quick way."""
    careful = {address for node in odd if (address := _anchor_around(node))}
    elements: list[Element] = []
    about: list[Element] = []
    anchors: list[int] = []
    behind: list[Element] = []
    anchor, add, note = ANCHOR_ID, elements.append, anchors.append
    for tag, node in kept:
        attributes = node.attributes
        if tag == anchor:
            href = attributes.get("href")
            if (not href or href[0] == "#") and "xlink:href" not in attributes:
                note(0)
                continue  # leads nowhere (LARM-102)
            quick -= 1
            words = node.text(True, EDGE) if quick > 0 else EDGE  # nearly always one text node
            if EDGE in words or (careful and node.mem_id in careful):
                words = _within(node)
            add(("a", attributes, words))
            note(len(words))
        elif tag in LINKING_IDS:
            elements.append((LINKING_IDS[tag], attributes, ""))
        elif tag == NOFRAMES_ID:
            behind += _without_frames(node)
        else:
            about.append((SPEAKING_IDS[tag], attributes, ""))
    return elements + behind if behind else elements, about, anchors


def _without_frames(noframes: LexborNode) -> list[Element]:
    """What is said to browsers without frames leads somewhere, too; the parser has read it as one text."""
    body, _ = cut(noframes.text().encode())
    root = LexborHTMLParser(closed(body)).root
    if root is None:
        return []
    walked = walk(root)
    kept = [each for each in walked.kept if each[0] != NOFRAMES_ID]
    return _elements(kept[:MAX_LINKS], walked.odd, ANCHOR_WORK // (len(body) + 1))[0]


def _anchor_around(node: LexborNode | None) -> int:
    """The address of the anchor that a node stands in; 0 if it stands in none."""
    for _ in range(ANCHOR_DEPTH):
        if node is None or node.tag_id == ANCHOR_ID:
            break
        node = node.parent
    return node.mem_id if node is not None and node.tag_id == ANCHOR_ID else 0


def _within(anchor: LexborNode) -> str:
    """The text in an anchor, with the ALT of its images."""
    words: list[Any] = []
    within = anchor.traverse(include_text=True)
    for node in islice(within, _ANCHOR_NODES):
        tag = node.tag_id
        if tag == TEXT_ID:
            text = node.text_content
            words.append(" " if text is None or text[:1] == EDGE else text)
        elif tag in BLOCKS:
            words.append(" ")
        elif tag == IMAGE_ID:
            words.append(f" {node.attributes.get('alt') or ''} ")
        elif tag in HIDDEN_IDS and node.first_child is not None:
            next(within)
    return "".join(words)
