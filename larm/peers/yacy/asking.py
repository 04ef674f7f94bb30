"""Asking: one search in a network, as a `larm.seams.Searcher` (YACY-44 to 49). Thread-safe.

Words leave this machine as hashes only. Owners say which pages have them. The best candidates' documents are fetched from the
owners of their URLs and checked against their authors' signatures. The index of `larm.peers.yacy.learned` ranks them. So
ranking, operators and passages are ours, whatever peers answer, and a page is shown for a word only if its document has it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from larm.errors import StorageError
from larm.kit.deadline import Deadline
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.identity import Verify
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.documents import Document, Documents
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.joining import Joining
from larm.peers.yacy.learned import Learned
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import MOST_WORDS
from larm.peers.yacy.rounds import Rounds
from larm.peers.yacy.targets import bearable
from larm.peers.yacy.url_hash import SITE, url_hash
from larm.seams import Clock

CANDIDATES = 500
"""Pages whose documents are fetched. With 200, one of the best 20 is often missing where a query has common words."""
_BOAST = 10_000
"""Number of pages that any peer may claim."""
_LEAST_SECONDS = 0.5
"""Seconds for the ranking, even where peers have taken all of the time."""
_SOON = 0.1
"""Seconds in which the owners of words may answer before documents of what is known by then are fetched."""
_SHOWN = 0.2
"""Seconds after which those that have come are ranked: half as long again, and they are on the page."""
_FIRST = 1.5
"""Candidates for the first part, as a multiple of the wanted results."""
_ROUNDS = 3
"""Number of rounds of questions, each with the time limit of a round."""
_PATIENCE = 1.0
"""Time limit of a round in seconds, by default: all is there after three (YACY-46)."""
_MOST_LOCAL = 100
"""Number of results at most, as candidates are few. Twice as many are found as are wanted, since they are mixed with other
searchers' results by score."""


class Unit(NamedTuple):
    """A word of the query."""

    word: str
    hashes: tuple[str, ...]
    """Hashes of the word and its stems."""


class Understood(NamedTuple):
    """A query in the terms of a network."""

    units: tuple[Unit, ...]
    notes: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    """Ends of the hashes of URLs at the hosts that are wanted; empty: any host."""


class _Known(NamedTuple):
    """What peers have said of the network by now."""

    statistics: WordStatistics
    length: float
    """Mean number of characters of a text; 0: no peer has said it."""


class NetworkSearcher:
    """The search of one node. ``understand`` makes words of a query, given the shares of the pages in each language."""

    def __init__(
        self,
        node: Node,
        desk: Desk,
        verify: Verify,
        *,
        understand: Callable[[str, Mapping[str, float]], Understood],
        learned: Learned,
        clock: Clock,
    ) -> None:
        # constant after construction
        self.name = f"network {node.network}"
        self._node = node
        self._desk = desk
        self._verify = verify
        self._understand = understand
        self._learned = learned
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._waiting = 0

    def statistics(self, asked: Asked) -> WordStatistics | None:  # noqa: ARG002
        """Return None: statistics would take a round of questions."""
        return None

    def search(self, asked: Asked) -> Iterator[Findings]:
        """Yield what the first peers bring, then, in its place, what all peers bring."""
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
        understood = self._understand(asked.query, self._learned.languages)
        units = understood.units[:MOST_WORDS]
        if not units:
            yield Findings(searcher=self.name, notes=understood.notes)
            return
        if node.stealthy:
            yield Findings(searcher=self.name, exact=False, failure="this peer is in stealth mode")
            return
        sites = (*understood.sites, *(sites_of(asked.narrowed.site) if asked.narrowed.site else ()))
        joining = Joining([unit.hashes for unit in units], node.trust, sites)
        words = tuple(dict.fromkeys(each for unit in units for each in unit.hashes))[:MOST_WORDS]
        topics = {unit.word for unit in units}
        redundancy = bearable(node.redundancy, waiting)
        rounds = Rounds(node, self._desk, joining, words, topics, sites=sites, redundancy=redundancy, deadline=deadline)
        documents = Documents(node, self._desk, self._verify, deadline, lambda urls: self._learned.fresh(urls, node.now()))

        def known_by_now() -> _Known:
            counts = {unit.word: joining.frequencies(number) for number, unit in enumerate(units)}
            pages = max(self._pages(), self._learned.pages, *map(joining.pages_with, range(len(units))), 1)
            texts, titles = ({word: each[at] for word, each in counts.items()} for at in (0, 1))
            return _Known(WordStatistics(pages, texts=texts, titles=titles), joining.length)

        rounds.begin()
        rounds.wait_for_some(_SOON)
        with rounds.lock:
            known = known_by_now()
            first, elsewhere = (
                joining.best(round(_FIRST * asked.number * asked.page), known.statistics.pages),
                dict(rounds.elsewhere),
            )
        if first:
            found = self._ranked(asked, first, documents.some(first, elsewhere, shown), known, deadline)
            yield msgspec.structs.replace(found, exact=False, suggestion="", overall=True, preliminary=True)
        rounds.finish()
        known = known_by_now()
        candidates = joining.best(CANDIDATES + 1, known.statistics.pages)
        further = documents.all(candidates[:CANDIDATES], rounds.elsewhere)
        found = self._ranked(asked, candidates[:CANDIDATES], further, known, deadline)
        complete = len(joining.common()) if len(candidates) > CANDIDATES else 0  # fewer candidates were all ranked
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
        self, asked: Asked, candidates: Sequence[str], new: Sequence[Document], known: _Known, deadline: Deadline
    ) -> Findings:
        """Return the best candidates in the order of one index over all of the network; ``new``: documents to be added."""
        try:
            self._learned.add([(each.author, each.page) for each in new], self._node.now(), known.length)
        except StorageError as error:
            return Findings(searcher="", exact=False, failure=str(error))
        most = min(2 * max(1, asked.number) * max(1, asked.page), _MOST_LOCAL)
        question = msgspec.structs.replace(
            asked,
            number=most,
            page=1,
            advice=False,
            statistics=msgspec.structs.replace(known.statistics, sample=max(1, self._learned.pages)),
            seconds=max(_LEAST_SECONDS, deadline.left() or 0.0),
        )
        found = self._learned.find(question, [*self._learned.fresh(candidates, self._node.now()).values()])
        return msgspec.structs.replace(found, hits=found.hits[max(1, asked.number) * (max(1, asked.page) - 1) :])

    def _pages(self) -> int:
        """Return the number of pages in the network, as its peers say. One peer counts at most as a hundred usual ones.

        A peer that does not answer now counts as well: others keep its pages as long as they know it.
        """
        with self._node.lock:
            said = [seed.links for seed in self._node.membership.known if seed.links]
            most = 100 * median(said) + _BOAST if said else 0
            return int(sum(min(each, most) for each in said)) + self._node.pages

    def _said(self, silent: int, asked: int) -> list[str]:
        if asked <= 1:
            return [f"{self.name}: no peer is known that could be asked"]
        return [f"{self.name}: {silent} of {asked} peers did not answer"] if silent else []


def unit_of(word: str, stems: Sequence[str]) -> Unit:
    """Return the unit of a word and its stems."""
    return Unit(word, tuple(dict.fromkeys(map(word_hash, (word, *stems)))))


def sites_of(host: str) -> tuple[str, ...]:
    """Return the ends of the hashes of a host's URLs; none for text that is no host."""
    try:
        return tuple(url_hash(f"{scheme}://{host}/")[SITE] for scheme in ("http", "https"))
    except ValueError:
        return ()
