"""The lines of store.log and links.log: how they are written, how a line of store.log is read (LARM-89 to LARM-93).

Pure. Tab-separated columns, a line each, UTF-8. Written by `larm.storage.log`, read by `larm.storage.reader`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from larm.model.document import Link

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SEED_COLUMNS = (8, 10)
_JAVA_COLUMNS = (10, 12)


class _Columns(dict[int, str]):
    """The column of a link's type, with its tabs: to format a number takes as long as two texts."""

    def __missing__(self, link_type: int) -> str:
        column = self[link_type] = f"\t{link_type}\t"
        return column


_TYPES = _Columns()


class StoreEntry(NamedTuple):
    """One line of store.log: a page that was fetched."""

    from_page: str
    """The page with the first link to it; ``<start>`` for start URLs."""
    url: str
    """As it was fetched."""
    normalised: str
    link_type: int
    status: int
    mime: str
    size: int
    """Bytes of the body."""
    title: str
    file: int = 0
    """Number of its page file; 0 where no bytes were stored."""
    offset: int = 0


def clean(text: str) -> str:
    """The text with a space for every control character, so that it fits into a column (LARM-93)."""
    return text if text.isprintable() else _CONTROL.sub(" ", text)


def format_entry(entry: StoreEntry) -> str:
    """Its line, with the line end; eight columns where no bytes were stored, else ten."""
    from_page, url, normalised, link_type, status, mime, size, title, file, offset = entry
    line = (
        f"{clean(from_page)}\t{clean(url)}\t{clean(normalised)}\t{link_type}\t{status}\t{clean(mime)}\t{size}\t{clean(title)}"
    )
    return f"{line}\t{file}\t{offset}\n" if file else line + "\n"


def parse_entry(line: str) -> StoreEntry:
    """The inverse of `format_entry`, for a line without its end.

    Also takes LARM's last format: an anchor column after the link type, the title in quotes, last-modified after it (LARM-92).
    Raises ValueError saying what was expected.
    """
    columns = line.split("\t")
    if len(columns) in _SEED_COLUMNS and columns[4].isdecimal() and columns[6].isdecimal():
        from_page, url, normalised, link_type, status, mime, size, title, *place = columns
    elif len(columns) in _JAVA_COLUMNS:
        from_page, url, normalised, link_type, _anchor, status, mime, size, title, _modified, *place = columns
        if len(title) > 1 and title[0] == title[-1] == '"':
            title = title[1:-1]
    else:
        raise ValueError(f"expected 8 or 10 columns (or LARM's 10 or 12), got {len(columns)}")
    file, offset = (int(place[0]), int(place[1])) if place else (0, 0)
    return StoreEntry(from_page, url, normalised, int(link_type), int(status), mime, int(size), title, file, offset)


def format_links(page: str, links: Sequence[Link]) -> bytes:
    """The lines of links.log for the links of one page (LARM-89). 0.25 us a link: there are 100 on a page."""
    start = clean(page) + "\t"
    data = "".join(
        [
            f"{start}{(url := link.url).access}\t{url.normalised}{_TYPES[link.link_type]}"
            f"{anchor if (anchor := link.anchor).isprintable() else clean(anchor)}\n"
            for link in links
        ]
    ).encode("utf-8", "replace")
    if len(data.translate(None, b"\t\n")) + 5 * len(links) != len(data):  # only if some URL is not what it should be
        return "".join(
            f"{start}{clean(link.url.access)}\t{clean(link.url.normalised)}{_TYPES[link.link_type]}{clean(link.anchor)}\n"
            for link in links
        ).encode("utf-8", "replace")
    return data
