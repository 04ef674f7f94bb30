"""Rough: the best of what matches, where all that counts is looked at in few pages. Called by retrieval, on its thread.

Where most of a million pages have a word, it takes long to add up all parts of the score of each. It is at most the sum of the
ways in which the page has the words, which tantivy finds in a fraction of the time, and what may be added to that. So all is
looked at in those pages alone that can be among the best by this. The result is the same.
"""

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

import tantivy

from larm.index import fields
from larm.index.schema import these, total

Hit = tuple[float, tantivy.DocAddress]
_Place = tuple[int, int]
_NEARLY = 1_000
"""Pages beyond the best ones in which all may be looked at, some 20 us each; where there are more, it is in all pages."""
_FEW = 1_000
"""Pages with something beside the words, at most, such as links to them that say so: these are looked at whatever they have."""
_STEP = 100
"""Pages looked at in one go."""
_ROUNDED = 1 - 1e-5
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


class Asked(NamedTuple):
    """What is looked for. The score of a page is the sum of all parts, each with the pages that have it."""

    words: Sequence[tantivy.Query]
    beside: Sequence[tantivy.Query]
    """What few pages have. They may have none of the words."""
    near: Sequence[tantivy.Query]
    """Words near each other: to see where they stand is most of the work."""
    ways: Sequence[tantivy.Query]
    """In which a page has a word."""
    seldom: Sequence[tantivy.Query]
    """All of them but the commonest one of each word. What has none of these has as much for its words as that sum,"""
    usual: Sequence[tuple[tantivy.Query, float]]
    """and so much where it has the commonest one."""
    most: float
    """No page has more for the words and their nearness than the sum of the ways in which it has these, and so much."""
    condition: tantivy.Query | None
    """All have it."""


class Rough:
    """For one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        # constant after construction
        self._schema = schema
        self._searcher = searcher

    def best(self, asked: Asked, limit: int) -> tuple[Sequence[Hit], int, int] | None:
        """The best ``limit``, how many pages match, how many of these have any word. None: too many may be among the best."""
        few = self._searcher.search(any_of(asked.beside, asked.condition), _FEW)
        if total(few) > _FEW:
            return None
        result = self._searcher.search(any_of(asked.ways, asked.condition), limit + _NEARLY)
        hits, having = result.hits, total(result)
        scores: dict[_Place, Hit] = {}
        rest = [*asked.near, *(each for each in (asked.condition,) if each is not None)]
        worded = self._look(few.hits, asked.words, scores)
        self._look(few.hits, [*asked.beside, *rest], scores)
        best, least, step = sorted(scores.values(), key=in_order)[:limit], 0.0, max(limit, _STEP)
        for start in range(0, len(hits), step):
            possible = (hit for hit in hits[start : start + step] if hit[0] >= least)
            new = [hit for hit in possible if place_of(hit) not in scores]  # these have nothing beside the words
            those = self._look(new, [any_of(asked.seldom)], {})
            self._look([hit for hit in new if place_of(hit) in those], [*asked.words, *rest], scores)
            others = {place_of(hit): hit for hit in new if place_of(hit) not in those}
            scores |= others
            self._look([*others.values()], asked.near, scores, asked.usual)
            best = sorted(scores.values(), key=in_order)[:limit]
            if len(best) == limit:
                least = best[-1][0] * _ROUNDED - asked.most
            if start and hits[-1][0] >= least and having > len(hits):
                return None
        return best, having + total(few) - len(worded), having

    def _look(
        self,
        hits: Sequence[Hit],
        parts: Sequence[tantivy.Query],
        scores: dict[_Place, Hit],
        having: Sequence[tuple[tantivy.Query, float]] = (),
    ) -> Set[_Place]:
        """Add the scores of the parts to those of these pages, and what ``having`` others is worth: tantivy goes through all
        pages to find a few that have a query with a score of its own. Which of them have any."""
        pages = self._searcher.fast_field_values(fields.PAGE, [address for _, address in hits]) if hits else ()
        among = these(self._schema, [int(page) for page in pages if page is not None])
        sums = {place_of(hit): scores.get(place_of(hit), (0.0, hit[1])) for hit in hits}
        some: set[_Place] = set()
        for part, worth in [*((part, None) for part in parts), *having] if hits else ():
            both = tantivy.Query.boolean_query([(_MUST, among), (_MUST, part)])
            for hit in self._searcher.search(both, limit=len(hits), count=False).hits:
                place = place_of(hit)
                some.add(place)
                sums[place] = sums[place][0] + (hit[0] if worth is None else worth), hit[1]
        scores |= sums
        return some


def any_of(queries: Iterable[tantivy.Query], condition: tantivy.Query | None = None) -> tantivy.Query:
    """What has one of them, if the condition holds."""
    found = tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])
    return found if condition is None else tantivy.Query.boolean_query([(_MUST, found), (_MUST, condition)])


def place_of(hit: Hit) -> _Place:
    """Of a page in this state of the index."""
    return hit[1].segment_ord, hit[1].doc


def in_order(hit: Hit) -> tuple[float, _Place]:
    """As tantivy has them: the better first, of equal ones those that came first."""
    return -hit[0], place_of(hit)
