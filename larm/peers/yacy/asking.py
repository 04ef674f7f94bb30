"""Asking: one search in a network, as a `larm.seams.Searcher` (YACY-44 to 49). Any thread.

Words leave this machine as hashes only. Their owners say which pages have them; the best candidates' documents are fetched from
the owners of their addresses, checked against their authors' signatures, and put into a small index in memory, which larm's own
search asks. So the ranking, the operators and the passages are ours, whoever answers; and a page that a peer claims to have a
word is only shown where its document has it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from larm.errors import StorageError
from larm.kit.deadline import Deadline
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.identity import Verify
from larm.peers.yacy.averages import Averages
from larm.peers.yacy.counting import Counting
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.documents import Documents
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.joining import Joining
from larm.peers.yacy.local import Local
from larm.peers.yacy.node import Node
from larm.peers.yacy.page import Page
from larm.peers.yacy.questions import MOST_WORDS
from larm.peers.yacy.rounds import Rounds
from larm.peers.yacy.targets import bearable
from larm.seams import Clock

CANDIDATES = 500
"""Pages whose documents are fetched, some 1.3 KB each: what makes the first pages of results. With 200, one of the best 20 is
often missing where a query has common words, and of sentences as feedback brings up other pages."""
_SOON = 0.1
"""Seconds in which the owners of words may answer before documents of what is known by then are fetched."""
_SHOWN = 0.2
"""Seconds after which those that have come are ranked: half as long again, and they are on the page."""
_FIRST = 1.5
"""Times the results that are asked for: pages of which the first ones are shown."""
_ROUNDS = 3
"""Of questions, in each of which peers have the time that they are to have: for references, documents, numbers of pages."""
_PATIENCE = 1.0
"""Seconds that they have where nobody says: all is there after three (YACY-46)."""
_MOST_LOCAL = 100
"""Results that one may look at: candidates are few. Twice as many are found as are asked for, as what else finds them goes by
their scores here."""


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
    """Of one node. ``understand`` makes words of a query, with the shares of the network's pages in each language."""

    def __init__(
        self,
        node: Node,
        desk: Desk,
        verify: Verify,
        *,
        understand: Callable[[str, Mapping[str, float]], Understood],
        local: Local,
        clock: Clock,
        learn: Callable[[Sequence[tuple[str, Page]]], object] = lambda _: None,
    ) -> None:
        """``learn`` is told of pages of others that are among the results, each with its author."""
        # constant after construction
        self.name = f"network {node.network}"
        self._node = node
        self._desk = desk
        self._verify = verify
        self._understand = understand
        self._local = local
        self._clock = clock
        self._learn = learn
        self._counting = Counting(node, desk)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._waiting = 0
        self._languages: Mapping[str, float] = {}
        """Shares of the network's pages, as the peers of the last search have said."""

    def statistics(self, asked: Asked) -> WordStatistics | None:  # noqa: ARG002
        """None: it would take a round of questions. Its ranking knows how rare the words are in the network."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """What the first peers bring, if there is something, and in place of it what all do."""
        began = self._clock.monotonic()
        with self._lock:
            self._waiting += 1
            waiting = self._waiting - 1
        try:
            for found in self._search(asked, waiting):
                yield msgspec.structs.replace(found, searcher=self.name, took=self._clock.monotonic() - began)
        finally:
            with self._lock:
                self._waiting -= 1

    def _search(self, asked: Asked, waiting: int) -> Iterator[Findings]:
        node = self._node
        times = [_ROUNDS * (_PATIENCE if asked.wait is None else asked.wait), asked.seconds]
        deadline = Deadline(self._clock, min(each for each in times if each is not None))
        shown = Deadline(self._clock, _SHOWN)
        with self._lock:
            languages = self._languages
        understood = self._understand(asked.query, languages)
        units = understood.units[:MOST_WORDS]
        if not units:
            yield Findings(searcher=self.name, notes=understood.notes)
            return
        if node.stealthy:
            yield Findings(searcher=self.name, exact=False, failure="this peer is in stealth mode")
            return
        joining = Joining([unit.hashes for unit in units], node.trust)
        words = tuple(dict.fromkeys(each for unit in units for each in unit.hashes))[:MOST_WORDS]
        topics = {unit.word for unit in units}
        redundancy = bearable(node.redundancy, waiting)
        rounds = Rounds(node, self._desk, joining, words, topics, redundancy=redundancy, deadline=deadline)
        documents = Documents(node, self._desk, self._verify, deadline)

        def total() -> int:
            return max(self._counting.pages(), *map(joining.pages_with, range(len(units))), 1)

        rounds.begin()
        rounds.wait_for_some(_SOON)
        with rounds.lock:
            first, elsewhere = joining.best(round(_FIRST * asked.number * asked.page), total()), dict(rounds.elsewhere)
        if first:
            pages = [each.page for each in documents.some(first, elsewhere, shown)]
            found = self._ranked(asked, pages, total(), joining.averages, deadline, soon=True)
            yield msgspec.structs.replace(found, exact=False, suggestion="", overall=True, preliminary=True)
        rounds.finish()
        with self._lock:
            self._languages = joining.averages.languages or languages
        candidates = joining.best(CANDIDATES + 1, total())
        best = documents.all(candidates[:CANDIDATES], rounds.elsewhere)
        found = self._ranked(asked, [each.page for each in best], total(), joining.averages, deadline)
        hits = {hit.url for hit in found.hits}
        self._learn([(each.author, each.page) for each in best if each.page.url in hits and each.author != node.key])
        complete = len(joining.common()) if len(candidates) > CANDIDATES else 0  # of fewer all were looked at
        yield msgspec.structs.replace(
            found,
            total=max(found.total, complete),
            complete=max(found.complete, complete),
            exact=False,
            overall=True,
            suggestion="",
            notes=(*understood.notes, *self._said(len(rounds.silent), rounds.asked), *found.notes),
        )

    def _ranked(
        self, asked: Asked, pages: Sequence[Page], total: int, averages: Averages, deadline: Deadline, *, soon: bool = False
    ) -> Findings:
        """As one index over all of the network would; ``soon``: as far as is known without asking anybody."""
        most = min(2 * max(1, asked.number) * max(1, asked.page), _MOST_LOCAL)
        sample = WordStatistics(total, sample=len(pages))
        question = msgspec.structs.replace(asked, number=most, page=1, statistics=sample, seconds=deadline.left())
        try:
            with self._local(pages, averages) as index:
                if soon:
                    return _page(index.find(question), asked)
                terms = self._counting.frequencies(index.decisive_words(question), total, deadline.share(0.4))
                statistics = WordStatistics(total, sample=len(pages), terms=terms)
                return _page(
                    index.find(msgspec.structs.replace(question, statistics=statistics, seconds=deadline.left())), asked
                )
        except (StorageError, OSError) as error:
            return Findings(searcher="", exact=False, failure=str(error))

    def _said(self, silent: int, asked: int) -> list[str]:
        if asked <= 1:
            return [f"{self.name}: no peer is known that could be asked"]
        return [f"{self.name}: {silent} of {asked} peers did not answer"] if silent else []


def _page(found: Findings, asked: Asked) -> Findings:
    return msgspec.structs.replace(found, hits=found.hits[max(1, asked.number) * (max(1, asked.page) - 1) :])


def unit_of(word: str, stems: Sequence[str]) -> Unit:
    """A word, by its own hash and those of its stems."""
    return Unit(word, tuple(dict.fromkeys(map(word_hash, (word, *stems)))))
