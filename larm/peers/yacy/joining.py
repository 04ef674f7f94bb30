"""Joining: makes candidates, best first, of the postings that peers give (YACY-47, 48). Pure, but for being filled.

A word of the query stands for itself and its stems: a unit. A page has a unit if it has any of them.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from math import log
from statistics import median

from larm.index.fixed_weights import ALL_WORDS, LINK_RANK
from larm.peers.yacy.chunk import TITLE, Reference
from larm.peers.yacy.desk import worth
from larm.peers.yacy.hashes import is_hash, unpacked
from larm.peers.yacy.questions import Found, WordFound
from larm.peers.yacy.ring import partition_of
from larm.peers.yacy.url_hash import SITE

_TEXT = 16
"""A bit beside those of `Reference.where`: the text has the word."""
_LEAST = 0.01
_UNKNOWN = 0.5
"""Worth of a word of which only the abstract says that the page has it."""
_WITNESSES = 2
"""Owners of a place that have answered, from which on a page that one of them alone names is doubted."""
_HASH = 9
_MOST = 50_000
"""URLs of a unit; later ones are ignored."""


class Joining:
    """The postings of one search.

    ``units``: for each word of the query the hashes that stand for it. ``denied``: authors. ``sites``: hosts that are wanted.
    """

    def __init__(self, units: Sequence[Sequence[str]], denied: Container[str] = (), sites: Collection[str] = ()) -> None:
        # constant after construction
        self._units: Mapping[str, int] = {word: number for number, words in enumerate(units) for word in words}
        self._denied = denied
        self._sites = frozenset(sites)
        # added to by one thread at a time
        self._has: list[dict[str, float]] = [{} for _ in units]
        """For each unit the pages that have it, and its worth there."""
        self._bare: list[set[str]] = [set() for _ in units]
        """For each unit the pages known by abstracts alone."""
        self._named: dict[str, dict[str, str]] = {word: {} for word in self._units}
        """For each hash the pages that peers name, and the peer if it is one alone; empty: several do, or this one."""
        self._answered: dict[str, Counter[int]] = {word: Counter() for word in self._units}
        """For each hash the number of owners that have answered, by partition."""
        self._doubtful: list[set[str]] = [set() for _ in units]
        self._ranks: dict[str, float] = {}
        self._parts: list[dict[str, int]] = [{} for _ in units]
        """For each unit the pages of which there are rows, and the parts of the page with it, as bits."""
        self._lengths: list[int] = []

    def add(self, words: Sequence[str], found: Found, peer: str, owned: Mapping[str, Collection[int]] | None = None) -> None:
        """Add the answer of a peer to a question for these words. ``peer``: its hash; empty: this peer.

        ``owned``: for each word the partitions that it owns, and was asked for.
        """
        passed_over = {number for number, author in enumerate(found.authors) if author in self._denied}
        for word, each in zip(words, found.words, strict=False):
            unit = self._units.get(word)
            if unit is not None:
                self._add(unit, each, passed_over)
                self._answered[word].update((owned or {}).get(word, ()))
                named = self._named[word]
                for url in (*(row.url for row in each.rows if is_hash(row.url)), *_urls(each.urls)):
                    named[url] = peer if named.get(url, peer) == peer else ""
        if found.length > 0:
            self._lengths.append(found.length)

    def _add(self, unit: int, found: WordFound, passed_over: Container[int]) -> None:
        has, bare = self._has[unit], self._bare[unit]
        for row in found.rows:
            if row.author in passed_over:
                continue
            if is_hash(row.url) and all(0 <= each < 256 for each in (row.hits, row.where, row.length)):
                reference = Reference(row.url, row.hits, row.where, row.length)
                value = worth(reference)
                if row.url in bare or row.url not in has or has[row.url] < value:
                    has[row.url] = value
                bare.discard(row.url)
                parts = self._parts[unit]
                parts[row.url] = parts.get(row.url, 0) | row.where & TITLE | _TEXT * (row.hits > 0)
                self._ranks[row.url] = max(reference.rank, self._ranks.get(row.url, 0.0))
        for url in _urls(found.urls):
            if url not in has and len(has) < _MOST:
                has[url] = _UNKNOWN
                bare.add(url)

    def settle(self) -> None:
        """Doubt pages that one peer alone names, though other owners of the place have answered. All answers are there."""
        sure: list[set[str]] = [set() for _ in self._has]
        for word, unit in self._units.items():
            answered = self._answered[word]
            sure[unit].update(
                url for url, by in self._named[word].items() if not by or answered[partition_of(url)] < _WITNESSES
            )
        self._doubtful = [has.keys() - known for has, known in zip(self._has, sure, strict=True)]

    def pages_with(self, unit: int) -> int:
        """Return the number of pages that are known to have the unit. A liar names pages without end; they are not counted."""
        return len(self._has[unit]) - len(self._doubtful[unit])

    def frequencies(self, unit: int) -> tuple[int, int]:
        """Return the number of pages with the unit in the text, and in the title."""
        parts = [each for url, each in self._parts[unit].items() if url not in self._doubtful[unit]]
        pages = self.pages_with(unit)
        if not parts:
            return pages, 0
        text, title = (sum(bool(each & bit) for each in parts) for bit in (_TEXT, TITLE))
        return round(pages * text / len(parts)), round(pages * title / len(parts))

    @property
    def length(self) -> float:
        """Mean number of characters of a text, by the median of what peers say; 0: no peer says it."""
        return median(self._lengths or (0,))

    def common(self) -> set[str]:
        """Return the pages that have all units."""
        return set.intersection(*map(set, self._has)) if self._has else set()

    def unclear(self, most: int) -> list[str]:
        """Return pages that have all units, some known by abstracts alone: the second round asks for their postings."""
        bare = set.union(*self._bare) if self._bare else set()
        return sorted(self.common() & bare)[:most]

    def best(self, number: int, pages: int) -> list[str]:
        """Return candidates, best first, as larm's ranking would order them. ``pages``: number of pages in the network."""
        rarity = [max(_LEAST, log(1 + (pages - len(has) + 0.5) / (len(has) + 0.5))) ** 1.2 for has in self._has]
        rarest = max(rarity, default=0.0)
        scores: dict[str, float] = {}
        counts: dict[str, int] = {}
        for has, weight in zip(self._has, rarity, strict=True):
            for url, value in has.items():
                scores[url] = scores.get(url, 0.0) + weight * value
                counts[url] = counts.get(url, 0) + 1
        for url, count in counts.items():
            scores[url] += rarest * (ALL_WORDS * (count == len(self._has)) + LINK_RANK * self._ranks.get(url, 0.0))
        doubtful = set[str]().union(*self._doubtful)
        return sorted(scores, key=lambda url: (url in doubtful, url[SITE] not in self._sites, -scores[url], url))[:number]


def _urls(abstract: bytes) -> Iterator[str]:
    return (unpacked(abstract[at : at + _HASH]) for at in range(0, len(abstract) - len(abstract) % _HASH, _HASH))
