"""LinkFinder: where the elements of a page lead (LARM-89 to LARM-103). Called by the `Assembler` on the fetcher threads.

This is the hottest loop of a crawl: a hundred links a page. What is asked for rarely is in `PageFinder`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

from larm.config import ProcessingSettings
from larm.model.credentials import without_credentials
from larm.model.cuts import LINKS
from larm.model.left import NOFOLLOW, OPENSEARCH
from larm.model.link_memo import PageLinks
from larm.model.links import Links, Row, row
from larm.model.message import FRAME, ORDINARY, SITEMAP
from larm.model.url import BadUrl, Url
from larm.parse.charset import in_charset
from larm.parse.page import Attributes, Element
from larm.parse.pointers import Related
from larm.parse.readable import anchor, names

_SOURCES = {"object": "data"}  # the attribute with the address; else src
_HINTS = names("dns-prefetch preconnect")  # these name hosts, not documents
_EMBEDDED = names(  # relations of <link> to what a page is made of, or to what no reader opens
    "stylesheet icon shortcut apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon"
    " image_src preload modulepreload manifest pingback webmention edituri wlwmanifest import https://api.w.org/"
)
_OPENSEARCH: Final = "application/opensearchdescription+xml"
_FOR_PROGRAMS = ("application/json", _OPENSEARCH)
_READABLE = ("text/html", "application/xhtml+xml", "application/pdf")
_NAMED = re.compile(r"\.(?:html?|xhtml|pdf)(?:[?#]|$)", re.IGNORECASE)
BYTES: Final = 160
"""Of a link, with its text and its address in both forms, on an average page of very many: what a short link stands for is as
long as the address of its page."""


class Found(NamedTuple):
    """What some elements lead to."""

    links: Links
    related: Sequence[Related]
    """Of them the ``<link>`` elements."""
    warnings: tuple[str, ...]
    """Of malformed ones."""
    malformed: bool = False
    """Some are no addresses."""
    cuts: tuple[str, ...] = ()
    """See `larm.model.document.Document`."""
    left: Sequence[str] = ()
    """Names of statistics that count the page, as some of its links are not followed (`larm.model.left`)."""


class LinkFinder:
    """Shared by all fetcher threads; it keeps no state."""

    def __init__(self, settings: ProcessingSettings) -> None:
        # constant after construction
        self.follow_embedded = settings.follow_embedded
        self.nofollow = settings.nofollow
        self._most = settings.links

    def find(self, elements: Sequence[Element], resolver: PageLinks, *, follow: bool, charset: str = "") -> Found:
        """``follow``: whether the page wants that; ``charset``: that of its addresses, empty for UTF-8."""
        page = PageFinder(self, resolver, follow, charset)
        links, related = find(elements, page, self._most)
        said = page.malformed
        cut = "" in said
        return Found(links, related, tuple(said.values()), len(said) > cut, (LINKS,) if cut else (), tuple(page.left))


class PageFinder:
    """One page's; used by one thread."""

    __slots__ = ("_finder", "charset", "embedded", "follow", "left", "malformed", "resolver")

    def __init__(self, finder: LinkFinder, resolver: PageLinks, follow: bool, charset: str) -> None:
        self._finder = finder
        self.resolver = resolver
        self.follow = follow
        self.embedded = follow and finder.follow_embedded
        self.charset = charset
        self.malformed: dict[str, str] = {}  # what is to be said of them
        self.left: dict[str, None] = {}
        """See `Found`."""

    def row(self, href: str | None, words: str, kind: int) -> Row | None:
        """Where any element leads; None: nowhere."""
        url = self.resolve(href) if href else None
        return None if url is None else row(url, kind, words)

    def resolve(self, href: str) -> Url | None:
        """Where it leads; None: nowhere."""
        if self.charset and not href.isascii():
            href = in_charset(href, self.charset)
        try:
            return self.resolver.resolve(href)
        except BadUrl as error:
            self.malformed[href] = f"malformed link {without_credentials(href)[:200]!r}: {error}"
            return None

    def cut_off(self, found: int, kept: int) -> None:
        """Only the first links are kept."""
        self.malformed[""] = f"{found} links and the like; those after the first {kept} are ignored"

    def follows(self, attributes: Attributes) -> bool:
        """Whether a link with ``rel`` is followed."""
        if self._finder.nofollow and _nofollow(attributes):
            self.left[NOFOLLOW] = None
            return False
        return self.follow

    def other(self, tag: str, attributes: Attributes) -> tuple[str | None, str, int, bool]:
        """(address, anchor, link type, follow) of an element that is no ``<a>``."""
        if tag == "link":
            href, (hints, embeds, kind) = attributes.get("href"), _relation(attributes.get("rel") or "")
            if hints:
                href = None
            said = (attributes.get("type") or "").lower()
            if said.startswith(_OPENSEARCH) and not self.embedded:
                self.left[OPENSEARCH] = None
            if embeds or "as" in attributes or said.startswith(_FOR_PROGRAMS) or "oembed" in said:
                return href, "", ORDINARY, self.embedded
            return href, "", kind, self.follows(attributes)
        if tag in ("area", "refresh"):
            return attributes.get("href"), _alt(attributes), ORDINARY, self.follows(attributes)
        if tag in ("frame", "iframe"):
            return attributes.get("src"), "", FRAME, self.follow
        source = attributes.get(_SOURCES.get(tag, "src"))
        if tag in ("object", "embed") and _is_page(attributes.get("type"), source or ""):  # a frame by another name
            return source, "", FRAME, self.follow
        if source and source[:5].lower() == "data:":  # may be megabytes
            source = None
        return source, _alt(attributes) if tag in ("img", "input") else "", ORDINARY, self.embedded


def find(elements: Sequence[Element], page: PageFinder, most: int) -> tuple[Links, list[Related]]:
    """The links, each once, and the ``<link>`` elements among them; of no more than ``most`` elements."""
    if (compiled := getattr(elements, "find", None)) is not None:
        return cast("tuple[Links, list[Related]]", compiled(page, most))
    places: dict[str, int] = {}  # of their lines
    rows: list[Row] = []
    follow = bytearray()
    related: list[Related] = []
    room = most * BYTES
    if len(elements) > most:
        page.cut_off(len(elements), most)
        elements = elements[:most]
    for tag, attributes, text in elements:
        if tag == "a":
            goes = page.follow if "rel" not in attributes else page.follows(attributes)
            link = attributes.get("href") or attributes.get("xlink:href") or ("#" if "href" in attributes else "")
            found = page.row(link, anchor(text), ORDINARY)
        else:
            href, words, kind, goes = page.other(tag, attributes)
            found = page.row(href, words, kind)
        if found is None:
            continue
        line, url, _ = found
        if tag == "link":
            related.append((attributes, url))
        if (place := places.get(line)) is None:
            room -= len(line)
            if room < 0:
                page.cut_off(len(elements), len(rows))
                break
            places[line] = len(rows)
            rows.append(found)
            follow.append(goes)
        elif goes:  # an image that is linked to as well
            follow[place] = True
    return Links.made(rows, bytes(follow)), related


@lru_cache(maxsize=1_000)
def _relation(rel: str) -> tuple[bool, bool, int]:
    """Return whether it names a host only, whether it is a part of the page, and the link type."""
    names = rel.lower().split()
    return not _HINTS.isdisjoint(names), not _EMBEDDED.isdisjoint(names), SITEMAP if "sitemap" in names else ORDINARY


def _is_page(kind: str | None, source: str) -> bool:
    """Whether a browser shows it as it shows a page; ``kind``: as it stands there, or None."""
    return kind.partition(";")[0].strip().lower() in _READABLE if kind else _NAMED.search(source) is not None


def _nofollow(attributes: Attributes) -> bool:
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def _alt(attributes: Attributes) -> str:
    return anchor(attributes.get("alt") or "")
