"""HtmlProcessor: HTML to Document. Called on the fetcher threads, which share one processor; it keeps no state.

Most pages are regular and are read in one pass; all others get a tree. Both say the same.
"""

from __future__ import annotations

from larm.model.crawl_hash import page_hash
from larm.model.cuts import READER
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.processing.assembly import Assembler
from larm.processing.charset import utf8_of
from larm.processing.page import Page, as_html
from larm.processing.parts import Parts, split, title_of
from larm.processing.regular import read_regular
from larm.processing.tree import read_tree


class HtmlProcessor:
    """For text/html and application/xhtml+xml."""

    def __init__(self, assembler: Assembler, *, text: bool = True) -> None:
        """``text``: False where no storage wants it, which saves a quarter of the time."""
        # constant after construction
        self._assembler = assembler
        self._text = text

    def process(self, message: URLMessage, fetched: Fetched, mime: str) -> Document:
        """See `larm.seams.Processor`."""
        return self._assembler.document(message, fetched, mime, read(fetched, mime, text=self._text))


def read(fetched: Fetched, mime: str, *, text: bool = True) -> Page:
    """What there is in a page."""
    body, encoding = utf8_of(fetched.body, fetched.headers.get("content-type", ""))
    body = as_html(body, mime)
    reading = read_regular(body, text=text)
    warnings: list[str] = []
    if reading is None:
        reading, warnings = read_tree(body, text=text)
    title, marked, boxes, elements, about, anchors, spoken, language, linked_data, letters, plain = reading
    main, other, headings = split(marked, boxes, anchors, spoken, plain) if text else Parts()
    title = title_of(title, headings)
    words = page_hash(title, marked, letters) if text else 0
    return Page(
        title,
        main,
        other,
        headings,
        elements,
        about,
        encoding.name,
        language,
        words,
        linked_data,
        warnings,
        declared=encoding.declared,
        cuts=(READER,) if warnings else (),  # all of them say that
    )
