"""PageReader: pages to a process beside the crawl, documents back. Owned by one thread, ``larm-relief-<n>``.

A page that ends the process twice, once among others and once alone, is known by that: it costs itself and nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

import msgspec

from larm.kit.helper_process import GRACE, Died, HelperProcess, NotStarted
from larm.model.document import Document
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.relief.protocol import Reply, Request, Terms, allowance, decode_reply, encode_request

CHILD = "larm.relief.child"
MEMORY = 4_000_000_000
"""Bytes of address space: the largest pages need a quarter of it; it only bounds a mistake."""

Page = tuple[URLMessage, Fetched]


class Lost(enum.Enum):
    """What a page is that there is no document for."""

    UNREAD = enum.auto()
    """Read it here."""
    DEADLY = enum.auto()
    """It ended the process, more than once."""


class PageReader:
    """`read`, as often as you like, then `close`."""

    def __init__(self, terms: Terms, count: Callable[[str, int], None], child: str = CHILD) -> None:
        """``count(name, n)`` adds to a statistic."""
        # constant after construction
        self._terms = terms
        self._count = count
        # only the thread that reads
        self._process = HelperProcess(child, MEMORY)

    def read(self, pages: Sequence[Page]) -> list[Document | Lost]:
        """A document for each page, in their order; waits without the GIL."""
        try:
            return self._ask(pages)
        except NotStarted:
            return [Lost.UNREAD] * len(pages)
        except Died:
            self._count("relief/died", 1)
            return [self._alone(page) for page in pages]

    def start(self) -> None:
        """Have the process ready: it takes a tenth of a second."""
        self.read(())

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _alone(self, page: Page) -> Document | Lost:
        try:
            return self._ask([page])[0]
        except NotStarted:
            return Lost.UNREAD
        except Died:
            self._count("relief/died", 1)
            return Lost.DEADLY

    def _ask(self, pages: Sequence[Page]) -> list[Document | Lost]:
        try:
            reply = self._exchange(Request(pages))
            if reply.ignorant:
                reply = self._exchange(Request(pages, self._terms))
        except (msgspec.DecodeError, UnicodeError):  # an answer of nonsense, or a header that can't be told
            self.close()
            return [Lost.UNREAD] * len(pages)
        if len(reply.documents) != len(pages):
            self.close()
            return [Lost.UNREAD] * len(pages)
        for name, n in reply.counts.items():
            self._count(name, n)
        return [Lost.UNREAD if document is None else document for document in reply.documents]

    def _exchange(self, request: Request) -> Reply:
        return decode_reply(self._process.ask(encode_request(request), allowance(len(request.pages)) + 2 * GRACE))
