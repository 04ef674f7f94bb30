"""The lines of store.log and links.log: how they are written, how a line of store.log is read (LARM-89 to LARM-93).

Pure. Tab-separated columns, a line each, UTF-8. Written by `larm.store.log`, read by `larm.store.reader`.
"""

from typing import NamedTuple

from larm.kit.logs.columns import clean
from larm.model.links import Links
from larm.store.page_file import PLAIN

_SEED_COLUMNS = (8, 10, 11)
_JAVA_COLUMNS = (10, 12)

UNFOLLOWED = b"\t-"
"""A sixth column of links.log, in crawls by several agents: others must not ask for this link if they find it there."""


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
    """There: of the body, or of the frame that it is in."""
    place: int = PLAIN
    """In that frame; `PLAIN`: it is in none."""


def format_entry(entry: StoreEntry) -> str:
    """Its line, with the line end; eight columns where no bytes were stored, else ten, or eleven of a body in a frame."""
    from_page, url, normalised, link_type, status, mime, size, title, file, offset, place = entry
    line = (
        f"{clean(from_page)}\t{clean(url)}\t{clean(normalised)}\t{link_type}\t{status}\t{clean(mime)}\t{size}\t{clean(title)}"
    )
    if not file:
        return line + "\n"
    return f"{line}\t{file}\t{offset}\n" if place == PLAIN else f"{line}\t{file}\t{offset}\t{place}\n"


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
        raise ValueError(f"expected 8, 10 or 11 columns (or LARM's 10 or 12), got {len(columns)}")
    where = [int(number) for number in place]
    return StoreEntry(from_page, url, normalised, int(link_type), int(status), mime, int(size), title, *where)


def format_links(page: str, links: Links, *, marked: bool = False) -> bytes:
    """The lines of links.log for the links of one page (LARM-89).

    ``marked``: those of links that are not followed end in `UNFOLLOWED`.
    """
    first = clean(page).encode("utf-8", "replace") + b"\t"
    lines = links.lines
    if marked and 0 in links.follow:
        rows = zip(lines.split(b"\n"), links.follow, strict=False)
        lines = b"".join([line + (b"\n" if goes else UNFOLLOWED + b"\n") for line, goes in rows])
    return (first + lines.replace(b"\n", b"\n" + first))[: -len(first)]
