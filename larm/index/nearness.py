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
from larm.index.schema import score_of, total

Hit = tuple[float, tantivy.DocAddress]
_LARGE, _OFTEN = 100_000, 50_000
"""Pages of an index, and of those that match, from which on it is worth that."""
_NEARLY = 200
"""Pages beyond the best ones of which that may be looked at, 33 us each; where there are more, all are."""
_PAIRS = 2
"""Of neighbours: with more of them, nearly always more pages could be among the best."""


class Near(NamedTuple):
    """Two neighbours of a query, near each other in a field."""

    query: tantivy.Query
    most: float
    """No page gets as much for it."""
    field: str


def best(
    searcher: tantivy.Searcher,
    query: Callable[[Mapping[str, tantivy.Query]], tantivy.Query],
    parts: Mapping[str, tantivy.Query],
    near: Mapping[str, Near],
    *,
    limit: int,
    offset: int,
) -> tuple[Sequence[Hit], int]:
    """What ``query`` makes of the parts finds, and how many match; ``near``: which of the parts are about nearness."""
    late = {name: each for name, each in near.items() if each.field == fields.MAIN}
    if 0 < len(late) <= _PAIRS and not offset and searcher.num_docs >= _LARGE:
        result = searcher.search(query({name: part for name, part in parts.items() if name not in late}), limit + _NEARLY)
        if total(result) >= _OFTEN and (some := _possible(result.hits, limit, sum(each.most for each in late.values()))):
            queries = [each.query for each in late.values()]
            found = [(score + sum(score_of(each, searcher, address) for each in queries), address) for score, address in some]
            return sorted(found, key=in_order)[:limit], total(result)
    result = searcher.search(query(parts), limit=max(1, limit), offset=offset)
    return result.hits, total(result)


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
