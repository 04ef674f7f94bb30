"""Documents: fetches the documents of a search's candidates from the owners of their URLs (YACY-33, 48).

Each is checked against its author's signature. The best are fetched first, on a thread of their own, and shown soon.
"""

import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from larm.fetch.http_client import NoAnswer
from larm.kit.deadline import Deadline
from larm.kit.threads.workers import Workers
from larm.peers.identity import Verify
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.hashes import position_of
from larm.peers.yacy.item import Item, Kind, is_body, refusal
from larm.peers.yacy.node import Node
from larm.peers.yacy.page import BadPageError, Page, joined, read_page
from larm.peers.yacy.questions import MOST_PAGES, PAGES, PagesFound, PagesOf

_SHARE = 0.4
"""Share of the remaining time for each round of questions."""
_TOO_LATE = 0.01
"""Seconds in which no peer answers."""
_MOST_TEXT = 20_000_000
"""Characters of the documents of one search; further ones are dropped, since a stranger's long text may be a short item."""
_MOST_MET = 100
"""Number of authors that wait for a sample."""


class Document(NamedTuple):
    """A page and its author."""

    page: Page
    author: str
    trusted: bool
    """True if the user trusts the author; of several authors of one page, this one is believed."""


class Documents:
    """The documents of one search, made by its thread. ``fresh``: returns the URLs of which none need be fetched."""

    def __init__(
        self, node: Node, desk: Desk, verify: Verify, deadline: Deadline, fresh: Callable[[Iterable[str]], Container[str]]
    ) -> None:
        # constant after construction
        self._fresh = fresh
        self._node = node
        self._desk = desk
        self._verify = verify
        self._deadline = deadline
        self._failed: list[BaseException] = []
        self._workers = Workers(lambda _, error: self._failed.append(error))
        self._changed = threading.Condition()
        # guarded by self._changed
        self._found: dict[str, Document] = {}
        self._new: dict[str, Document] = {}
        """Documents that were not handed out yet."""
        self._waits = True
        self._room = _MOST_TEXT

    def some(self, urls: Sequence[str], elsewhere: Mapping[str, set[str]], soon: Deadline) -> list[Document]:
        """Return the documents that have come when it is ``soon``, or the first one that comes later."""
        self._workers.start("larm-network-documents", partial(self._first, urls, elsewhere))
        with self._changed:
            self._changed.wait_for(lambda: not self._waits, soon.left())
            self._changed.wait_for(lambda: self._found or not self._waits, self._deadline.left())
            return self._new_ones_locked()

    def all(self, urls: Sequence[str], elsewhere: Mapping[str, set[str]]) -> list[Document]:
        """Return all further documents that can be had: from owners, peers that told of the page, or its author."""
        self._fetch(urls, elsewhere)
        if self._failed:
            raise self._failed[0]
        with self._changed:
            return self._new_ones_locked()

    def _first(self, urls: Sequence[str], elsewhere: Mapping[str, set[str]]) -> None:
        try:
            self._fetch(urls, elsewhere)
        finally:
            with self._changed:
                self._waits = False
                self._changed.notify_all()

    def _fetch(self, urls: Sequence[str], elsewhere: Mapping[str, set[str]]) -> None:
        fresh = self._fresh(urls)
        urls = [url for url in urls if url not in fresh]
        tried = {url: {self._node.hash} for url in urls}
        self._ask(self._node.hash, self._missing(urls))
        for _ in range(self._node.redundancy + 2):
            plan = self._next_owners(self._missing(urls), tried, elsewhere)
            if not plan or self._deadline.share(_SHARE) <= _TOO_LATE:
                break
            parts = [
                (peer, wanted[at : at + MOST_PAGES])
                for peer, wanted in plan.items()
                for at in range(0, len(wanted), MOST_PAGES)
            ]
            self._node.together([partial(self._ask, *each) for each in parts])

    def _ask(self, peer: str, wanted: Sequence[str]) -> None:
        question = PagesOf(self._node.network, tuple(wanted))
        own = peer == self._node.hash
        answer = (
            self._desk.pages_of(question, None)
            if own
            else self._node.ask(peer, PAGES, question, PagesFound, self._deadline.share(_SHARE))
        )
        items = () if isinstance(answer, NoAnswer) else answer.pages
        documents = self._documents(items, {*wanted})
        if not own:
            self._doubt(peer, documents)
        with self._changed:
            for each in documents:
                name = each.page.hash
                if name not in self._found or each.trusted > self._found[name].trusted:
                    self._found[name] = self._new[name] = each
            self._changed.notify_all()

    def _doubt(self, peer: str, documents: Sequence[Document]) -> None:
        """Have a document sampled that comes from a peer which is no owner of it: no owner has."""
        ring, met = self._node.ring(), self._node.met
        for each in documents:
            if peer not in ring.owners(position_of(each.page.hash), self._node.redundancy) and not each.trusted:
                met[each.author] = each.page

    def _missing(self, urls: Sequence[str]) -> list[str]:
        with self._changed:
            return [url for url in urls if url not in self._found]

    def _new_ones_locked(self) -> list[Document]:
        new, self._new = [*self._new.values()], {}
        return new

    def _next_owners(
        self, urls: Sequence[str], tried: Mapping[str, set[str]], elsewhere: Mapping[str, set[str]]
    ) -> dict[str, list[str]]:
        """Return for each URL an owner that was not asked yet; the same one for many URLs if there is a choice."""
        node, plan = self._node, dict[str, list[str]]()
        ring = node.ring()
        for url in urls:
            owners = [each for each in ring.owners(position_of(url), node.redundancy) if each not in tried[url]]
            others = owners or sorted(elsewhere.get(url, set()) - tried[url])
            if others:
                chosen = max(others, key=lambda each: each in plan)
                tried[url].add(chosen)
                plan.setdefault(chosen, []).append(url)
        return plan

    def _documents(self, items: Sequence[Item], wanted: Container[str]) -> list[Document]:
        """Join the pieces of each author's page that is wanted; of two versions of a piece, the newer one counts."""
        pieces: dict[tuple[str, str], list[Document]] = {}
        for item in sorted(items, key=lambda item: item.header.created):
            if (each := self._piece(item, wanted)) is not None:
                pieces.setdefault((each.page.hash, each.author), []).append(each)
        whole = ((its[0], joined(piece.page for piece in its)) for its in pieces.values())
        return [first._replace(page=page) for first, page in whole if page is not None]

    def _piece(self, item: Item, wanted: Container[str]) -> Document | None:
        """Return it if it is wanted, its author has signed it, and neither the author nor the site is denied."""
        header, trust = item.header, self._node.trust
        if header.author in trust or header.kind is not Kind.PAGE or header.gone or not is_body(header, item.body):
            return None
        if header.author != self._node.key and refusal(header, self._node.now(), self._verify):
            return None
        try:
            page = read_page(item.body)
        except BadPageError:
            return None
        if page.hash not in wanted or trust.denies_page(page.url):
            return None
        if not self._node.shows(header.author):
            if len(self._node.met) < _MOST_MET:
                self._node.met[header.author] = page
            return None
        self._room -= len(page.text)  # on several threads: a few more or less do not matter
        own = header.author == self._node.key
        return None if self._room < 0 else Document(page, header.author, own or trust.trusts(header.author))
