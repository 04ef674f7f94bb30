"""What of a page is its main text, and what is around it: menus, headers, footers, side boxes. Pure; called by the parsers.

The parsers walk a page once and write down its text in pieces, with marks where a part begins or ends that matters here.
"""

from __future__ import annotations

from typing import Final

from larm.processing.page import MAX_HEADINGS
from larm.processing.readable import names, squeeze_line

AROUND: Final = names("aside footer nav")
"""Elements whose text is about something else than the page, or about the whole site."""

HEADINGS: Final = names("h1 h2 h3 h4 h5 h6")

# Marks. A parser never passes NUL on, so no page has them. For digests they are white space.
OPEN: Final = "\0\1"
SHUT: Final = "\0\2"
HEADING: Final = "\0\3"
HEADING_END: Final = "\0\4"


def split(marked: str) -> tuple[str, str, list[str]]:
    """(main text, other text, headings) of a text with marks. A page that has nothing but menus is its menus."""
    if "\0" not in marked:
        return marked, "", []
    first, *pieces = marked.split("\0")
    main = [first]
    other: list[str] = []
    headings: list[str] = []
    depth = 0
    heading: list[str] | None = None
    for piece in pieces:
        mark, text = piece[:1], piece[1:]
        if mark == "\1":
            depth += 1
        elif mark == "\2":
            depth -= depth > 0
        elif mark == "\3":
            heading = []
        elif heading is not None:
            if words := squeeze_line("".join(heading)):
                headings.append(words)
            heading = None
        if heading is not None:
            heading.append(text)
        (other if depth else main).append(f"\n{text}" if mark in "\1\2" else text)
    text, rest = "".join(main), "".join(other)
    if not text or text.isspace():
        text, rest = rest, ""
    return text, rest, headings[:MAX_HEADINGS]
