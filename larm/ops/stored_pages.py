"""StoredPages: the pages of a directory as they are now, read again from their stored bytes. For exports and new indexes.

On the main thread; a crawl may be running. Of each page its last version counts, and none that is gone. Pages come in the order
in which these were stored. Memory does not grow with the pages, but for a crawl that was revisited: by 100 bytes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from larm.building.readers import Processors, memory_budget, normalizer_of
from larm.config import Config
from larm.crawldir.state import PAGES, QUEUES, REPAIR_PART, last_header
from larm.kit.clock import SystemClock
from larm.kit.counters import Counters
from larm.kit.disk.files import is_there
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.url import BadUrl, Url
from larm.store.pages.page_row import PageRow
from larm.store.pages.page_rows import PageRows
from larm.store.reader import LeftOut, StoreLog
from larm.store.store_log import StoreEntry


class StoredPage(NamedTuple):
    """One of them."""

    entry: StoreEntry
    url: Url
    row: PageRow | None
    """None: the book of pages was removed."""


class StoredPages:
    """Of one directory; a context. Raises UsageError where nothing was stored, ConfigError, StorageError.

    Damaged records are left out: the user calls `LeftOut.refuse` at its end.
    """

    def __init__(self, settings: Config, directory: Path, position: int | None = None, left_out: LeftOut | None = None) -> None:
        """``position``: bytes of store.log that count; None: all of it."""
        # constant after construction
        self.header = last_header(directory)
        """None: there is no checkpoint."""
        self.left_out = LeftOut() if left_out is None else left_out
        self.log = StoreLog(directory, position, left_out=self.left_out)
        self.normalizer = normalizer_of(settings, directory, self.header.start_urls if self.header else settings.crawl.start)
        self._process = Processors(
            settings, self.normalizer, Counters(), SystemClock(), text=True, memory=memory_budget(settings)
        )
        book = directory / QUEUES / PAGES
        self._rows = PageRows(book) if is_there(book) else None
        self._revisited = self.header is None or self.header.cycle > 0 or REPAIR_PART in self.header.parts

    def __enter__(self) -> StoredPages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """No more is read."""
        self._process.close()
        if self._rows is not None:
            self._rows.close()

    def __iter__(self) -> Iterator[StoredPage]:
        for entry in self.log.latest() if self._revisited else self.log:
            try:
                url = self.normalizer.parse(entry.url)
            except BadUrl:  # the log is damaged, or the rules of hosts are others now
                continue
            page = self.left_out.read(entry.url, partial(self._page, entry, url))
            if page is not None and (page.row is None or page.row.stored):
                yield page

    def _page(self, entry: StoreEntry, url: Url) -> StoredPage:
        return StoredPage(entry, url, self.row(url))

    def body(self, page: StoredPage) -> bytes:
        """Its bytes; empty where no copy is kept."""
        return self.log.body(page.entry)

    def robots(self, entry: StoreEntry) -> str | None:
        """Return what a page asks of crawlers, as an X-Robots-Tag says it, as far as is known; None: the page was removed."""
        try:
            row = self.row(self.normalizer.parse(entry.url))
        except BadUrl:  # the log is damaged, or the rules of hosts are others now
            return ""
        if row is not None and row.forgotten:
            return None
        return "" if row is None else ", ".join(filter(None, ("" if row.index else "noindex", row.asks)))

    def row(self, url: Url) -> PageRow | None:
        """Return what the book of pages has of it; None: nothing, or the book was removed."""
        return None if self._rows is None else self._rows.find(url.fingerprint)

    def read(self, page: StoredPage, body: bytes | None = None) -> Document:
        """What it says. Of HTTP headers type and date are known, and what it asks of crawlers, but not the encoding. Where no
        copy is kept: its title.

        ``body``: its bytes, where they are at hand."""
        entry, body = page.entry, self.body(page) if body is None else body
        if entry.size and not body:
            return Document(entry.mime, entry.title, archive=False)
        headers = {"content-type": entry.mime}
        if row := page.row:
            headers |= {"last-modified": row.known.last_modified, "x-robots-tag": row.asks}
        return self._process.process(URLMessage(page.url), Fetched(entry.status, headers, body, Timing()))

    def read_whole(self, page: StoredPage) -> Document | None:
        """As `read`; None: its bytes can't be read, so it is left out."""
        return self.left_out.read(page.entry.url, lambda: self.read(page))
