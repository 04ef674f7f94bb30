"""Which parser makes the tree of a page: lexbor, compiled, or html5lib where larm could not be compiled. Pure; any thread."""

from __future__ import annotations

from collections.abc import Callable

from larm.parse import lexbor_tree
from larm.parse.collector import More
from larm.parse.hostile import Budget, before_huge_tag, budget, spent
from larm.parse.page import Reading

ReadTree = Callable[[bytes, More | None, Budget], tuple[Reading, int]]
"""Reads UTF-8 within a budget: (what is in it, the bytes that were read). ``more`` reads what is for browsers without scripts;
None: this is such."""

_WHOLE = 4_000
"""Bytes of a page that no parser is busy with."""


def tree_reader(parser: str = "lexbor") -> ReadTree:
    """Of a name in ``processing.parser``."""
    if parser == "lexbor" and lexbor_tree.COMPILED:
        return lexbor_tree.read_tree
    from larm.parse import html5lib_tree  # a tenth of the start-up, for who needs it

    return html5lib_tree.read_tree


def cut(body: bytes, effort: int = 1) -> tuple[bytes, list[str]]:
    """(the page or its harmless beginning, warnings), for who parses it by another way than `tree_reader`."""
    body, warnings = before_huge_tag(body, effort)
    if len(body) <= _WHOLE:
        return body, warnings
    if lexbor_tree.COMPILED:
        end = lexbor_tree.end_of(body, budget(effort))
    else:
        _, end = tree_reader()(body, None, budget(effort))
    return (body, warnings) if end == len(body) else (body[:end], [*warnings, spent(end)])
