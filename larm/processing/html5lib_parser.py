"""Html5libProcessor: HTML to Document with html5lib, the reference implementation of the parsing algorithm in Python.

``processing.parser: html5lib``. Some 17 times as slow as `larm.processing.html`, and pure Python: for comparison, and for
platforms without lexbor. Both give the same Document. Called on the fetcher threads; keeps no state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import html5lib

from larm.model.crawl_hash import page_hash
from larm.model.cuts import READER
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.processing.assembly import Assembler
from larm.processing.boxes import BOXES, Box, weigh
from larm.processing.charset import text_of
from larm.processing.hostile import cut
from larm.processing.noscript import closed
from larm.processing.page import LINKED_DATA, LINKING, MAX_LINKS, SPEAKING, Attributes, Element, Page, as_html
from larm.processing.parts import ANCHOR, BOX, BOX_END, HEADING, HEADINGS, LIGHT_BOX, LIGHT_BOX_END, mark, split, title_of
from larm.processing.parts import BLOCK as BLOCK_MARK
from larm.processing.readable import BLOCK, HIDDEN, INNER, is_blank

_XLINK = "{http://www.w3.org/1999/xlink}"
_SURROGATES = re.compile("[\ud800-\udfff]")


class Html5libProcessor:
    """For text/html and application/xhtml+xml."""

    def __init__(self, assembler: Assembler) -> None:
        # constant after construction
        self._assembler = assembler

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        return self._assembler.document(message, fetched, mime, read(fetched, mime))


def read(fetched: Fetched, mime: str) -> Page:
    """What html5lib finds in a page."""
    text, encoding = text_of(fetched.body, fetched.headers.get("content-type", ""))
    body, warnings = cut(as_html(_SURROGATES.sub("", text).encode(), mime))
    root = _tree(body)
    reader = _Reader(root)
    if len(reader.elements) > MAX_LINKS:
        warnings = [*warnings, f"{len(reader.elements)} links and the like; those after the first {MAX_LINKS} are ignored"]
        del reader.elements[MAX_LINKS:]
    words = "".join(reader.words)
    main, other, headings = split(
        words, reader.boxes, [_size(attributes, text) for tag, attributes, text in reader.elements if tag == "a"]
    )
    for text in reader.without_frames:
        reader.elements += _Reader(_tree(cut(text.encode())[0])).elements[:MAX_LINKS]
    language = root.get("lang") or root.get("xml:lang") or ""
    title = title_of(reader.title, headings)
    return Page(
        title,
        main,
        other,
        headings,
        reader.elements,
        reader.about,
        encoding.name,
        language,
        page_hash(title, words),
        reader.linked_data,
        warnings,
        declared=encoding.declared,
        cuts=(READER,) if warnings else (),  # all of them say that
    )


def _tree(body: bytes) -> Any:
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    return parser.parse(closed(body).decode("utf-8", "replace"))


class _Reader:
    """Walks an ElementTree once, without recursion."""

    def __init__(self, root: Any) -> None:
        self.title = ""
        self.words: list[str] = []
        self.elements: list[Element] = []
        self.about: list[Element] = []
        self.linked_data: list[str] = []
        self.boxes: list[Box] = []
        self.without_frames: list[str] = []  # what is said to browsers without frames
        self._anchors: list[tuple[int, list[str]]] = []  # open ones: their place in `elements`, their words
        self._around: list[Box | None] = []  # for each open block element, its box if it is one that says something
        self._mute = 0  # open noscript elements
        for opening, element in _events(root):
            name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""  # a comment's tag is a function
            if opening:
                self._open(name, element)
            else:
                self._shut(name, element)

    def _open(self, name: str, element: Any) -> None:
        if name in LINKING:
            self.elements.append((name, _attributes(element), ""))
            if name == "a":
                self.words.append(ANCHOR)
                self._anchors.append((len(self.elements) - 1, []))
            elif name == "img":
                self._anchor_text(f" {element.get('alt') or ''} ")
            elif name == "script" and element.get("type") == LINKED_DATA:
                self.linked_data.append(element.text or "")
        elif name in SPEAKING:
            self.about.append((name, _attributes(element), ""))
        elif name in BLOCK:
            self._begin(name, element)
        elif element.tag == "title" and is_blank(self.title):  # that of an SVG image has a namespace
            self.title = element.text or ""
        elif name == "noframes":
            self.without_frames.append(element.text or "")
        self._mute += name == "noscript"
        if name and name not in HIDDEN and name != "template":
            self._say(element.text)

    def _shut(self, name: str, element: Any) -> None:
        if name == "a":
            at, words = self._anchors.pop()
            tag, attributes, _ = self.elements[at]
            self.elements[at] = (tag, attributes, "".join(words))
        elif name in BLOCK:
            self._end(name, element)
        self._mute -= name == "noscript"
        self._say(element.tail)

    def _say(self, text: str | None) -> None:
        if text and not self._mute:
            self.words.append(text)
            self._anchor_text(text)

    def _begin(self, name: str, element: Any) -> None:
        box = weigh(name, _attributes(element)) if name in BOXES else None
        if box is not None:
            self.boxes.append(box)
            self.words.append(BOX if box.kind else LIGHT_BOX)
        self.words.append(mark(name))
        self._anchor_text("\n")
        self._around.append(box)

    def _end(self, name: str, element: Any) -> None:
        box = self._around.pop()
        if box is not None:
            self.words.append(BOX_END if box.kind else LIGHT_BOX_END)
        elif name in HEADINGS:
            self.words.append(HEADING)
        elif name not in INNER and not (element.tail and element.tail.isspace()):
            self.words.append(BLOCK_MARK)
        self._anchor_text("\n")

    def _anchor_text(self, text: str) -> None:
        for _, words in self._anchors[-3:]:  # nested ones are malformed
            words.append(text)


def _events(root: Any) -> Iterator[tuple[bool, Any]]:
    """(True, element) where it opens, (False, element) where it ends."""
    stack: list[tuple[bool, Any]] = [(True, root)]
    while stack:
        opening, element = stack.pop()
        yield opening, element
        if opening:
            stack.append((False, element))
            if not (isinstance(element.tag, str) and element.tag == "template"):
                stack.extend((True, child) for child in reversed(element))


def _size(attributes: Attributes, text: str) -> int:
    """Characters of a link; 0 for one that leads nowhere."""
    return len(text) if (attributes.get("href") or "#")[0] != "#" or "xlink:href" in attributes else 0


def _attributes(element: Any) -> Attributes:
    return {name.replace(_XLINK, "xlink:"): value for name, value in element.items()}
