"""Visits for tests of the storages."""

from __future__ import annotations

from larm.model.document import Document, Visit
from larm.model.links import Link, Links
from larm.model.restriction import UNKNOWN
from larm.model.url import Url


def url(access: str, normalised: str = "") -> Url:
    """A Url whose host is taken from the text; normalised as given or the same."""
    fingerprint = hash(normalised or access) & (1 << 62) - 1
    return Url(access, normalised or access, access.split("/")[2] if "//" in access else "", fingerprint)


def page(
    access: str,
    title: str = "",
    text: str = "",
    body: bytes = b"",
    links: tuple[Link, ...] = (),
    mime: str = "text/html",
    index: bool = True,
) -> Visit:
    """A visit of a page that was found on http://a.org/, fetched with status 200; unless it is a file, it is for anybody."""
    restricted = 0 if access.startswith("http") else UNKNOWN
    document = Document(mime, title, text, Links.of(links), index=index)
    found = document.links, url(access), "http://a.org/"
    return Visit(access, *found, status=200, body=body, document=document, restricted=restricted)


def link(access: str, anchor: str = "", link_type: int = 0, normalised: str = "") -> Link:
    """A link of a page."""
    return Link(url(access, normalised), link_type, anchor)
