"""Assembler: makes a `Page` into a Document: what it is, where it leads, what it asks of us.

Called by the HTML processors on the fetcher threads.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from larm.config import ProcessingSettings
from larm.model.crawl_hash import page_hash
from larm.model.credentials import without_credentials
from larm.model.document import Document
from larm.model.left import NOFOLLOW
from larm.model.link_memo import LinkMemo, PageLinks
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import BadUrl
from larm.parse import facts
from larm.parse.charset import UNICODE
from larm.parse.directives import Robots, is_for_us, of_header, of_meta
from larm.parse.language import language_of
from larm.parse.links import Found, LinkFinder
from larm.parse.page import Element, Page
from larm.parse.pointers import alternates, canonical, refresh_target
from larm.parse.readable import squeeze_line, unbroken

CONTRADICTED: Final = "processing/charset_contradicted"
"""Counts pages that say one encoding of themselves and are in another."""
MALFORMED: Final = "processing/malformed_links"
"""Counts pages with links that are no addresses, which are in the logs of the threads."""
MAX_WARNINGS = 20
"""Lines a page."""


class Assembler:
    """Keeps no state between pages; shared by all fetcher threads."""

    def __init__(self, links: LinkMemo, settings: ProcessingSettings, agent: str = "larm", *, facts: bool = True) -> None:
        """``agent``: our product token, in lower case; some rules of pages are for one crawler.

        ``facts``: False where no storage asks for language, description and date.
        """
        # constant after construction
        self._agent = agent
        self._memo = links
        self._facts = facts
        self._nofollow = settings.nofollow
        self._finder = LinkFinder(settings)

    def document(self, message: URLMessage, fetched: Fetched, mime: str, page: Page, *, index: bool = True) -> Document:
        """The Document of a page, as far as the page itself says; malformed links are warnings in it.

        ``index``: False for what is no page for readers. What the headers add, `larm.parse.headers` does for documents
        of all types.
        """
        about, elements, warnings = page.about, page.elements, list(page.warnings)
        base, robots, extra = self._about(about) if about else ("", Robots(), ())
        if extra:
            elements = [*extra, *elements]
        address = message.url.access
        resolver = self._based(address, base, warnings) if base else PageLinks(self._memo, address)
        follow = robots.follow or not self._nofollow
        charset = "" if page.charset in UNICODE else page.charset
        found = self._finder.find(elements, resolver, follow=follow, charset=charset)
        related = found.related
        warnings += found.warnings
        counts = (*page.counts, MALFORMED) if found.malformed else page.counts
        if found.left:
            counts = (*counts, *found.left)
        if found.links and not follow and NOFOLLOW not in counts:
            counts = (*counts, NOFOLLOW)
        if page.declared:
            warnings.append(f"it says that it is {page.declared}, but it is {page.charset}")
            counts = (*counts, CONTRADICTED)
        told = self._facts and bool(page.text)
        metas = facts.named_metas(about) if told else {}
        return Document(
            mime=mime,
            title=squeeze_line(unbroken(page.title)),
            raw_text=unbroken(page.text),
            other_text=unbroken(page.other),
            headings=tuple(map(unbroken, page.headings)),
            places=tuple(page.places),
            description=facts.description(metas) if metas else "",
            language=self._language(message, fetched, page, metas) if told else "",
            modified=page.modified
            or (facts.modified(metas, page.linked_data, fetched.headers.get("last-modified", "")) if told else 0),
            words=page.words or (page_hash(page.title, page.text) if page.text else 0),
            links=found.links,
            charset=page.charset,
            index=index and robots.indexed,
            follow=follow,
            archive=robots.archive,
            snippet=robots.snippet,
            until=robots.until,
            canonical=canonical(related, message.url) if related else None,
            alternates=alternates(related) if related else (),
            warnings=_lines(message.url.access, warnings) if warnings else (),
            counts=counts,
            cuts=tuple(dict.fromkeys((*page.cuts, *found.cuts))) if page.cuts or found.cuts else (),
            lastmods=None if page.lastmods is None else _lastmods(page.lastmods, resolver),
        )

    def _language(self, message: URLMessage, fetched: Fetched, page: Page, metas: Mapping[str, str]) -> str:
        tag = page.language or metas.get("content-language") or metas.get("language")
        return language_of(tag or fetched.headers.get("content-language", ""), page.text, message.url.hostname)

    def links(self, page: str, elements: Sequence[Element], *, follow: bool, base: str = "") -> Found:
        """What other elements lead to, on a page with this access URL and ``<base>``: those of its headers, of its styles."""
        resolver = self._based(page, base, []) if base else self._memo.at(page)
        found = self._finder.find(elements, resolver, follow=follow)
        return found._replace(warnings=_lines(page, found.warnings))

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

    def _based(self, page: str, base: str, warnings: list[str]) -> PageLinks:
        """Return the resolver for a page, of which the access form is given, with ``<base href>``."""
        resolver = self._memo.at(page)
        try:
            url = resolver.resolve(base)
            return resolver if url is None else self._memo.at(url.access, page)
        except BadUrl as error:
            warnings.append(f"malformed <base> {without_credentials(base)[:200]!r}: {error}")
            return resolver


def _lastmods(said: Sequence[tuple[str, int]], resolver: PageLinks) -> dict[int, int]:
    found = {}
    for address, seconds in said:
        with suppress(BadUrl):  # of which there is a warning
            if (url := resolver.resolve(address)) is not None:
                found[url.fingerprint] = seconds
    return found


def _lines(page: str, warnings: Sequence[str]) -> tuple[str, ...]:
    if len(warnings) > MAX_WARNINGS:
        more = len(warnings) - MAX_WARNINGS + 1
        warnings = [*warnings[: MAX_WARNINGS - 1], f"{more} more of that kind"]
    return tuple(f"{page}: {warning}" for warning in warnings)
