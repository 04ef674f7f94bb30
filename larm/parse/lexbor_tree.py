"""The reader of HTML with lexbor, which parses as browsers do (WHATWG HTML 13.2). Called by `larm.parse.trees`; thread-safe.

The compiled reader (``compiled.pyx``) parses a page and walks its tree once. If it is not compiled, html5lib reads all pages.
lexbor's CSS selectors are not used, because setting up the first query of a page takes longer than the walk.
"""

from importlib import import_module
from typing import Any, Final

from selectolax import lexbor
from selectolax.lexbor import LexborHTMLParser

from larm.parse.collector import More
from larm.parse.elements import ELEMENTS
from larm.parse.hostile import Budget
from larm.parse.page import Reading


def read_tree(body: bytes, more: More | None, budget: Budget) -> tuple[Reading, int]:
    """Read a page, see `larm.parse.trees.ReadTree`. Raises MemoryError."""
    found: tuple[Reading, int] = _compiled.read(body, more, scripts=more is not None, work=budget.steps, memory=budget.memory)
    return found


def end_of(body: bytes, budget: Budget) -> int:
    """Return the number of bytes of a page that can be parsed within a budget."""
    end: int = _compiled.end_of(body, work=budget.steps, memory=budget.memory)
    return end


def _load() -> Any:
    try:
        module: Any = import_module("larm.parse.compiled")
        tree = LexborHTMLParser("")
        module.learn(lexbor.__file__, {name: tree.create_node(name).tag_id for name in ELEMENTS})
    except ImportError:  # not compiled, or for another machine or another selectolax
        return None
    return module


_compiled = _load()
COMPILED: Final = _compiled is not None
