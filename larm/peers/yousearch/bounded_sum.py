"""bounded_sum: the statistics of several peers as those of one index, of which no peer can decide alone. Pure."""

from collections.abc import Sequence
from statistics import median

from larm.model.findings import WordStatistics

_SIZES = 10
"""Pages of a peer that count, as a multiple of the median of all peers."""
_ALONE = 8
"""A word that one peer alone has often is taken to be on at most this part of all pages."""


def bounded_sum(found: Sequence[WordStatistics]) -> WordStatistics | None:
    """Return the sum; None if there is nothing to sum up.

    A false number of pages makes all words rarer alike. A false number of pages with a word can't make it worthless. Neither
    raises the scores of the peer's own pages above those of others, as these are bounded by themselves.
    """
    if not found:
        return None
    most = _SIZES * max(1, int(median(max(0, each.pages) for each in found)))
    sizes = [min(max(0, each.pages), most) for each in found]
    pages, words = sum(sizes), dict[str, int]()
    for word in dict.fromkeys(word for each in found for word in each.words):
        counts = [min(max(0, each.words.get(word, 0)), size) for each, size in zip(found, sizes, strict=True)]
        others = sum(counts) - max(counts)
        words[word] = others + min(max(counts), max(others, pages // _ALONE))
    return WordStatistics(pages, words)
