"""Lengths: how long documents are and in which languages, by samples of many peers: an index of a few ranks by it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from larm.peers.yacy.page import Page


class Lengths(NamedTuple):
    """Of documents, in characters, on the average; 0: not known."""

    title: float = 0.0
    text: float = 0.0
    documents: int = 0
    """That there are of these."""
    languages: dict[str, float] = {}  # noqa: RUF012 - nobody changes it
    """Shares of these."""


def lengths_of(sample: Sequence[Page], documents: int) -> Lengths:
    """Of so many documents, by some of them."""
    languages = {name: count / len(sample) for name, count in Counter(page.language for page in sample).items()}
    return Lengths(fmean(len(page.title) for page in sample), fmean(len(page.text) for page in sample), documents, languages)


def typical(said: Iterable[Lengths]) -> Lengths:
    """The mean of what peers say, each for as many as it keeps.

    What is far from what most say counts as twice that, or half of it: so a liar does little more than another peer does."""
    said = [each for each in said if each.text > 0]
    if not said:
        return Lengths()
    documents = _near_median([each.documents for each in said])
    weights = documents if any(documents) else None

    def mean(values: Iterable[float]) -> float:
        return fmean(values, weights)

    return Lengths(
        mean(_near_median([each.title for each in said])),
        mean(_near_median([each.text for each in said])),
        languages={
            name: mean([each.languages.get(name, 0.0) for each in said])
            for name in dict.fromkeys(name for each in said for name in each.languages)
        },
    )


def _near_median(said: Sequence[float]) -> Sequence[float]:
    middle = median(said)
    return [min(max(middle / 2, each), 2 * middle) for each in said]
