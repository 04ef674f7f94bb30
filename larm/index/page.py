"""Page: what the index is told of a page. Made by the index storage, read by the writer; both on the writer thread."""

from urllib.parse import unquote

import msgspec

from larm.model.url import Url


class Page(msgspec.Struct, frozen=True, gc=False):
    """One document of the index."""

    url: Url
    mime: str
    title: str
    text: str
    """The main text; snippets are made of it."""
    other: str = ""
    """Menus, headers, footers: found, but of little weight."""
    headings: tuple[str, ...] = ()
    description: str = ""
    """What the page says of itself, for search engines."""
    language: str = ""
    """ISO 639-1; empty where it is not known."""
    meta: str = ""
    """Meta words, parted by spaces: `larm.index.meta_words`."""
    own: str = ""
    """Fields of the user's, as they are stored: `larm.index.own_fields`."""
    sections: str = ""
    """Those that have an address, as they are stored: `larm.index.sections`."""
    modified: int = 0
    """Seconds since 1970; 0: not known."""
    fetched: int = 0
    """The same."""
    size: int = 0
    """Bytes."""
    digest: int = 0
    """63 bits over what a reader sees; pages with the same one are one result. 0: none."""
    quote: int | None = None
    """At most so many characters of it may be shown; None: any number."""


def url_words(access: str) -> str:
    """The URL without its scheme and its escapes, for the analyzer."""
    rest = access.partition("://")[2] or access
    return unquote(rest) if "%" in rest else rest
