"""StoredLines: confirms lines of store.log and rebuilds lines of links.log, for `larm.ops.repair` on its main thread."""

import mimetypes
from contextlib import suppress
from pathlib import Path

from larm.engine.landed import start_visit
from larm.kit.logs.columns import clean
from larm.model.crawl_hash import digest
from larm.model.document import Visit
from larm.model.links import NONE as NO_LINKS
from larm.model.links import Link, Links
from larm.model.message import REDIRECT, SITEMAP, URLMessage
from larm.model.url import BadUrl, Url
from larm.ops.stored_pages import StoredPage, StoredPages
from larm.store.pages.page_rows import page_rows
from larm.store.store_log import StoreEntry, format_links

_TYPES = frozenset(mimetypes.types_map.values())


class StoredLines:
    """The page book and the stored bytes as sources of log lines. Implements `larm.store.salvage_logs.Judge`."""

    def __init__(self, pages: StoredPages, book: Path) -> None:
        # constant after construction
        self._pages = pages
        self._book = book

    def is_last(self, entry: StoreEntry, body: bytes) -> bool:
        """See `Judge`."""
        page = self._page(entry)
        row = page.row if page else None
        return row is None or not (row.stored and body) or abs(row.known.digest) in {0, digest(body)}

    def confirms(self, entry: StoreEntry, body: bytes) -> bool:
        """See `Judge`. Title and type are compared with the stored page."""
        page = self._page(entry)
        if page is None or page.row is None or not body or entry.size != len(body) or entry.mime not in _TYPES:
            return False
        row, document = page.row, self._pages.read(page, body)
        same = (row.referrer, row.access, row.normalised, row.link_type & SITEMAP, document.title)
        written = (entry.from_page, entry.url, entry.normalised, entry.link_type, entry.title)
        return written == tuple(clean(each) if isinstance(each, str) else each for each in same) and (
            abs(row.known.digest) == digest(body) and entry.status in {row.last.status, 200}
        )

    def links(self, entry: StoreEntry, body: bytes) -> list[bytes]:
        """See `Judge`."""
        page = self._page(entry)
        links = self._pages.read(page, body).links if page and body else NO_LINKS
        return format_links(entry.url, links).splitlines(keepends=True)

    def redirects(self) -> list[bytes]:
        """See `Judge`."""
        parse = self._pages.normalizer.parse
        header = self._pages.header
        visits = [start_visit([URLMessage(parse(start)) for start in header.start_urls])] if header else []
        for _, row in page_rows(self._book):
            with suppress(BadUrl):
                visits += [redirect_visit(parse(row.access), parse(row.last.moved))] if row.last.moved else []
        return [line for visit in visits for line in format_links(visit.page, visit.links).splitlines(keepends=True)]

    def _page(self, entry: StoreEntry) -> StoredPage | None:
        with suppress(BadUrl):
            url = self._pages.normalizer.parse(entry.url)
            return StoredPage(entry, url, self._pages.row(url))
        return None


def redirect_visit(page: Url, there: Url) -> Visit:
    """Return the visit that storages get for a redirect."""
    return Visit(page.access, links=Links.of([Link(there, REDIRECT, "")]), url=page)
