"""The formulas of the ranking, each by its name (YIOOP-33 to 36, 53 to 69). Pure.

What is used of them, and with what weight, is for `larm.search.ranked` and the ``search`` section of config.yaml to say.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

_FUSION = 600.0
_FUSION_AFTER = 59
_SPARE = 1.6  # a server may have more than its share of the best


def entry_score(position: int, entries: int) -> int:
    """Of a page or a link to it, by its place among the entries of a partition; a group of them has the sum (YIOOP-33)."""
    return entries - position


def doc_rank(after: int) -> float:
    """DOC_RANK of a page with so many pages after it in the order of importance (YIOOP-34)."""
    return math.log10(max(1, after))


def doc_rank_by_arrival(index: int, generation: int, per_generation: int) -> float:
    """The older formula: pages that came first are the important ones (YIOOP-36)."""
    return 10 - math.log10(index + 1 + 25 * per_generation * generation)


def fame(pages: float) -> float:
    """The logarithm of how many other pages link to a page."""
    return math.log10(1 + pages)


def normalised_frequency(frequency: float, mean_length: float, length: float) -> float:
    """f' of a word that stands ``frequency`` times in a text: what it would be in one of mean length (YIOOP-60)."""
    return frequency * math.log2(1 + mean_length / length) if length else 0.0


def divergence(frequency: float, occurrences: float, pages: int) -> float:
    """DFR relevance of a page for one word: geometric model, Laplace after-effect (YIOOP-59).

    ``frequency`` is f', ``occurrences`` those in the whole collection of ``pages``.
    """
    expected = occurrences / pages if pages else 0.0
    if not expected or not frequency:
        return 0.0
    return (math.log2(1 + expected) + frequency * math.log2(1 + 1 / expected)) / (frequency + 1)


class Spot(NamedTuple):
    """A stretch of words."""

    first: int
    last: int


def spans(places: Mapping[str, Sequence[int]], needed: Mapping[str, int]) -> list[Spot]:
    """The stretches with each word as often as needed that have no smaller one within (YIOOP-62), in their order.

    ``places`` are positions of each word, rising.
    """
    events = sorted((place, word) for word in needed for place in places.get(word, ()))
    missing, inside = sum(needed.values()), dict.fromkeys(needed, 0)
    found: list[Spot] = []
    start = 0
    for last, word in events:
        missing -= inside[word] < needed[word]
        inside[word] += 1
        if missing:
            continue
        while inside[events[start][1]] > needed[events[start][1]]:
            inside[events[start][1]] -= 1
            start += 1
        first = events[start][0]
        if not found or first > found[-1].first:
            found.append(Spot(first, last))
    return found


def closeness(found: Iterable[Spot]) -> float:
    """The sum of 1/length of the stretches (YIOOP-62)."""
    return sum(1 / (spot.last - spot.first + 1) for spot in found)


def proximity(found: Iterable[Spot], words: int, length: int) -> float:
    """`closeness`, times the words of the query, over the places where a stretch can begin (YIOOP-62)."""
    return closeness(found) * words / max(1, length - words + 1)


def share(asked: Collection[str], item: Collection[str]) -> float:
    """How much of an item, such as the words of a title, was asked for (YIOOP-64)."""
    return len(set(asked) & set(item)) / len(item) if item else 0.0


def fused(places: Sequence[int]) -> float:
    """Reciprocal rank fusion of a page's places, from 0, in several orders (YIOOP-65)."""
    return sum(_FUSION / len(places) / (_FUSION_AFTER + place) for place in places)


def asked_of_each(results: int, servers: int) -> int:
    """How many results each of several servers is asked for, where so many are wanted of all (YIOOP-57)."""
    return math.ceil(results * _SPARE / servers) if servers > 1 else results


def group_rank(ranks: Sequence[float]) -> float:
    """DOC_RANK of a group of documents with the same address or text (YIOOP-35, version 9)."""
    return max(ranks, default=0.0)
