"""The choice of the HTML parser: lexbor with the compiled reader, or html5lib. Called by the processors; thread-safe."""

from __future__ import annotations

from collections.abc import Callable

from larm.parse import lexbor_tree
from larm.parse.collector import More
from larm.parse.hostile import Budget, before_huge_tag, budget, spent
from larm.parse.page import Reading

ReadTree = Callable[[bytes, More | None, Budget], tuple[Reading, int]]
"""Reads a page in UTF-8 within a budget. Returns the Reading and the number of bytes read.

The second argument reads the HTML within elements such as ``<noscript>``; None within such an element."""

_WHOLE = 4_000
"""Bytes up to which any page is harmless."""


def tree_reader(parser: str = "lexbor") -> ReadTree:
    """Return the reader for a value of ``processing.parser``."""
    if parser == "lexbor" and lexbor_tree.COMPILED:
        return lexbor_tree.read_tree
    from larm.parse import html5lib_tree  # takes a tenth of the start-up

    return html5lib_tree.read_tree


def cut(body: bytes, effort: int = 1) -> tuple[bytes, list[str]]:
    """Return the page or its harmless beginning, and warnings; for callers that parse without `tree_reader`."""
    body, warnings = before_huge_tag(body, effort)
    if len(body) <= _WHOLE:
        return body, warnings
    if lexbor_tree.COMPILED:
        end = lexbor_tree.end_of(body, budget(effort))
    else:
        _, end = tree_reader()(body, None, budget(effort))
    return (body, warnings) if end == len(body) else (body[:end], [*warnings, spent(end)])
