"""Fragments: the places in a page that a link can lead to, and the links of a page that lead to places. Pure; any thread.

For ``larm links``: the crawl itself has no use for what stands behind ``#``.
"""

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from larm.parse.charset import utf8_of
from larm.parse.readable import anchor
from larm.parse.trees import cut

HTML = frozenset(["text/html", "application/xhtml+xml"])
"""Types of pages that have places."""
_TOP = "top"
"""The begin of each page, in any case (WHATWG HTML 7.4.6.4)."""
_DIRECTIVE = ":~:"
"""What follows is for the browser, such as a text to be marked."""


class Fragments(NamedTuple):
    """Of one page."""

    base: str
    """Of its ``<base>``, as written; mostly empty."""
    places: frozenset[str]
    """Its ids, and names of anchors."""
    links: tuple[tuple[str, str, str], ...]
    """(address without fragment, fragment, text) of links that lead to a place."""


def fragments(body: bytes, effort: int = 1) -> Fragments:
    """Of a page of HTML. Places that only scripts make are not known. ``effort``: see `hostile`."""
    data, _ = cut(utf8_of(body)[0], effort)
    root = LexborHTMLParser(data).root
    if root is None:
        return Fragments("", frozenset(), ())
    places: set[str] = set()
    links: list[tuple[str, str, str]] = []
    base = ""
    for node in root.traverse():
        attributes = node.attributes
        if not attributes:
            continue
        tag = node.tag
        if ident := attributes.get("id"):
            places.add(ident)
        if tag == "a" and (name := attributes.get("name")):
            places.add(name)
        href = attributes.get("href")
        if not href:
            continue
        if tag == "base":
            base = base or href
        elif tag in ("a", "area") and "#" in href:
            address, _, place = href.strip().partition("#")
            place = place.partition(_DIRECTIVE)[0]
            if place and place.lower() != _TOP:
                links.append((address, place, anchor(node.text())))
    return Fragments(base, frozenset(places), tuple(links))
