"""Rounds: asks peers for the postings of one search (YACY-44 to 47). Made by the thread of the search.

Owners of each place are asked first, then peers that may know more. One thread starts all questions at the same time, so the
search goes on as soon as the first peers have answered.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain

from larm.fetch.http_client import NoAnswer
from larm.kit.deadline import Deadline
from larm.kit.threads.workers import Workers
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.joining import Joining
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import MOST_ROWS, SEARCH, Found, Search
from larm.peers.yacy.ring import PARTITIONS, places_of
from larm.peers.yacy.targets import few_owners, others_to_ask, owners_to_ask

_ROWS = 200
"""Postings of a word that each peer is asked for."""


class Rounds:
    """The questions of one search. ``words``: hashes; ``topics``: words that peers may have announced."""

    def __init__(
        self,
        node: Node,
        desk: Desk,
        joining: Joining,
        words: tuple[str, ...],
        topics: Collection[str],
        *,
        sites: tuple[str, ...],
        redundancy: int,
        deadline: Deadline,
    ) -> None:
        # constant after construction
        self._node = node
        self._desk = desk
        self._words = words
        self._sites = sites
        self._deadline = deadline
        self._workers = Workers(lambda _, error: self._failed.append(error))
        with node.lock:
            self._ring = set(node.ring_locked().hashes)
            ring = node.ring_locked(missed=True)  # an owner that takes the place of a lost one has nothing yet
            self._owners = {
                (word, number): ring.owners(place, node.redundancy)
                for word in words
                for number, place in enumerate(places_of(word))
            }
            self._by_key = {seed.key: seed.hash for seed in node.membership.active}
        self._targets, self._first = self._chosen(topics, redundancy)
        self.lock = threading.Condition()
        # guarded by self.lock
        self._enough = False
        self.joining = joining
        self.elsewhere: dict[str, set[str]] = {}
        """For each page the peers that may have it without owning it: those that named it, and its author."""
        self.silent: set[str] = set()
        self._failed: list[BaseException] = []

    @property
    def asked(self) -> int:
        """Number of asked peers, this one included."""
        return len(self._targets)

    def begin(self) -> None:
        """Ask all."""
        self._workers.start("larm-network-ask", partial(self._ask, self._targets, 0.35))

    def wait_for_some(self, seconds: float) -> None:
        """Wait until one owner of each place has answered; after these seconds, until any peer has told of a page."""
        with self.lock:
            self.lock.wait_for(lambda: self._enough, seconds)
            self.lock.wait_for(lambda: self._enough or self.elsewhere, self._deadline.left())

    def finish(self) -> None:
        """Wait for all peers. Ask others in place of silent ones, then ask for the postings that are still missing."""
        while self._workers.join(60.0):
            pass
        if self._failed:
            raise self._failed[0]
        further = self._instead()
        if further:
            self._ask(further, 0.3)
        answering = [each for each in {**self._targets, **further} if each not in self.silent]
        targets = {each: self._targets.get(each, set()) | further.get(each, set()) for each in answering}
        if unclear := self.joining.unclear(MOST_ROWS):
            self._ask(targets, 0.3, tuple(unclear))
        self.joining.settle()

    def _chosen(self, topics: Collection[str], redundancy: int) -> tuple[dict[str, set[int]], set[str]]:
        """Return the peers to ask, each with its partitions, and the peers whose answers are enough for a first part."""
        node, everything = self._node, set(range(PARTITIONS))
        with node.lock:
            now = node.now()
            if not node.mode.shares:  # a Robinson peer asks its cluster and itself
                cluster = dict.fromkeys((node.hash, *node.cluster_locked()), everything)
                return cluster, {*cluster}
            ring, active = node.ring_locked(), node.membership.active
            targets = owners_to_ask(ring, self._words, redundancy, node.random)
            others = others_to_ask(active, targets, topics, now=now, redundancy=redundancy, random=node.random)
            first = few_owners(ring, self._words, redundancy, node.random)
        chosen = {each: targets[each] for each in first if each in targets}
        return {node.hash: everything} | chosen | targets | {seed.hash: everything for seed in others}, {*chosen}

    def _instead(self) -> dict[str, set[int]]:
        """Return the peers to ask in place of silent ones: the next owners of their places that were not asked yet."""
        node, asked = self._node, self._targets
        if not self.silent or not node.mode.shares:
            return {}
        missed = set().union(*(asked[each] for each in self.silent))
        owners = owners_to_ask(node.ring(), self._words, node.redundancy, node.random)
        return {each: new for each, its in owners.items() if (new := its & missed - asked.get(each, set()))}

    def _ask(self, targets: Mapping[str, Collection[int]], share: float, urls: Sequence[str] = ()) -> None:
        seconds, waited = self._deadline.share(share), set(self._first)

        def ask(peer: str, partitions: Collection[int]) -> None:
            question = Search(
                self._node.network, self._words, tuple(sorted(partitions)), _ROWS,
                abstracts=not urls, urls=tuple(urls), sites=self._sites,
            )  # fmt: skip
            own = peer == self._node.hash  # the own shelf is asked without a wire
            answer = self._desk.find(question) if own else self._node.ask(peer, SEARCH, question, Found, seconds)
            with self.lock:
                waited.discard(peer)
                if isinstance(answer, NoAnswer):
                    self.silent.add(peer)
                else:
                    self._add(peer, answer, () if urls else partitions)
                self._enough = self._enough or not waited
                self.lock.notify_all()

        try:
            self._node.together([partial(ask, *each) for each in targets.items()])
        finally:
            with self.lock:
                self._enough = True
                self.lock.notify_all()

    def _add(self, peer: str, answer: Found, partitions: Collection[int]) -> None:
        owned = {word: [each for each in partitions if peer in self._owners[word, each]] for word in self._words}
        self.joining.add(self._words, answer, "" if peer == self._node.hash else peer, owned)
        authors = dict(enumerate(map(self._by_key.get, answer.authors)))
        for row in chain.from_iterable(word.rows for word in answer.words):
            has = ("" if peer in self._ring else peer, authors.get(row.author))
            self.elsewhere.setdefault(row.url, set()).update(filter(None, has))
