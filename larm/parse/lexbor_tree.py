"""A page of HTML by the tree that lexbor makes of it, which parses as browsers do (WHATWG HTML 13.2) and without the GIL.

Called by `larm.parse.html`. The compiled reader (``compiled.pyx``) parses, and walks the tree once. Where it could not be
compiled, html5lib reads all pages (`larm.parse.by_mime`). lexbor's CSS selectors are not used: setting up the first query of a
page costs more than the walk. Pure; any thread.
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
    """See `larm.parse.html.ReadTree`. lexbor takes any bytes, and gives up only where it gets no more memory: MemoryError."""
    found: tuple[Reading, int] = _compiled.read(body, more, scripts=more is not None, work=budget.steps, memory=budget.memory)
    return found


def end_of(body: bytes, budget: Budget) -> int:
    """Return the bytes of a page that can be parsed within a budget."""
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
