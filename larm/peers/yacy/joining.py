"""Joining: what peers say of the words of a query becomes candidates, best first (YACY-47, 48). Pure, but for being filled.

A word of the query stands for itself and its stems: a unit. A page has a unit if it has any of them.
"""

from collections.abc import Container, Mapping, Sequence
from math import log

from larm.index.stems import LANGUAGES
from larm.peers.yacy.averages import Averages, bounded, typical
from larm.peers.yacy.chunk import Reference
from larm.peers.yacy.desk import worth
from larm.peers.yacy.hashes import is_hash, unpacked
from larm.peers.yacy.page import TEXT, TITLE
from larm.peers.yacy.questions import Found, WordFound

_LONGEST = (TEXT / 4, TITLE / 4, TITLE / 4, 100.0)
"""Words that texts, titles, descriptions and addresses may have on the average: whoever says more would fill our memory."""
_LEAST = 0.01
_UNKNOWN = 0.5
"""What it is worth that a page has a word of which nothing else is known."""
_HASH = 9
_MOST = 50_000
"""Addresses of a unit; what comes after them is passed over."""


class Joining:
    """For one search; ``units``: of each word of the query the hashes that stand for it; ``denied``: authors."""

    def __init__(self, units: Sequence[Sequence[str]], denied: Container[str] = ()) -> None:
        # constant after construction
        self._units: Mapping[str, int] = {word: number for number, words in enumerate(units) for word in words}
        self._denied = denied
        # added to by one thread at a time
        self._has: list[dict[str, float]] = [{} for _ in units]
        """Of each unit the pages that have it, and what that is worth."""
        self._bare: list[set[str]] = [set() for _ in units]
        """Those of which nothing else is known."""
        self._averages: list[Averages] = []

    def add(self, words: Sequence[str], found: Found) -> None:
        """What a peer has answered to a question for these words."""
        languages = {each: min(max(0.0, share), 1.0) for each, share in found.languages.items() if each in LANGUAGES}
        lengths = bounded(found.lengths, _LONGEST)
        passed_over = {number for number, author in enumerate(found.authors) if author in self._denied}
        for word, each in zip(words, found.words, strict=False):
            unit = self._units.get(word)
            if unit is not None:
                self._add(unit, each, passed_over, lengths[0])
        self._averages.append(Averages(lengths, max(0, found.documents), languages))

    def _add(self, unit: int, found: WordFound, passed_over: Container[int], mean: float) -> None:
        has, bare = self._has[unit], self._bare[unit]
        for row in found.rows:
            if row.author in passed_over:
                continue
            if is_hash(row.url) and all(0 <= each < 256 for each in (row.hits, row.where, row.length)):
                value = worth(Reference(row.url, row.hits, row.where, row.length), mean)
                if row.url in bare or row.url not in has or has[row.url] < value:
                    has[row.url] = value
                bare.discard(row.url)
        for at in range(0, len(found.urls) - len(found.urls) % _HASH, _HASH):
            url = unpacked(found.urls[at : at + _HASH])
            if url not in has and len(has) < _MOST:
                has[url] = _UNKNOWN
                bare.add(url)

    @property
    def averages(self) -> Averages:
        """Of documents, by all who have answered."""
        return typical(self._averages)

    def pages_with(self, unit: int) -> int:
        """Pages that are known to have it."""
        return len(self._has[unit])

    def common(self) -> set[str]:
        """Pages that have all units."""
        return set.intersection(*map(set, self._has)) if self._has else set()

    def unclear(self, most: int) -> list[str]:
        """Pages that have all units, of which something is not known yet: what a second round asks for."""
        bare = set.union(*self._bare) if self._bare else set()
        return sorted(self.common() & bare)[:most]

    def best(self, number: int, pages: int) -> list[str]:
        """Candidates, as larm's ranking would have them with its usual settings. ``pages``: how many are in the network."""
        rarity = [max(_LEAST, log(1 + (pages - len(has) + 0.5) / (len(has) + 0.5))) ** 1.2 for has in self._has]
        all_words = 0.3 * max(rarity, default=0.0)
        scores: dict[str, float] = {}
        counts: dict[str, int] = {}
        for has, weight in zip(self._has, rarity, strict=True):
            for url, value in has.items():
                scores[url] = scores.get(url, 0.0) + weight * value
                counts[url] = counts.get(url, 0) + 1
        for url, count in counts.items():
            scores[url] += all_words * (count == len(self._has))
        return sorted(scores, key=lambda url: (-scores[url], url))[:number]
