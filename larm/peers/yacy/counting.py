"""Counting: how many pages a network has, and how many have a word: so a few are ranked as among all. Any thread."""

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from statistics import median

from larm.fetch.http_client import NoAnswer
from larm.index.fields import SIGNS
from larm.peers.yacy.averages import COMMON, FIELDS, Averages, bounded, typical
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.node import Node
from larm.peers.yacy.questions import FREQUENCIES, MOST_COUNTED, Frequencies, FrequenciesFound
from larm.peers.yacy.ring import PARTITIONS
from larm.peers.yacy.targets import owners_to_count

_COUNTED = (*FIELDS, SIGNS)
_MOST_ASKED = 48
"""Peers that are asked how many pages have words."""
_BOAST = 10_000
"""Pages that any peer may say it has."""


class Counting:
    """Of one node."""

    def __init__(self, node: Node, desk: Desk) -> None:
        # constant after construction
        self._node = node
        self._desk = desk

    def pages(self) -> int:
        """In the network, as far as its peers say: of one that boasts no more than a hundred usual ones have.

        Who does not answer now counts as well: what he has shared is kept by others for as long as he is remembered."""
        with self._node.lock:
            said = [seed.links for seed in self._node.membership.known if seed.links]
            most = 100 * median(said) + _BOAST if said else 0
            return int(sum(min(each, most) for each in said)) + self._node.pages

    def frequencies(self, words: Sequence[str], pages: int, seconds: float) -> dict[str, dict[str, int]]:
        """Of each field how many of so many pages have each word; what is known of some partitions only stands for all."""
        node = self._node
        names = {word_hash(word): word for word in words[:MOST_COUNTED]}
        common = tuple(name for name in names if name in COMMON)
        asked = self._owners_to_count([name for name in names if name not in COMMON])
        counts: dict[str, list[int]] = {word: [0] * len(_COUNTED) for word in words}
        known: Counter[str] = Counter()
        samples: list[Averages] = []
        lock = threading.Lock()

        def ask(peer: str, parts: Mapping[str, Collection[int]]) -> None:
            meant = tuple(sum(1 << each for each in partitions) for partitions in parts.values())
            question = Frequencies(node.network, tuple(parts), meant, common)
            own = peer == node.hash
            answer = (
                self._desk.count_pages(question) if own else node.ask(peer, FREQUENCIES, question, FrequenciesFound, seconds)
            )
            if isinstance(answer, NoAnswer) or len(answer.pages) != len(parts):
                return
            with lock:
                samples.append(
                    Averages(documents=answer.documents, common=dict(zip(common, map(bounded, answer.common), strict=False)))
                )
                for (name, partitions), having in zip(parts.items(), answer.pages, strict=True):
                    known[names[name]] += len(partitions)
                    for at, number in enumerate(having):
                        counts[names[name]][at] += max(0, number)

        node.together([partial(ask, *each) for each in asked.items()])
        share = {word: min(1.0, number / PARTITIONS) for word, number in known.items()}
        found = {field: {word: round(counts[word][at] / share[word]) for word in share} for at, field in enumerate(_COUNTED)}
        for name, shares in typical(samples).common.items():
            for field, each in zip(FIELDS, shares, strict=True):
                found[field][names[name]] = round(each * pages)
        return found

    def _owners_to_count(self, words: Sequence[str]) -> Mapping[str, Mapping[str, Collection[int]]]:
        node, everything = self._node, range(PARTITIONS)
        with node.lock:
            ring, there = node.ring_locked(missed=True), {node.hash, *(seed.hash for seed in node.membership.active)}

            def owners_of(place: int) -> list[str]:  # not who owns it only since another is gone: he has nothing yet
                return [each for each in ring.owners(place, node.redundancy) if each in there]

            if node.mode.shares and len(ring):
                return owners_to_count(owners_of, words, _MOST_ASKED, node.random)
            return {name: dict.fromkeys(words, everything) for name in (node.hash, *node.cluster_locked())}
