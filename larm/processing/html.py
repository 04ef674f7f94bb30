"""HtmlProcessor: HTML to Document with lexbor, which parses as browsers do (WHATWG HTML 13.2) and without the GIL.

Called on the fetcher threads, which share one processor; it keeps no state. The tree is walked once. lexbor's CSS selectors are
not used: setting up the first query of a page costs more than the walk. Nothing here recurses, however deep a page is nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from larm.model.digest import text_digest
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.processing.assembly import Assembler
from larm.processing.boxes import BOXES, Box, BoxesOf, weigh
from larm.processing.charset import utf8_of
from larm.processing.hostile import cut
from larm.processing.page import LINKED_DATA, LINKING, MAX_LINKS, SPEAKING, Element, Page, as_html
from larm.processing.parts import (
    ANCHOR,
    BOX,
    BOX_END,
    EDGE,
    HEADING,
    HEADINGS,
    LIGHT_BOX,
    LIGHT_BOX_END,
    Parts,
    mark,
    split,
    title_of,
)
from larm.processing.parts import BLOCK as BLOCK_MARK
from larm.processing.readable import BLOCK, HIDDEN, INNER

_EDGE = EDGE  # between the text nodes of an anchor; marks have it, too
_ANCHOR_NODES = 100  # enough for 200 characters
_ANCHOR_DEPTH = 6  # levels between an anchor and an image or a script in it
_ANCHOR_WORK = 300_000_000  # bytes of page x anchors that may be read the quick way: a tenth of a second where they are nested
_DRAWN_DEPTH = 20  # levels in an SVG image
_NOSCRIPTS = 100
_FEW = 12  # links and metas: pages with frames have little else
_FRAME = re.compile(rb"<frame\s[^>]*>", re.IGNORECASE)


def _nodes(html: str | bytes) -> Iterator[LexborNode]:
    root = LexborHTMLParser(html).root
    return iter(()) if root is None else root.traverse(include_text=True)


def _ids(names: frozenset[str]) -> dict[int, str]:
    """lexbor's numbers for the names of elements."""
    tree = LexborHTMLParser("")
    return {tree.create_node(name).tag_id: name for name in names}


_TEXT = next(node.tag_id for node in _nodes("x") if node.is_text_node)
_LINKING, _SPEAKING = _ids(LINKING), _ids(SPEAKING)
_BLOCK, _OUTER, _HIDDEN = (frozenset(_ids(names)) for names in (BLOCK, BLOCK - INNER, HIDDEN))
_KEPT = frozenset(_LINKING) | frozenset(_SPEAKING)
_MARKS = {number: mark(name) for number, name in _ids(BLOCK).items()}
KNOWN_BOXES = {number: (name, BoxesOf(name)) for number, name in _ids(BOXES).items()}
_HEADINGS = frozenset(_ids(HEADINGS))
(_SCRIPT,) = _ids(frozenset({"script"}))
(_TITLE,) = _ids(frozenset({"title"}))
(_NOSCRIPT,) = _ids(frozenset({"noscript"}))
(_ANCHOR,) = _ids(frozenset({"a"}))
(_SVG,) = _ids(frozenset({"svg"}))
(_FRAME_ID,) = _ids(frozenset({"frame"}))
(_IMAGE,) = _ids(frozenset({"img"}))
_SPECIAL = _KEPT | _HIDDEN | {_NOSCRIPT}


class HtmlProcessor:
    """For text/html and application/xhtml+xml."""

    def __init__(self, assembler: Assembler, *, text: bool = True) -> None:
        """``text``: False where no storage wants it, which saves a third of the time."""
        # constant after construction
        self._assembler = assembler
        self._text = text

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        return self._assembler.document(message, fetched, mime, read(fetched, mime, text=self._text))


def read(fetched: Fetched, mime: str, *, text: bool = True) -> Page:
    """What lexbor finds in a page."""
    body, charset = utf8_of(fetched.body, fetched.headers.get("content-type", ""))
    body, warnings = cut(as_html(body, mime))
    root = LexborHTMLParser(body).root
    title, marked, boxes, found, odd = _Walked() if root is None else _walk(root, text)
    kept = list(found)
    if len(kept) < _FEW and (frames := _FRAME.findall(body)) and not any(tag == _FRAME_ID for tag, _ in kept):
        kept += _frames(b"".join(frames))
    if len(kept) > MAX_LINKS:
        warnings = [*warnings, f"{len(kept)} links and the like; those after the first {MAX_LINKS} are ignored"]
        del kept[MAX_LINKS:]
    linked_data = _linked_data(kept) if text else []
    elements, about, anchors = _elements(kept, odd, _ANCHOR_WORK // (len(body) + 1))
    main, other, headings = split(marked, boxes, anchors) if text else Parts()
    seen = text_digest(title, marked) if text else 0
    return Page(
        title_of(title, headings), main, other, headings, elements, about, charset, _language(root), seen, linked_data, warnings
    )


def _linked_data(kept: Sequence[tuple[int, LexborNode]]) -> list[str]:
    return [node.text() for tag, node in kept if tag == _SCRIPT and node.attributes.get("type") == LINKED_DATA]


def _language(root: LexborNode | None) -> str:
    attributes = {} if root is None else root.attributes
    return attributes.get("lang") or attributes.get("xml:lang") or ""


def _frames(tags: bytes) -> list[tuple[int, LexborNode]]:
    """Frames in a place where the standard ignores them, behind text that is meant for browsers without frames."""
    return [(node.tag_id, node) for node in _nodes(b"<frameset>" + tags) if node.tag_id == _FRAME_ID]


def _elements(
    kept: Sequence[tuple[int, LexborNode]], odd: Sequence[LexborNode], quick: int
) -> tuple[list[Element], list[Element], list[int]]:
    """(those of LINKING, those of SPEAKING, characters of each anchor). ``quick``: anchors that may be read the quick way."""
    careful = {address for node in odd if (address := _anchor_around(node))}
    elements: list[Element] = []
    about: list[Element] = []
    anchors: list[int] = []
    for tag, node in kept:
        attributes = node.attributes
        if tag == _ANCHOR:
            if (attributes.get("href") or "#")[0] == "#" and "xlink:href" not in attributes:
                anchors.append(0)
                continue  # leads nowhere (LARM-102)
            quick -= 1
            words = node.text(separator=_EDGE) if quick > 0 else _EDGE  # nearly always one text node
            if _EDGE in words or (careful and node.mem_id in careful):
                words = _within(node)
            elements.append(("a", attributes, words))
            anchors.append(len(words))
        elif tag in _LINKING:
            elements.append((_LINKING[tag], attributes, ""))
        else:
            about.append((_SPEAKING[tag], attributes, ""))
    return elements, about, anchors


def _anchor_around(node: LexborNode | None) -> int:
    """The address of the anchor that a node stands in; 0 if it stands in none."""
    for _ in range(_ANCHOR_DEPTH):
        if node is None or node.tag_id == _ANCHOR:
            break
        node = node.parent
    return node.mem_id if node is not None and node.tag_id == _ANCHOR else 0


class _Walked(NamedTuple):
    """What one walk through the tree has found."""

    title: str = ""
    marked: str = ""
    """The text with marks (`larm.processing.parts`)."""
    boxes: Sequence[Box] = ()
    kept: Sequence[tuple[int, LexborNode]] = ()
    """The elements that matter, with the numbers of their names."""
    odd: Sequence[LexborNode] = ()
    """What makes the text of an anchor odd."""


def _walk(root: LexborNode, speaking: bool) -> _Walked:  # noqa: PLR0912, PLR0915  calls would cost a tenth of the page's time
    """Not ``speaking``: without the text."""
    title: str | None = None
    words: list[Any] = []  # text_content is None for other nodes alone
    kept: list[tuple[int, LexborNode]] = []
    odd: list[LexborNode] = []
    add, keep = words.append, kept.append
    text, block, outer, special = _TEXT, _BLOCK if speaking else frozenset(), _OUTER, _SPECIAL
    marks, boxes, headings = _MARKS, KNOWN_BOXES, _HEADINGS
    found: list[Box] = []
    noscripts = 0
    nodes = root.traverse(include_text=speaking)
    for node in nodes:
        tag = node.tag_id
        if tag == text:
            add(node.text_content)
        elif tag in block:
            if tag in boxes:
                names, known = boxes[tag]
                attributes = node.attributes
                if not attributes:
                    box = known[None]
                elif len(attributes) == 1 and "class" in attributes:
                    box = known[attributes["class"]]
                else:
                    box = weigh(names, attributes)
                if box is not None:
                    found.append(box)
                    light = not box.kind
                    add(LIGHT_BOX if light else BOX)
                    node.insert_after(LIGHT_BOX_END if light else BOX_END)
                    add(marks[tag])
                    continue
            add(marks[tag])
            if tag in headings:
                node.insert_after(HEADING)
            elif tag in outer:
                _close(node)
        elif tag in special:
            if tag in _KEPT:
                keep((tag, node))
                if tag == _ANCHOR:
                    add(ANCHOR)
                elif tag == _IMAGE:
                    odd.append(node)
            if tag in _HIDDEN:
                if tag == _TITLE and title is None and not _is_drawn(node):
                    title = node.text()
                if node.first_child is not None:
                    odd.append(node)
                    if speaking:
                        next(nodes)  # its text
            elif speaking and tag == _NOSCRIPT and noscripts < _NOSCRIPTS:
                noscripts += 1
                _silence(node)
    return _Walked(title or "", "".join(words), found, kept, odd)


def _is_drawn(title: LexborNode) -> bool:
    """Whether a title is that of an SVG image."""
    parent = title.parent
    for _ in range(_DRAWN_DEPTH):
        if parent is None or parent.tag_id == _SVG:
            break
        parent = parent.parent
    return parent is not None and parent.tag_id == _SVG


def _close(node: LexborNode) -> None:
    """See to it that what follows a block element is separated from what is in it, where no other block follows."""
    after = node.next
    if after is None:
        parent = node.parent
        if parent is None or parent.tag_id in _BLOCK:
            return
        while after is None and parent is not None and parent.tag_id not in _BLOCK:
            node, after, parent = parent, parent.next, parent.parent
        if after is None or node.tag_id in _ROOTS:
            return
    tag = after.tag_id
    if tag not in _BLOCK and (tag != _TEXT or not (after.text_content or "").isspace()):
        node.insert_after(BLOCK_MARK)


_ROOTS = frozenset(_ids(frozenset(("html", "head", "body", "frameset"))))


def _silence(noscript: LexborNode) -> None:
    """What is said to people without scripts is no text of the page; links in it are links."""
    for node in list(noscript.traverse(include_text=True)):
        if node.tag_id == _TEXT:
            node.decompose()


def _within(anchor: LexborNode) -> str:
    """The text in an anchor, with the ALT of its images."""
    words: list[Any] = []
    nodes = anchor.traverse(include_text=True)
    for node in islice(nodes, _ANCHOR_NODES):
        tag = node.tag_id
        if tag == _TEXT:
            text = node.text_content
            words.append(" " if text is None or text[:1] == EDGE else text)
        elif tag in _BLOCK:
            words.append(" ")
        elif tag == _IMAGE:
            words.append(f" {node.attributes.get('alt') or ''} ")
        elif tag in _HIDDEN and node.first_child is not None:
            next(nodes)
    return "".join(words)
