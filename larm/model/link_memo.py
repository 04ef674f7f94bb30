"""LinkMemo: from the hrefs of a page to Urls, each Url made once (LARM-102).

A site's pages repeat each other's links: of a hundred hrefs perhaps five are new. `larm.processing` makes one memo for the
crawl and asks it page by page, on the fetcher threads. No lock: every step is one look-up or one assignment in a dict, and
what two threads may do to each other is to make a Url twice.
"""

from __future__ import annotations

import re

from larm.model.url import WHITE, BadUrl, OtherScheme, Url, URLNormalizer

_LONG = 1_000  # characters; what is longer (data: mostly) isn't worth its memory
_REMOVED = {ord(character): None for character in "\t\n\r"}  # anywhere in a URL, says the standard
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NEEDS_WHOLE_BASE = re.compile(r"(?:https?:)?(?:\?|$)", re.IGNORECASE)


class LinkMemo:
    """The Urls that pages lead to, and the hrefs that are troublesome; bounded."""

    def __init__(self, normalizer: URLNormalizer, size: int = 50_000) -> None:
        """``size`` bounds both tables; a full one starts anew. A Url takes about 400 bytes."""
        # constant after construction
        self.normalizer = normalizer
        self._size = size
        # written by any thread, see above
        self.urls: dict[str, Url] = {}
        """By access form."""
        self.odd: dict[tuple[str, str], Url | str | None] = {}
        """By directory of the page and href: hrefs that a glance can't resolve. None: ignored; a text: why it is malformed."""

    def at(self, base: str) -> PageLinks:
        """The resolver for one page. ``base`` is its access form, or that of its ``<base>``. Raises BadUrl."""
        return PageLinks(self, (self.urls.get(base) or self.normalizer.parse(base)).access)

    def share(self, url: Url) -> Url:
        """The Url that all pages use for this address."""
        if len(url.access) > _LONG:
            return url
        if len(self.urls) >= self._size:
            self.urls = {}
        return self.urls.setdefault(url.access, url)

    def note(self, directory: str, href: str, found: Url | str | None) -> None:
        """Remember what an odd href came to."""
        if len(directory) + len(href) > _LONG:
            return
        if len(self.odd) >= self._size:
            self.odd = {}
        self.odd[directory, href] = found

    def __repr__(self) -> str:
        return f"LinkMemo({len(self.urls)} urls, {len(self.odd)} odd hrefs)"


class PageLinks:
    """Resolves the hrefs of one page; used by one thread."""

    __slots__ = ("_base", "_directory", "_memo", "_origin", "_path")

    def __init__(self, memo: LinkMemo, base: str) -> None:
        # constant after construction
        self._memo = memo
        self._base = base
        self._path = base.partition("?")[0]
        self._directory = self._path[: self._path.rindex("/") + 1]
        self._origin = base[: base.index("/", 8)]

    def resolve(self, href: str) -> Url | None:
        """Where ``href`` leads; None if it leads nowhere: empty, only a fragment, ``mailto:``, ``javascript:`` ...

        Raises BadUrl for malformed ones, which are worth a warning (LARM-103).
        """
        if "#" in href:
            href = href[: href.index("#")]
        if not href:
            return None
        # Gluing texts together is right exactly if the outcome is an access form. All keys of `urls` are, so a hit is an
        # answer, and `_miss` asks the normaliser.
        first = href[0]
        if first == "/":
            glued = self._origin + href if not href.startswith("//") else self._origin[: self._origin.index("/")] + href
        elif href.startswith(("http://", "https://")):
            glued = href
        elif first == ".":
            glued = self._climb(href)
        elif first == "?":
            glued = self._path + href
        elif ":" in href:
            glued = ""
        else:
            glued = self._directory + href
        return self._memo.urls.get(glued) or self._miss(href, glued)

    def _climb(self, href: str) -> str:
        """Every link of many documentation sites begins with ``../``."""
        directory = self._directory
        while href.startswith("../"):
            href = href[3:]
            if len(directory) > len(self._origin) + 1:
                directory = directory[: directory.rindex("/", 0, -1) + 1]
        return directory + href

    def _miss(self, href: str, glued: str) -> Url | None:
        memo = self._memo
        found = memo.odd.get((self._directory, href), self)
        if found is None or isinstance(found, Url):
            return found
        if isinstance(found, str):
            raise BadUrl(found)
        if glued and (url := memo.normalizer.canonical(glued)):
            return memo.share(url)
        return self._resolve_odd(href)

    def _resolve_odd(self, href: str) -> Url | None:
        clean = href.strip(WHITE).translate(_REMOVED)
        scheme = _SCHEME.match(clean)
        found: Url | str | None = None
        if clean and (scheme is None or scheme[1].lower() in ("http", "https")):
            try:
                found = self._memo.share(self._memo.normalizer.join(self._base, href))
            except OtherScheme:  # can't happen with an http base, but means the same
                found = None
            except BadUrl as error:
                found = str(error)
        if not _NEEDS_WHOLE_BASE.match(clean):
            self._memo.note(self._directory, href, found)
        if isinstance(found, str):
            raise BadUrl(found)
        return found
