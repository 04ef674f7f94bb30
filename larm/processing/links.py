"""LinkFinder: where the elements of a page lead (LARM-89 to LARM-103). Called by the `Assembler` on the fetcher threads.

This is the hottest loop of a crawl: a hundred links a page. What is asked for rarely is in `PageFinder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from larm.config import Processing
from larm.model.credentials import without_credentials
from larm.model.cuts import READER
from larm.model.link_memo import PageLinks
from larm.model.links import MAX_BYTES, Links
from larm.model.message import FRAME, ORDINARY
from larm.model.url import BadUrl, Url
from larm.processing.page import Attributes, Element
from larm.processing.pointers import Related
from larm.processing.query_charset import in_charset
from larm.processing.readable import MAX_ANCHOR, anchor, names

_SOURCES = {"object": "data"}  # the attribute with the address; else src
_HINTS = names("dns-prefetch preconnect")  # these name hosts, not documents
_EMBEDDED = names(  # relations of <link> to what a page is made of, or to what no reader opens
    "stylesheet icon shortcut apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon"
    " image_src preload modulepreload manifest search pingback webmention edituri wlwmanifest import https://api.w.org/"
)
_KEPT = 20_000  # texts of links, 100 bytes each
_OEMBED = ("application/json",)


class Found(NamedTuple):
    """What some elements lead to."""

    links: Links
    related: Sequence[Related]
    """Of them the ``<link>`` elements."""
    warnings: tuple[str, ...]
    """Of malformed ones."""
    cuts: tuple[str, ...] = ()
    """See `larm.model.document.Document`."""


class LinkFinder:
    """Knows texts of links, to squeeze each once; shared by all fetcher threads."""

    def __init__(self, settings: Processing) -> None:
        # constant after construction
        self.follow_embedded = settings.follow_embedded
        self.nofollow = settings.nofollow
        # written by any thread, by single operations
        self.squeezed: dict[str, str] = {"": ""}

    def find(self, elements: Sequence[Element], resolver: PageLinks, *, follow: bool, charset: str = "") -> Found:
        """``follow``: whether the page wants that; ``charset``: that of its addresses, empty for UTF-8."""
        page = PageFinder(self, resolver, follow, charset)
        links, related = find(elements, page)
        return Found(links, related, tuple(page.malformed.values()), (READER,) if "" in page.malformed else ())

    def squeeze(self, text: str) -> str:
        """The text of a link, kept for the next page: nine in ten have been on one before. A third of the time of squeezing."""
        if len(self.squeezed) >= _KEPT:
            self.squeezed.clear()
        words = anchor(text)
        if len(text) <= MAX_ANCHOR:
            self.squeezed[text] = words
        return words


class PageFinder:
    """One page's; used by one thread."""

    __slots__ = ("_finder", "_resolver", "charset", "embedded", "follow", "hrefs", "malformed", "squeezed")

    def __init__(self, finder: LinkFinder, resolver: PageLinks, follow: bool, charset: str) -> None:
        self._finder = finder
        self._resolver = resolver
        self.hrefs = resolver.hrefs
        self.squeezed = finder.squeezed
        self.follow = follow
        self.embedded = follow and finder.follow_embedded
        self.charset = charset
        self.malformed: dict[str, str] = {}  # what is to be said of them

    def resolve(self, href: str) -> Url | None:
        """Where it leads; None: nowhere."""
        try:
            return self._resolver.resolve(href)
        except BadUrl as error:
            self.malformed[href] = f"malformed link {without_credentials(href)[:200]!r}: {error}"
            return None

    def cut_off(self, kept: int) -> None:
        """Only the first links are kept."""
        most = MAX_BYTES // 1_000_000
        self.malformed[""] = f"addresses of links of more than {most} MB; those after the first {kept} are ignored"

    def bare(self, href: str) -> str:
        """Without its fragment, as documentation leads to many places of a page; and as a browser writes it on such a page."""
        if "#" in href:
            href = href[: href.index("#")]
        return in_charset(href, self.charset) if self.charset and not href.isascii() else href

    def squeeze(self, text: str) -> str:
        """The text of a link that was not on any page before."""
        return self._finder.squeeze(text)

    def follows(self, attributes: Attributes) -> bool:
        """Whether a link with ``rel`` is followed."""
        return self.follow and not (self._finder.nofollow and _nofollow(attributes))

    def other(self, tag: str, attributes: Attributes) -> tuple[str | None, str, int, bool]:
        """(address, anchor, link type, follow) of an element that is no ``<a>``."""
        if tag == "link":
            href, rel = attributes.get("href"), (attributes.get("rel") or "").lower().split()
            if not _HINTS.isdisjoint(rel):
                href = None
            if not _EMBEDDED.isdisjoint(rel) or "as" in attributes or _is_oembed(attributes.get("type")):
                return href, "", ORDINARY, self.embedded
            return href, "", ORDINARY, self.follows(attributes)
        if tag in ("area", "refresh"):
            return attributes.get("href"), _alt(attributes), ORDINARY, self.follows(attributes)
        if tag in ("frame", "iframe"):
            return attributes.get("src"), "", FRAME, self.follow
        source = attributes.get(_SOURCES.get(tag, "src"))
        if tag in ("object", "embed") and _is_page(attributes.get("type")):  # a frame by another name
            return source, "", FRAME, self.follow
        if source and source[:5].lower() == "data:":  # may be megabytes
            source = None
        return source, _alt(attributes) if tag in ("img", "input") else "", ORDINARY, self.embedded


def find(elements: Sequence[Element], page: PageFinder) -> tuple[Links, list[Related]]:
    """The links, each once, and the ``<link>`` elements among them."""
    known, squeezed = page.hrefs, page.squeezed
    found: dict[tuple[str, int, str], int] = {}  # places
    urls: list[Url] = []
    follow = bytearray()
    related: list[Related] = []
    room = MAX_BYTES
    for tag, attributes, text in elements:
        if tag == "a":
            href = attributes.get("href") or attributes.get("xlink:href")
            kind, goes = ORDINARY, page.follow if "rel" not in attributes else page.follows(attributes)
            words = squeezed.get(text)
            if words is None:
                words = page.squeeze(text)
        else:
            href, words, kind, goes = page.other(tag, attributes)
        if not href:
            continue
        if "#" in href or page.charset:
            href = page.bare(href)
        url = known.get(href)
        if url.__class__ is not Url:
            url = page.resolve(href)
        if url is None:
            continue
        if tag == "link":
            related.append((attributes, url))
        line = (url.access, kind, words)
        if (place := found.get(line)) is None:
            room -= len(url.access) + len(url.normalised)
            if room < 0:
                page.cut_off(len(urls))
                break
            found[line] = len(urls)
            urls.append(url)
            follow.append(goes)
        elif goes:  # an image that is linked to as well
            follow[place] = True
    return Links.made(found, urls, bytes(follow)), related


def _is_page(kind: str | None) -> bool:
    return kind is not None and kind.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def _nofollow(attributes: Attributes) -> bool:
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def _alt(attributes: Attributes) -> str:
    return anchor(attributes.get("alt") or "")


def _is_oembed(kind: str | None) -> bool:
    return kind is not None and (kind.startswith(_OEMBED) or "oembed" in kind)
