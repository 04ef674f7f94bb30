"""Nearness: the best of what matches, where who stands near whom in a text counts, without a look at where words stand in all.

To read the positions of two words takes most of the time of a search if most of a million pages have both. All else of the
score is known without, and so is what nearness adds at most; so it is looked up for those pages alone that it could bring among
the best. The result is the same. Called by retrieval, on its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import tantivy

from larm.index import fields
from larm.index.schema import these, total

Hit = tuple[float, tantivy.DocAddress]
_OFTEN = 150_000
"""Pages that have both words of a pair, from which on it is worth that; if the words have nothing to do with each other."""
_NEARLY = 500
"""Pages beyond the best ones of which that may be looked at, 7 us each; where there are more, all are."""
_PAIRS = 2
"""Of neighbours: with more of them, nearly always more pages could be among the best."""


class Near(NamedTuple):
    """Two neighbours of a query, near each other in a field."""

    query: tantivy.Query
    most: float
    """No page gets as much for it."""
    field: str
    pages: float
    """Of the index, that have both in the field, if the words have nothing to do with each other."""


class Nearness:
    """For one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        # constant after construction
        self._schema = schema
        self._searcher = searcher

    def best(
        self,
        query: Callable[[Mapping[str, tantivy.Query]], tantivy.Query],
        parts: Mapping[str, tantivy.Query],
        near: Mapping[str, Near],
        limit: int,
        offset: int,
    ) -> tuple[Sequence[Hit], int]:
        """What ``query`` makes of the parts finds, and how many match; ``near``: which of the parts are about nearness."""
        late = {name: each for name, each in near.items() if each.field == fields.MAIN}
        if 0 < len(late) <= _PAIRS and not offset and min(each.pages for each in late.values()) >= _OFTEN:
            early = {name: part for name, part in parts.items() if name not in late}
            result = self._searcher.search(query(early), limit + _NEARLY)
            if some := _possible(result.hits, limit, sum(each.most for each in late.values())):
                return sorted(self._with(some, [each.query for each in late.values()]), key=in_order)[:limit], total(result)
        result = self._searcher.search(query(parts), limit=max(1, limit), offset=offset)
        return result.hits, total(result)

    def _with(self, hits: Sequence[Hit], near: Sequence[tantivy.Query]) -> list[Hit]:
        """The same, with what nearness adds."""
        addresses = [address for _, address in hits]
        pages = self._searcher.fast_field_values(fields.PAGE, addresses)
        among = these(self._schema, [int(page) for page in pages if page is not None])
        more: dict[tuple[int, int], float] = {}
        for each in near:
            both = tantivy.Query.boolean_query([(tantivy.Occur.Must, among), (tantivy.Occur.Must, each)])
            for score, address in self._searcher.search(both, limit=len(hits), count=False).hits:
                place = (address.segment_ord, address.doc)
                more[place] = more.get(place, 0.0) + score
        return [(score + more.get((address.segment_ord, address.doc), 0.0), address) for score, address in hits]


def _possible(hits: Sequence[Hit], limit: int, most: float) -> Sequence[Hit]:
    """Of the best ones without nearness, which adds less than ``most``: those that can be among the best ``limit`` with it.

    Nothing where others might be.
    """
    if not 0 < limit < len(hits):
        return ()
    least = hits[limit - 1][0] - most
    return () if hits[-1][0] >= least else [*takewhile(lambda hit: hit[0] >= least, hits)]


def in_order(hit: Hit) -> tuple[float, int, int]:
    """As tantivy has them: the better first, of equal ones those that came first."""
    score, address = hit
    return -score, address.segment_ord, address.doc
