"""What a program is told of a crawl: pages as they are stored, those that could not be had, and what is on the disk then."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from larm.errors import UsageError
from larm.model.document import Document, Visit
from larm.store.reader import StoreLog
from larm.store.store_log import StoreEntry


class Page:
    """A page that was fetched. Made for each call of ``on_page``; fit for any thread."""

    def __init__(self, visit: Visit, document: Document) -> None:
        # constant after construction
        assert visit.url is not None  # noqa: S101
        self.url: str = visit.url.access
        self.referrer: str = visit.referrer
        """The page with the first link to it; ``<start>`` for start URLs."""
        self.depth: int = visit.depth
        """Links from a start URL."""
        self.status: int = visit.status
        self.headers: Mapping[str, str] = visit.headers
        """Names in lower case."""
        self.body: bytes = visit.body
        """Its bytes; content encodings are undone."""
        self.mime: str = document.mime
        self.title: str = document.title
        self.language: str = document.language
        """ISO 639-1; empty where it is not known."""
        self.document: Document = document
        """All that larm has read of it."""
        self.changed: bool = visit.revisited
        """An earlier run has stored it, and it was another one then."""

    @cached_property
    def text(self) -> str:
        """The main text on one line."""
        return self.document.text

    @cached_property
    def links(self) -> Sequence[str]:
        """Addresses that it links to, also those that are not followed, in their order."""
        return [link.url.access for link in self.document.links]

    def __repr__(self) -> str:
        return f"<Page {self.url}: {self.status} {self.mime}>"


class PageError(msgspec.Struct, frozen=True):
    """An address that brought no page, after all tries."""

    url: str
    status: int
    """HTTP status; 0: there was no answer, or none that could be used."""
    reason: str
    """One line for a person."""
    referrer: str
    """The page with the first link to it."""


class Pages:
    """The pages that a run has stored, read from ``logs/store.log`` each time that one goes through them; fit for any thread.

    Each is a `larm.store.store_log.StoreEntry`, with ``url``, ``status``, ``mime``, ``title`` and ``size``; `body` has its
    bytes. There are none where ``log`` is not in ``storage.chain``.
    """

    def __init__(self, directory: Path, begin: int) -> None:
        """``begin``: bytes of store.log that are of earlier runs."""
        # constant after construction
        self._directory = directory
        self._begin = begin

    def __iter__(self) -> Iterator[StoreEntry]:
        try:
            log = StoreLog(self._directory, begin=self._begin)
        except UsageError:  # there is none
            return
        yield from log

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def body(self, page: StoreEntry) -> bytes:
        """The stored bytes of one of them; empty where the page asks not to be kept. Raises StorageError."""
        return StoreLog(self._directory).body(page)
