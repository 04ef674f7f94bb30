"""A page of HTML by the tree that lexbor makes of it, which parses as browsers do (WHATWG HTML 13.2) and without the GIL.

Called by `larm.parse.html`. The tree is walked once, by ``compiled.pyx`` or, where there is no compiler, here: both are
told the same and say the same, but that the latter takes ten times as long. lexbor's CSS selectors are not used: setting up
the first query of a page costs more than the walk. Nothing here recurses, however deep a page is nested. Pure; any thread.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from selectolax import lexbor
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from larm.parse.collector import Collector, More
from larm.parse.elements import ELEMENTS
from larm.parse.page import Attributes, Reading

_SAMPLE: Final = (
    b"<!DOCTYPE html><html lang=en><head><title>T</title><noscript><link href=n></noscript></head><body><nav class=menu>a</nav>"
    b"<h1 id=p>b</h1><div>c<p>d</div> e<a href=x rel=y>f<img alt=g src=h></a><x-y>i</x-y>j"
)
Walk = Callable[[LexborNode, More | None], Reading]


def read_tree(body: bytes, more: More | None) -> Reading:
    """What is in a page. ``body``: UTF-8; ``more`` reads what is for browsers without scripts; None: this is such."""
    return walk(_root(body, scripts=more is not None), more)


def _root(body: bytes, *, scripts: bool) -> LexborNode:
    """lexbor takes any bytes, and gives up only where it gets no more memory; then MemoryError is raised."""
    try:
        root = LexborHTMLParser(body, scripting=scripts).root
    except SelectolaxError as error:
        raise MemoryError(str(error)) from error
    if root is None:
        raise MemoryError("no tree")
    return root


class _Collector(Collector[LexborNode]):
    def attributes_of(self, node: LexborNode) -> Attributes:
        return node.attributes

    def text_of(self, node: LexborNode) -> str:
        return node.text()


def plain_walk(root: LexborNode, more: More | None) -> Reading:
    """Node by node."""
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
    return found.reading(language.get("lang") or language.get("xml:lang") or "")


def _numbers() -> dict[str, int]:
    """Those that lexbor has for the names of elements."""
    tree = LexborHTMLParser("")
    return {name: tree.create_node(name).tag_id for name in ELEMENTS}


def _compiled() -> Walk | None:
    """The compiled walk, if there is one and it says of a sample what the plain one says."""
    try:
        module = import_module("larm.parse.compiled")
        module.learn(lexbor.__file__, _numbers())
    except ImportError:  # not compiled, or for another machine or another selectolax
        return None
    found: Walk = module.walk
    root, more = _root(_SAMPLE, scripts=True), lambda _, text: plain_walk(_root(text.encode(), scripts=False), None)
    return found if found(root, more) == plain_walk(root, more) else None


_walk = _compiled()
COMPILED: Final = _walk is not None
walk: Final[Walk] = _walk or plain_walk
