"""The reader of HTML with html5lib, the reference implementation of the parsing algorithm in Python. Thread-safe.

Used with ``processing.parser: html5lib``, for pages that crash lexbor, and for all pages if larm is not compiled. It returns
the same as `larm.parse.lexbor_tree`, some fifty times as slowly.
"""

import re
from collections.abc import Iterator
from typing import Any

import html5lib

from larm.parse.collector import Collector, More
from larm.parse.hostile import COPY, Budget
from larm.parse.page import Attributes, Reading

_XLINK = "{http://www.w3.org/1999/xlink}"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_LINE = re.compile(r"\r\n|\r|\n")
_PER_BYTE = 66
"""Tree bytes for each byte of a harmless page, as in the compiled reader."""


def read_tree(body: bytes, more: More | None, budget: Budget) -> tuple[Reading, int]:
    """Read a page, see `larm.parse.trees.ReadTree`."""
    text = body.decode("utf-8", "replace")
    parser = html5lib.HTMLParser(tree=_bounded(budget, len(body)), namespaceHTMLElements=False)
    end = len(body)
    try:
        root = parser.parse(text, scripting=more is not None)
    except _SpentError:
        end = _place(text, *parser.tokenizer.stream.position())
        root = parser.tree.getDocument()
    found = _Collector(more)
    within = [(root, _begin(root, found))]
    while within:
        element, children = within[-1]
        child = next(children, None)
        if child is not None:
            within.append((child, _begin(child, found)))
            continue
        within.pop()
        found.end(_name(element))
        if element.tail and within:
            found.say(element.tail)
    return found.reading(root.get("lang") or root.get("xml:lang") or ""), end


class _SpentError(Exception):
    """Raised when the budget of a page is spent."""


def _bounded(budget: Budget, size: int) -> Any:
    """Return a tree builder class that raises `_SpentError`."""
    left = [budget.steps, budget.memory + _PER_BYTE * size]
    base = html5lib.getTreeBuilder("etree")

    class Bounded(base):  # type: ignore[misc,valid-type]
        def insertElementNormal(self, token: Any) -> Any:  # noqa: N802  html5lib's
            self._count()
            return super().insertElementNormal(token)

        def createElement(self, token: Any) -> Any:  # noqa: N802
            self._count()
            return super().createElement(token)

        def _count(self) -> None:
            left[0] -= len(self.openElements)
            left[1] -= COPY
            if min(left) < 0:
                raise _SpentError

    return Bounded


def _place(text: str, line: int, column: int) -> int:
    """Return the bytes before a place that html5lib names."""
    begin = 0
    for number, found in enumerate(_LINE.finditer(text), 2):
        if number > line:
            break
        begin = found.end()
    return len(text[: begin + column].encode("utf-8", "replace"))


class _Collector(Collector[Any]):
    def attributes_of(self, node: Any) -> Attributes:
        return {name.replace(_XLINK, "xlink:").replace(_XML, "xml:"): value for name, value in node.items()}

    def text_of(self, node: Any) -> str:
        return node.text or ""


def _begin(element: Any, found: _Collector) -> Iterator[Any]:
    """The children that count."""
    name = _name(element)
    if not found.begin(name, element):
        return iter(())
    if name and element.text:
        found.say(element.text)
    return iter(element)


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""  # a comment's tag is a function
