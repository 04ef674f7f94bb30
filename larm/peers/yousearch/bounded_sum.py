"""bounded_sum: the statistics of several peers as those of one index, of which no peer can decide alone. Pure."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from larm.model.findings import WordStatistics

_SIZES = 10
"""Pages of a peer that count, as a multiple of the median of all peers."""
_MOST_PAGES = 1 << 50
_ROOM, _NUMBER = 30_000, 20
"""Bytes of the sum, since it is a part of each question, and of one number. Words that most peers name come first."""


def bounded_sum(found: Sequence[WordStatistics]) -> WordStatistics | None:
    """Return the sum; None if there is nothing to sum up.

    A false number of pages makes all words rarer alike. A word that one peer alone has often counts as on at most as many pages
    as the median peer has, so a false number can't make it worthless.
    """
    if not found:
        return None
    pages = [min(max(0, each.pages), _MOST_PAGES) for each in found]
    usual = max(1, int(median(pages)))
    sizes = [min(each, _SIZES * usual) for each in pages]
    words, room = dict[str, int](), _ROOM
    for word, _ in Counter(word for each in found for word in each.words if word.isprintable()).most_common():
        room -= len(word.encode()) + _NUMBER
        if room < 0:
            break
        counts = [min(max(0, each.words.get(word, 0)), size) for each, size in zip(found, sizes, strict=True)]
        others = sum(counts) - max(counts)
        words[word] = others + min(max(counts), max(others, usual))
    return WordStatistics(sum(sizes), words)
