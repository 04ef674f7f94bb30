"""LinkMemo: from the hrefs of a page to Urls, each Url made once (LARM-102).

A site's pages repeat each other's links: of a hundred hrefs perhaps five are new. `larm.parse` makes one memo for the
crawl and asks it page by page, on the fetcher threads. No lock: every step is one look-up or one assignment in a dict, and
what two threads may do to each other is to make a Url twice.
"""

from __future__ import annotations

import re
from typing import Any

from larm.model.file_url import FILES
from larm.model.url import WHITE, BadUrl, OtherScheme, Url, URLNormalizer

_LONG = 1_000  # characters; what is longer (data: mostly) isn't worth its memory
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_OF_THE_WEB = ("http", "https")
_OF_FILES = ("http", "https", "file")
_OF_THE_SITE = ("/", "http://", "https://")
"""What begins so leads to the same address from each page of a site."""
_NEEDS_WHOLE_BASE = re.compile(r"(?:https?:)?(?:\?|$)", re.IGNORECASE)


Found = Url | str | None
"""What an href comes to; None: nowhere, a text: why it is malformed."""


class Hrefs(dict[str, Found]):
    """What the hrefs in one directory of a site come to, or, in a table of their own, those that do so in all of them."""

    __slots__ = ("targets",)

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[bytes, Any] = {}
        """The same with the texts of links, by the bytes of elements; for the compiled reader, which fills it."""


class LinkMemo:
    """The Urls that pages lead to and, for each directory of a site, what the hrefs in it come to; bounded."""

    def __init__(self, normalizer: URLNormalizer, size: int = 50_000) -> None:
        """``size`` bounds each table; a full one starts anew.

        A Url takes about 400 bytes, an href 150, a link 400.
        """
        # constant after construction
        self.normalizer = normalizer
        self._size = size
        # written by any thread, see above
        self._urls: dict[str, Url] = {}  # by access form
        self._hrefs: dict[str, Hrefs] = {}  # by directory of the page
        self._held = 0  # hrefs and links

    def at(self, base: str, page: str = "") -> PageLinks:
        """Return the resolver for one page. ``base``: its access form, or that of its ``<base>``, then ``page``: its own.

        Raises BadUrl.
        """
        url = self._urls.get(base) or self.normalizer.parse(base)
        return PageLinks(self, url.access, url if page not in ("", url.access) else None)

    def share(self, url: Url) -> Url:
        """The Url that all pages use for this address."""
        if len(url.access) > _LONG:
            return url
        if len(self._urls) >= self._size:
            self._urls = {}
        return self._urls.setdefault(url.access, url)

    def hrefs(self, directory: str) -> Hrefs:
        """What the hrefs of its pages come to."""
        if len(directory) > _LONG:
            return Hrefs()
        if len(self._hrefs) >= self._size:
            self._hrefs, self._held = {}, 0
        return self._hrefs.get(directory) or self._hrefs.setdefault(directory, Hrefs())

    def note(self, hrefs: Hrefs, href: str, found: Found) -> None:
        """Remember an href in one of `hrefs`."""
        if len(href) <= _LONG:
            self.hold()
            hrefs[href] = found

    def hold(self, more: int = 1) -> None:
        """Count what is remembered; where that is too much, forget all of it."""
        self._held += more
        if self._held > self._size:
            self._hrefs, self._held = {}, 0

    def __repr__(self) -> str:
        return f"LinkMemo({len(self._urls)} urls, {self._held} hrefs)"


class PageLinks:
    """Resolves the hrefs of one page; used by one thread."""

    __slots__ = ("_base", "_empty", "_memo", "directory", "hrefs", "normalizer", "origin", "root", "site")

    def __init__(self, memo: LinkMemo, base: str, empty: Url | None = None) -> None:
        """``empty``: where a link without an address leads, such as ``#x``; None: nowhere, as to the page itself."""
        # constant after construction
        self._empty = empty
        self._memo = memo
        self.normalizer = memo.normalizer
        self._base = base
        path = base.partition("?")[0]
        self.directory = path[: path.rindex("/") + 1]
        self.origin = base[:7] if base.startswith(FILES) else base[: base.index("/", 8)]
        self.root = self.origin + "/"
        self.hrefs = memo.hrefs(self.directory)
        """What is known already: of the links of API documentation nine in ten. For callers that ask a hundred times a page."""
        self.site = self.hrefs if base.startswith(FILES) else memo.hrefs(self.origin)
        """The same of what leads to one address from each page of the site, as most menus do."""

    def keeps(self, href: str) -> bool:
        """Return True if a link leads to the same address from other pages, too, and is not too long to be remembered."""
        return (href[: href.index("#")] if "#" in href else href) in self._known(href)

    def hold(self, links: int) -> None:
        """Count what was remembered in ``targets``."""
        self._memo.hold(links)

    def resolve(self, href: str) -> Url | None:
        """Return where ``href`` leads; None: nowhere, as to the page itself, or by ``mailto:``, ``javascript:`` ...

        Raises BadUrl for malformed ones, which are worth a warning (LARM-103).
        """
        if "#" in href:
            href = href[: href.index("#")]
        if not href:
            return self._empty
        found = self._known(href).get(href, self)
        if found is self:
            found = self._find(href)
        if isinstance(found, str):
            raise BadUrl(found)
        return found  # type: ignore[return-value]  # `self` stands for nothing found

    def _known(self, href: str) -> Hrefs:
        return self.site if href.startswith(_OF_THE_SITE) else self.hrefs

    def _find(self, href: str) -> Found:
        clean = _clean(href)
        scheme = _SCHEME.match(clean)
        found: Found = None if clean else self._empty
        fetched = _OF_FILES if self._base.startswith(FILES) else _OF_THE_WEB
        if clean and (scheme is None or scheme[1].lower() in fetched):
            try:
                found = self._memo.share(self._memo.normalizer.join(self._base, href))
            except OtherScheme:  # a file on another host, or where this crawl has none
                found = None
            except BadUrl as error:
                found = str(error)
        if not _NEEDS_WHOLE_BASE.match(clean):
            self._memo.note(self._known(href), href, found)
        return found


def _clean(href: str) -> str:
    """Without what the standard leaves out anyway."""
    return href.strip(WHITE).replace("\t", "").replace("\n", "").replace("\r", "")  # `str.translate` takes ten times as long
