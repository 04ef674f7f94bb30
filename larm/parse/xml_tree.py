"""Node: a small tree of an XML document, with namespaces and ``xml:base`` resolved. Built from `XmlTokens`; pure, one thread.

For documents that are read here and there, such as feeds. What is read from the beginning to the end (sitemaps, texts)
uses the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from larm.parse.xml_tokens import END, START, XmlTokens

MAX_NODES = 200_000
"""80 MB; what comes behind them is not read."""


class Node:
    """An element."""

    __slots__ = ("attributes", "bases", "local", "parts", "space")

    def __init__(self, space: str, local: str, attributes: dict[str, str], bases: tuple[str, ...]) -> None:
        self.space = space
        """Of the short names that `parse` was given; "" for the document's own or no namespace; else the prefix."""
        self.local = local
        self.attributes = attributes
        """Names in lower case, with their prefixes."""
        self.bases = bases
        """``xml:base`` of this and the elements around it, the outermost first."""
        self.parts: list[Node | str] = []

    def __iter__(self) -> Iterator[Node]:
        return (part for part in self.parts if isinstance(part, Node))

    def all(self) -> Iterator[Node]:
        """This element and all within it, in document order."""
        stack: list[Iterator[Node]] = [iter((self,))]
        while stack:
            for node in stack[-1]:
                yield node
                stack.append(iter(node))
                break
            else:
                stack.pop()

    def text(self) -> str:
        """All characters within it."""
        return "".join(self.texts())

    def texts(self, without: frozenset[str] = frozenset()) -> Iterator[str]:
        """The texts within it, in document order, but for elements of these names."""
        stack: list[Iterator[Node | str]] = [iter(self.parts)]
        while stack:
            for part in stack[-1]:
                if isinstance(part, str):
                    yield part
                elif part.local not in without:
                    stack.append(iter(part.parts))
                    break
            else:
                stack.pop()

    def get(self, name: str) -> str:
        """An attribute, white space stripped; empty where there is none."""
        return self.attributes.get(name, "").strip()


class Tree(NamedTuple):
    """A document."""

    root: Node | None
    warnings: list[str]
    given_up: bool
    """It is longer or deeper than what is read of it."""


def parse(text: str, names: Mapping[str, str], effort: int = 1) -> Tree:
    """The tree of a document, as far as it can be made out. ``names``: short names of namespaces, by their lower-case URIs.

    ``effort``: times the limits, as in ``processing.effort``.
    """
    tokens = XmlTokens(text, effort)
    most = MAX_NODES * effort
    scopes: list[dict[str, str]] = [{}]
    stack: list[Node] = []
    root: Node | None = None
    count = 0
    for kind, name, rest in tokens:
        if kind == START:
            attributes = tokens.attributes(rest) if rest else {}
            scope, bases = scopes[-1], stack[-1].bases if stack else ()
            if "xmlns" in rest:
                scope = scope | {
                    key.partition(":")[2]: value.strip().lower() for key, value in attributes.items() if key.startswith("xmlns")
                }
            if base := attributes.get("xml:base", "").strip():
                bases = (*bases, base)
            prefix, _, local = name.rpartition(":")
            uri = scope.get(prefix, "")
            node = Node(names.get(uri, prefix), local, attributes, bases)
            if stack:
                stack[-1].parts.append(node)
            elif root is None:
                root = node
            stack.append(node)
            scopes.append(scope)
            count += 1
            if count > most:
                tokens.fault(f"more than {most} elements")
                tokens.given_up = True
                break
        elif kind == END:
            stack.pop()
            scopes.pop()
        elif stack:
            stack[-1].parts.append(rest)
    warnings = list(tokens.faults)
    if tokens.cut:
        warnings.append("it ends too early")
    return Tree(root, warnings, tokens.given_up)
