"""Asking: one search in a network, as a `larm.seams.Searcher` (YACY-44 to 49). Any thread.

Words leave this machine as hashes only. Their owners say which pages have them; the best candidates' documents are fetched from
the owners of their addresses, checked against their authors' signatures, and put into a small index in memory, which larm's own
search asks. So the ranking, the operators and the passages are ours, whoever answers; and a page that a peer claims to have a
word is only shown where its document has it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

import msgspec

from larm.errors import StorageError
from larm.kit.deadline import Deadline
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.peers.http_client import NoAnswer
from larm.peers.yacy.asker import share_of
from larm.peers.yacy.counting import Counting
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.documents import Documents
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.joining import Joining
from larm.peers.yacy.lengths import Lengths
from larm.peers.yacy.local import Local
from larm.peers.yacy.node import Node
from larm.peers.yacy.page import Page
from larm.peers.yacy.questions import (
    MOST_COUNTED,
    MOST_ROWS,
    MOST_WORDS,
    SEARCH,
    Found,
    Search,
)
from larm.peers.yacy.ring import PARTITIONS
from larm.peers.yacy.signing import Verify
from larm.peers.yacy.targets import bearable, others_to_ask, owners_to_ask
from larm.seams import Clock

A = TypeVar("A", bound=msgspec.Struct)
CANDIDATES = 500
"""Pages whose documents are fetched, some 1.3 KB each: what makes the first pages of results. With 200, one of the best 20 is
often missing where a query has common words, and of sentences as feedback brings up other pages."""
_ROWS = 200
"""References of a word that each peer is asked for."""
_MOST_LOCAL = 100
"""Results that one may look at: candidates are few."""


class Unit(NamedTuple):
    """A word of the query."""

    word: str
    hashes: tuple[str, ...]
    """Of the word and its stems."""


class Understood(NamedTuple):
    """A query, as far as a network can be asked."""

    units: tuple[Unit, ...]
    notes: tuple[str, ...] = ()


class NetworkSearcher:
    """Of one node. ``understand`` makes words of a query."""

    def __init__(
        self,
        node: Node,
        desk: Desk,
        verify: Verify,
        *,
        understand: Callable[[str], Understood],
        local: Local,
        clock: Clock,
        learn: Callable[[Sequence[tuple[str, Page]]], object] = lambda _: None,
    ) -> None:
        """``learn`` is told of pages of others that are among the results, each with its author."""
        # constant after construction
        self.name = f"network {node.network}"
        self._node = node
        self._desk = desk
        self._documents = Documents(node, desk, verify)
        self._understand = understand
        self._local = local
        self._clock = clock
        self._learn = learn
        self._counting = Counting(node, desk)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._waiting = 0

    def statistics(self, asked: Asked) -> WordStatistics | None:  # noqa: ARG002
        """None: it would take a round of questions. Its ranking knows how rare the words are in the network."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """One part."""
        began = self._clock.monotonic()
        with self._lock:
            self._waiting += 1
            waiting = self._waiting - 1
        try:
            found = self._search(asked, waiting)
        finally:
            with self._lock:
                self._waiting -= 1
        yield msgspec.structs.replace(found, searcher=self.name, took=self._clock.monotonic() - began)

    def _search(self, asked: Asked, waiting: int) -> Findings:
        node, deadline = self._node, Deadline(self._clock, asked.seconds)
        understood = self._understand(asked.query)
        units = understood.units[:MOST_WORDS]
        if not units:
            return Findings(searcher=self.name, notes=understood.notes)
        if node.stealthy:
            return Findings(searcher=self.name, exact=False, failure="this peer is in stealth mode")
        joining = Joining([unit.hashes for unit in units], node.trust)
        words = tuple(dict.fromkeys(each for unit in units for each in unit.hashes))[:MOST_WORDS]
        targets = self._targets(words, {unit.word for unit in units}, bearable(node.redundancy, waiting))
        elsewhere: dict[str, set[str]] = {}
        silent = self._ask_words(joining, words, targets, share_of(deadline, 0.35), elsewhere=elsewhere)
        number, further = len(targets), self._instead(words, targets, silent)
        late = self._ask_words(joining, words, further, share_of(deadline, 0.3), elsewhere=elsewhere) if further else set()
        answering = [each for each in {**targets, **further} if each not in silent | late]
        targets = {each: targets.get(each, set()) | further.get(each, set()) for each in answering}
        unclear = joining.unclear(MOST_ROWS) if len(units) > 1 else []
        if unclear:
            self._ask_words(joining, words, targets, share_of(deadline, 0.3), urls=tuple(unclear), elsewhere=elsewhere)
        total = max(self._counting.pages(), *map(joining.pages_with, range(len(units))), 1)
        candidates = joining.best(CANDIDATES + 1, total)
        documents = self._documents.of(candidates[:CANDIDATES], elsewhere, deadline)
        found = self._ranked(asked, [each.page for each in documents], total, joining.lengths, deadline)
        shown = {hit.url for hit in found.hits}
        self._learn([(each.author, each.page) for each in documents if each.page.url in shown and each.author != node.key])
        complete = len(joining.common()) if len(candidates) > CANDIDATES else 0  # of fewer all were looked at
        return msgspec.structs.replace(
            found,
            total=max(found.total, complete),
            complete=max(found.complete, complete),
            exact=False,
            suggestion="",
            notes=(*understood.notes, *self._said(len(silent), number), *found.notes),
        )

    def _ranked(self, asked: Asked, pages: Sequence[Page], total: int, lengths: Lengths, deadline: Deadline) -> Findings:
        """As one index over all of the network would."""
        most = min(max(1, asked.number) * max(1, asked.page), _MOST_LOCAL, MOST_HITS)
        sample = WordStatistics(total, sample=len(pages))
        question = msgspec.structs.replace(asked, number=most, page=1, statistics=sample, seconds=deadline.left())
        try:
            with self._local(pages, lengths) as index:
                terms = self._counting.frequencies(index.decisive_words(question)[:MOST_COUNTED], share_of(deadline, 0.4))
                statistics = WordStatistics(total, sample=len(pages), terms=terms)
                return index.find(msgspec.structs.replace(question, statistics=statistics, seconds=deadline.left()))
        except (StorageError, OSError) as error:
            return Findings(searcher="", exact=False, failure=str(error))

    def _targets(self, words: Sequence[str], topics: Collection[str], redundancy: int) -> dict[str, set[int]]:
        node = self._node
        with node.lock:
            now = node.now()
            if not node.mode.shares:  # a Robinson asks his cluster and himself
                return {name: set(range(PARTITIONS)) for name in (node.hash, *node.cluster_locked())}
            active = node.membership.active
            targets = owners_to_ask(node.ring_locked(), words, redundancy, node.random)
            others = others_to_ask(active, targets, topics, now=now, redundancy=redundancy, random=node.random)
        everything = set(range(PARTITIONS))
        return targets | {seed.hash: everything for seed in others} | {node.hash: everything}

    def _instead(self, words: Sequence[str], asked: Mapping[str, set[int]], silent: Collection[str]) -> dict[str, set[int]]:
        """Who is to be asked for those who did not answer: the next owners of their places, as far as they were not asked."""
        node = self._node
        if not silent or not node.mode.shares:
            return {}
        missed = set().union(*(asked[each] for each in silent))
        owners = owners_to_ask(node.ring(), words, node.redundancy, node.random)
        return {each: new for each, its in owners.items() if (new := its & missed - asked.get(each, set()))}

    def _ask_words(
        self,
        joining: Joining,
        words: tuple[str, ...],
        targets: Mapping[str, Collection[int]],
        seconds: float,
        *,
        elsewhere: dict[str, set[str]],
        urls: tuple[str, ...] = (),
    ) -> set[str]:
        """Ask all; who did not answer. ``elsewhere`` learns who has which pages without being an owner of them: who tells of
        one and is not on the ring, and each one's author."""
        node = self._node
        lock, silent = threading.Lock(), set[str]()
        with node.lock:
            ring = set(node.ring_locked().hashes)
            by_key = {seed.key: seed.hash for seed in node.membership.active}

        def ask(peer: str, partitions: Collection[int]) -> None:
            question = Search(node.network, words, tuple(sorted(partitions)), _ROWS, abstracts=not urls, urls=urls)
            own = peer == node.hash  # what is here is asked without a wire
            answer = self._desk.find(question) if own else node.ask(peer, SEARCH, question, Found, seconds)
            with lock:
                if isinstance(answer, NoAnswer):
                    silent.add(peer)
                else:
                    joining.add(words, answer)
                    authors = dict(enumerate(map(by_key.get, answer.authors)))
                    for row in chain.from_iterable(word.rows for word in answer.words):
                        has = ("" if peer in ring else peer, authors.get(row.author))
                        elsewhere.setdefault(row.url, set()).update(filter(None, has))

        node.together([partial(ask, *each) for each in targets.items()])
        return silent

    def _said(self, silent: int, asked: int) -> list[str]:
        if asked <= 1:
            return [f"{self.name}: no peer is known that could be asked"]
        return [f"{self.name}: {silent} of {asked} peers did not answer"] if silent else []


def unit_of(word: str, stems: Sequence[str]) -> Unit:
    """A word, by its own hash and those of its stems."""
    return Unit(word, tuple(dict.fromkeys(map(word_hash, (word, *stems)))))
