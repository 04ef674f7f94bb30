"""One page read by the compiled reader and by a walk in Python: what they say of it must be the same, to the last mark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from larm.config import ProcessingSettings
from larm.model.document import Document
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.url import URLNormalizer
from larm.parse import lexbor_tree
from larm.parse.assembly import Assembler
from larm.parse.collector import Collector, More
from larm.parse.hostile import Budget
from larm.parse.html import HtmlProcessor, reading_of
from larm.parse.page import Attributes, Reading


@contextmanager
def without_a_compiler() -> Iterator[None]:
    """As if nothing were compiled."""
    compiled = lexbor_tree.COMPILED
    lexbor_tree.COMPILED = False  # type: ignore[misc]
    try:
        yield
    finally:
        lexbor_tree.COMPILED = compiled  # type: ignore[misc]


class _Collector(Collector[LexborNode]):
    def attributes_of(self, node: LexborNode) -> Attributes:
        return node.attributes

    def text_of(self, node: LexborNode) -> str:
        return node.text()


def read_plainly(body: bytes, more: More | None, budget: Budget) -> tuple[Reading, int]:
    """As `larm.parse.lexbor_tree.read_tree`, node by node, through the tree that selectolax makes."""
    end = lexbor_tree.end_of(body, budget)
    root = LexborHTMLParser(body[:end], scripting=more is not None).root
    assert root is not None
    found = _Collector(more)
    node: LexborNode = root
    depth = 0
    while True:
        text = node.text_content
        if text is not None:
            found.say(text)
        else:
            name = node.tag or ""
            child: LexborNode | None = node.first_child if found.begin(name, node) else None
            if child is not None:
                node, depth = child, depth + 1
                continue
            found.end(name)
        while depth and node.next is None:
            node, depth = node.parent or root, depth - 1
            found.end(node.tag or "")
        if not depth:
            break
        node = node.next or root
    language = root.attributes
    return found.reading(language.get("lang") or language.get("xml:lang") or ""), end


def reading(body: bytes) -> Reading:
    """What larm says of a page."""
    return reading_of(body, lexbor_tree.read_tree)[0]


def differences(body: bytes) -> list[tuple[str, Any, Any]]:
    """(what, by the walk in Python, by the compiled reader), each where they differ."""
    found, warnings = reading_of(body, lexbor_tree.read_tree)
    plain, plain_warnings = reading_of(body, read_plainly)
    pairs = zip((*plain, plain_warnings), (*found, warnings), strict=True)
    return [(name, *pair) for name, pair in zip((*Reading._fields, "warnings"), pairs, strict=True) if pair[0] != pair[1]]


def both_processors(settings: ProcessingSettings | None = None) -> tuple[HtmlProcessor, HtmlProcessor]:
    """(by the walk in Python, by the compiled reader); what each knows of a site grows from page to page."""
    settings = settings or ProcessingSettings()
    made = [
        HtmlProcessor(Assembler(LinkMemo(URLNormalizer(files=True)), settings), read)
        for read in (read_plainly, lexbor_tree.read_tree)
    ]
    return made[0], made[1]


def document_of(processor: HtmlProcessor, url: str, body: bytes, content_type: str = "text/html") -> Document:
    """What a processor makes of a page."""
    parse: Callable[[str], Any] = URLNormalizer(files=True).parse
    fetched = Fetched(200, {"content-type": content_type}, body, Timing(0.01, len(body)))
    return processor.process(URLMessage(parse(url)), fetched, "text/html")
