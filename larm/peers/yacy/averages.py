"""Averages: what the documents of a network are like, by samples of many peers: an index of a few ranks by it. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from larm.index import fields
from larm.index.function_words import FUNCTION_WORDS
from larm.index.page import url_words
from larm.index.scripts import UNSPACED, composed_and_parted
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.page import Page

Four = tuple[float, float, float, float]
"""A number for each of `FIELDS`."""
FIELDS = (fields.MAIN, fields.TITLE, fields.DESCRIPTION, fields.URL_WORDS)
"""Of the index; those that a document has."""
COMMON = {word_hash(word): word for word in FUNCTION_WORDS["en"].split()}
"""Words that nobody shares (YACY-34), by their hashes: how many pages have them is known by samples alone."""
_READ = 50
"""Texts."""
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")


class Averages(NamedTuple):
    """Of documents."""

    lengths: Four = (0.0, 0.0, 0.0, 0.0)
    """Words; of the text 0: not known."""
    documents: int = 0
    """That there are of these; 0: nothing is known."""
    languages: dict[str, float] = {}  # noqa: RUF012 - nobody changes it
    """Shares of these."""
    common: dict[str, Four] = {}  # noqa: RUF012 - nobody changes it
    """Shares of the documents that have a common word, by its hash."""


def averages_of(sample: Sequence[Page], documents: int) -> Averages:
    """Of so many documents, by some of them."""
    count, lengths = len(sample), [0, 0, 0, 0]
    having = {name: [0, 0, 0, 0] for name in COMMON}
    for page in sample:
        for at, text in enumerate(_texts_of(page)):
            found = _WORD.findall(text.lower())
            lengths[at] += len(found)
            words = set(found)
            for name, word in COMMON.items():
                having[name][at] += word in words
    return Averages(
        _four([each / count for each in lengths]),
        documents,
        {name: number / count for name, number in Counter(page.language for page in sample).items()},
        {name: _four([each / count for each in pages]) for name, pages in having.items() if any(pages)},
    )


def lengths_of(pages: Sequence[Page]) -> list[int]:
    """Words of all of them together; of their texts by some of them, as to read all would be a seventh of a search."""
    texts = [_texts_of(page) for page in pages]
    read = [text for text, *_ in texts[:: len(texts) // _READ + 1]]
    share = sum(len(_WORD.findall(text)) for text in read) / max(1, sum(map(len, read)))
    others = zip((0, 0, 0), *([len(_WORD.findall(text)) for text in others] for _, *others in texts), strict=True)
    return [round(share * sum(len(text) for text, *_ in texts)), *map(sum, others)]


def typical(said: Iterable[Averages]) -> Averages:
    """The mean of what peers say, each for as many as it keeps.

    What is far from what most say counts as twice that, or half of it: so a liar does little more than another peer does."""
    said = [each for each in said if each.documents > 0]
    if not said:
        return Averages()
    weights = _near_median([each.documents for each in said])

    def mean(values: Iterable[float]) -> float:
        return fmean(values, weights)

    def four(values: Sequence[Four]) -> Four:
        return _four([mean(_near_median(each)) for each in zip(*values, strict=True)])

    return Averages(
        four([each.lengths for each in said]),
        languages={
            name: mean([each.languages.get(name, 0.0) for each in said])
            for name in dict.fromkeys(name for each in said for name in each.languages)
        },
        common={
            name: four([each.common.get(name, (0.0, 0.0, 0.0, 0.0)) for each in said])
            for name in dict.fromkeys(name for each in said for name in each.common)
        },
    )


def bounded(said: Four, most: Four = (1.0, 1.0, 1.0, 1.0)) -> Four:
    """What somebody says, as far as it can be."""
    return _four([min(max(0.0, each), limit) for each, limit in zip(said, most, strict=True)])


def _texts_of(page: Page) -> tuple[str, ...]:
    return composed_and_parted(page.text).spaced, page.title, page.description, url_words(page.url)


def _near_median(said: Sequence[float]) -> Sequence[float]:
    middle = median(said)
    return [min(max(middle / 2, each), 2 * middle) for each in said]


def _four(values: Sequence[float]) -> Four:
    first, second, third, fourth = values
    return first, second, third, fourth
