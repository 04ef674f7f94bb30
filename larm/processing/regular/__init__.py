"""Regular pages, read in one pass: `read_regular`. What does it is compiled when larm is installed, see ``page.pyx``.

Where there was no C compiler then, no page is regular: all are read by their trees, and only the time differs. Pure; any
thread.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from larm.processing.page import Reading

try:
    _page = import_module("larm.processing.regular.page")
    _read, find_links = _page.read, _page.find
except ImportError:  # not compiled, or for another machine
    _read = find_links = None  # the latter is `larm.processing.links.find`

COMPILED: Final = _read is not None


def read_regular(body: bytes, *, text: bool) -> Reading | None:
    """What is in a page; None for an irregular one. ``body``: UTF-8; ``text``: False where no text is wanted."""
    found = None if _read is None else _read(body, text)
    return None if found is None else Reading(*found)
