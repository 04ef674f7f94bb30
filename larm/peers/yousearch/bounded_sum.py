"""bounded_sum: the statistics of several peers as those of one index, of which no peer can decide alone. Pure."""

from collections.abc import Sequence
from statistics import median

from larm.model.findings import WordStatistics

_SIZES = 10
"""Pages of a peer that count, as a multiple of the median of all peers."""


def bounded_sum(found: Sequence[WordStatistics]) -> WordStatistics | None:
    """Return the sum; None if there is nothing to sum up.

    A false number of pages makes all words rarer alike. A word that one peer alone has often counts as on at most as many pages
    as the median peer has, so a false number can't make it worthless.
    """
    if not found:
        return None
    usual = max(1, int(median(max(0, each.pages) for each in found)))
    sizes = [min(max(0, each.pages), _SIZES * usual) for each in found]
    words: dict[str, int] = {}
    for word in dict.fromkeys(word for each in found for word in each.words):
        counts = [min(max(0, each.words.get(word, 0)), size) for each, size in zip(found, sizes, strict=True)]
        others = sum(counts) - max(counts)
        words[word] = others + min(max(counts), max(others, usual))
    return WordStatistics(sum(sizes), words)
