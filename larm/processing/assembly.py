"""Assembler: makes a `Page` into a Document: resolves the links and decides which are followed (LARM-89 to LARM-103).

Called by the HTML processors on the fetcher threads. This is the hottest loop of a crawl: a hundred links a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from larm.config import Processing
from larm.model.crawl_hash import page_hash
from larm.model.credentials import without_credentials
from larm.model.document import Document, Link
from larm.model.link_memo import LinkMemo, PageLinks
from larm.model.message import FRAME, ORDINARY, URLMessage
from larm.model.outcome import Fetched
from larm.model.url import BadUrl, Url
from larm.processing import facts
from larm.processing.directives import Robots, is_for_us, of_header, of_meta
from larm.processing.language import language_of
from larm.processing.page import Attributes, Element, Page
from larm.processing.pointers import Related, alternates, canonical, refresh_target
from larm.processing.query_charset import UNICODE, in_charset
from larm.processing.readable import MAX_ANCHOR, anchor, names, squeeze_line

MAX_WARNINGS = 20
"""Lines a page."""

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

    links: tuple[Link, ...]
    related: Sequence[Related]
    """Of them the ``<link>`` elements."""
    warnings: tuple[str, ...]


class Assembler:
    """Keeps no state between pages; shared by all fetcher threads."""

    def __init__(self, links: LinkMemo, settings: Processing, agent: str = "larm") -> None:
        """``agent``: our product token, in lower case; some rules of pages are for one crawler."""
        # constant after construction
        self._agent = agent
        self._memo = links
        self._follow_embedded = settings.follow_embedded
        self._nofollow = settings.nofollow
        # written by any thread, by single operations
        self._squeezed: dict[str, str] = {"": ""}

    def document(self, message: URLMessage, fetched: Fetched, mime: str, page: Page, *, index: bool = True) -> Document:
        """The Document of a page, as far as the page itself says; malformed links are warnings in it.

        ``index``: False for what is no page for readers. What the headers add, `larm.processing.headers` does for documents
        of all types.
        """
        about, elements, warnings = page.about, page.elements, list(page.warnings)
        base, robots, extra = self._about(about) if about else ("", Robots(), ())
        if extra:
            elements = [*extra, *elements]
        resolver = self._memo.at(message.url.access)
        if base:
            resolver = self._based(resolver, base, warnings)
        follow = robots.follow or not self._nofollow
        links, related = self._links(elements, resolver, follow, warnings, "" if page.charset in UNICODE else page.charset)
        metas = facts.named_metas(about) if page.text else {}
        return Document(
            mime=mime,
            title=squeeze_line(page.title),
            raw_text=page.text,
            other_text=page.other,
            headings=tuple(page.headings),
            description=facts.description(metas) if metas else "",
            language=self._language(message, fetched, page, metas) if page.text else "",
            modified=page.modified
            or (facts.modified(metas, page.linked_data, fetched.headers.get("last-modified", "")) if page.text else 0),
            words=page.words or (page_hash(page.title, page.text) if page.text else 0),
            links=links,
            charset=page.charset,
            index=index and robots.indexed,
            follow=follow,
            archive=robots.archive,
            snippet=robots.snippet,
            until=robots.until,
            canonical=canonical(related, message.url) if related else None,
            alternates=alternates(related) if related else (),
            warnings=_lines(message.url.access, warnings) if warnings else (),
        )

    def _language(self, message: URLMessage, fetched: Fetched, page: Page, metas: Mapping[str, str]) -> str:
        tag = page.language or metas.get("content-language") or metas.get("language")
        return language_of(tag or fetched.headers.get("content-language", ""), page.text, message.url.hostname)

    def links(self, page: str, elements: Sequence[Element], *, follow: bool, base: str = "") -> Found:
        """What other elements lead to, on a page with this access URL and ``<base>``: those of its headers, of its styles."""
        warnings: list[str] = []
        resolver = self._memo.at(page)
        if base:
            resolver = self._based(resolver, base, [])
        links, related = self._links(elements, resolver, follow, warnings)
        return Found(links, related, _lines(page, warnings))

    def _about(self, about: Sequence[Element]) -> tuple[str, Robots, Sequence[Element]]:
        """(base, rules, links) that ``<base>`` and ``<meta>`` contain."""
        base, robots = None, Robots()
        extra: list[Element] = []
        for tag, attributes, _ in about:
            if tag == "base":
                base = attributes.get("href") if base is None else base  # the first with a href counts
            elif (name := attributes.get("name")) is not None:
                if is_for_us(name, self._agent):
                    robots = robots.also(of_meta(attributes.get("content") or ""))
            elif (equivalent := (attributes.get("http-equiv") or "").lower()) == "refresh":
                extra.append(("refresh", {"href": refresh_target(attributes.get("content") or "")}, ""))
            elif equivalent == "x-robots-tag":
                robots = robots.also(of_header(attributes.get("content") or "", self._agent))
        return base or "", robots, extra

    def _based(self, resolver: PageLinks, base: str, warnings: list[str]) -> PageLinks:
        """The resolver for a page with ``<base href>``."""
        try:
            url = resolver.resolve(base)
            return resolver if url is None else self._memo.at(url.access)
        except BadUrl as error:
            warnings.append(f"malformed <base> {without_credentials(base)[:200]!r}: {error}")
            return resolver

    def _links(
        self, elements: Sequence[Element], resolver: PageLinks, follow: bool, warnings: list[str], charset: str = ""
    ) -> tuple[tuple[Link, ...], list[Related]]:
        known, squeezed, embedded = resolver.hrefs, self._squeezed, follow and self._follow_embedded
        found: dict[tuple[str, int, str], Link] = {}
        related: list[Related] = []
        malformed: set[str] = set()
        obey = follow and self._nofollow
        for tag, attributes, text in elements:
            if tag == "a":
                href = attributes.get("href") or attributes.get("xlink:href")
                kind, goes = ORDINARY, follow if "rel" not in attributes else follow and not (obey and _nofollow(attributes))
                words = squeezed.get(text)
                if words is None:
                    words = self._squeeze(text)
            else:
                href, words, kind, goes = self._other(tag, attributes, follow, embedded)
            if not href:
                continue
            if "#" in href:  # before the look-up: documentation leads to many places of a page
                href = href[: href.index("#")]
            href = in_charset(href, charset) if charset and not href.isascii() else href
            url = known.get(href)
            if url.__class__ is not Url:
                try:
                    url = resolver.resolve(href)
                except BadUrl as error:
                    if href not in malformed:
                        malformed.add(href)
                        warnings.append(f"malformed link {without_credentials(href)[:200]!r}: {error}")
                    continue
            if url is not None:
                if tag == "link":
                    related.append((attributes, url))
                line = (url.access, kind, words)
                if (first := found.get(line)) is None or (goes and not first.follow):  # an image that is linked to as well
                    found[line] = Link(url, kind, words, goes)
        return tuple(found.values()), related

    def _squeeze(self, text: str) -> str:
        """The text of a link, kept for the next page: nine in ten have been on one before. A third of the time of squeezing."""
        if len(self._squeezed) >= _KEPT:
            self._squeezed.clear()
        words = anchor(text)
        if len(text) <= MAX_ANCHOR:
            self._squeezed[text] = words
        return words

    def _other(self, tag: str, attributes: Attributes, follow: bool, embedded: bool) -> tuple[str | None, str, int, bool]:
        """(address, anchor, link type, follow) of an element that is no ``<a>``."""
        if tag == "link":
            href, rel = attributes.get("href"), (attributes.get("rel") or "").lower().split()
            if not _HINTS.isdisjoint(rel):
                href = None
            if not _EMBEDDED.isdisjoint(rel) or "as" in attributes or _is_oembed(attributes.get("type")):
                return href, "", ORDINARY, embedded
            return href, "", ORDINARY, follow and not (self._nofollow and "nofollow" in rel)
        if tag in ("area", "refresh"):
            follow = follow and not (self._nofollow and _nofollow(attributes))
            return attributes.get("href"), _alt(attributes), ORDINARY, follow
        if tag in ("frame", "iframe"):
            return attributes.get("src"), "", FRAME, follow
        source = attributes.get(_SOURCES.get(tag, "src"))
        if source and source[:5].lower() == "data:":  # may be megabytes
            source = None
        return source, _alt(attributes) if tag in ("img", "input") else "", ORDINARY, embedded


def _nofollow(attributes: Attributes) -> bool:
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


def _alt(attributes: Attributes) -> str:
    return anchor(attributes.get("alt") or "")


def _is_oembed(kind: str | None) -> bool:
    return kind is not None and (kind.startswith(_OEMBED) or "oembed" in kind)


def _lines(page: str, warnings: list[str]) -> tuple[str, ...]:
    if len(warnings) > MAX_WARNINGS:
        more = len(warnings) - MAX_WARNINGS + 1
        warnings = [*warnings[: MAX_WARNINGS - 1], f"{more} more of that kind"]
    return tuple(f"{page}: {warning}" for warning in warnings)
