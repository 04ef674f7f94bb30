"""A page of HTML by the tree of html5lib, the reference implementation of the parsing algorithm in Python.

``processing.parser: html5lib``, and for pages that end a process in which lexbor reads them. Some 20 times as slow as
`larm.parse.lexbor_tree`, and pure Python; both say the same. Called by `larm.parse.html`. Pure; any thread.
"""

from collections.abc import Iterator
from typing import Any

import html5lib

from larm.parse.collector import Collector, More
from larm.parse.page import Attributes, Reading

_XLINK = "{http://www.w3.org/1999/xlink}"
_XML = "{http://www.w3.org/XML/1998/namespace}"


def read_tree(body: bytes, more: More | None) -> Reading:
    """What is in a page. ``body``: UTF-8; ``more`` reads what is for browsers without scripts; None: this is such."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    root = parser.parse(body.decode("utf-8", "replace"), scripting=more is not None)
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
    return found.reading(root.get("lang") or root.get("xml:lang") or "")


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
