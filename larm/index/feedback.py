"""Feedback: words that the best pages for a question share, and that it did not say. Called by retrieval, on its thread.

Whoever asks about a topic names some of its words, and the pages about it have others (relevance models, Lavrenko and Croft).
That helps where many pages answer, and hurts where one does: so it counts the more, the less the first ten pages differ in
their scores, and the shorter they are. What else stands on a long page says little of what was asked.

What comes of it: docs/searching.rst. It is worth most where texts are abstracts (Cranfield, MAP .310 to .327 on the half that
settings are found on), and nothing where the question is a paragraph itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice
from statistics import fmean
from typing import NamedTuple

import tantivy

from larm.index import fields
from larm.index.candidate import Candidate
from larm.index.word_queries import Sought, WordQueries

_PAGES = 10
"""The best ones, which are read."""
_READ = 2_000
"""Characters of each: what it is about stands at its beginning."""
_LEAST_WORDS = 5
"""Of a question, function words apart; fewer are a name."""
_MOST_WORDS = 10
"""Of a question; one that is longer says enough itself, so what is added counts as for so many."""
_ADDED = 15
"""Words, with all their forms that were read."""
_LIKELY = 100
"""Words of which some will be added, before it is known how rare they are."""
_SHORTEST = 3
"""Letters of one."""
_ALIKE, _ALL_ALIKE = 0.4, 0.6
"""What the tenth page's score is of the first one's: below, one page is the answer; above, nobody knows which."""
_TO_THE_BEST = 3
"""As a power: the better a page's score, the more its words count."""
_SHORT_PAGE = 1_500
"""Characters of a main text; of a longer page the words count less, in proportion."""
_ENOUGH = 1.0
"""Occurrences with which a word counts half in a short text; one more for each `_LONG_TEXT` words."""
_LONG_TEXT = 200
_WORTH_IT = 0.05
"""A share that is smaller changes hardly any order, and costs as much."""


class _Word(NamedTuple):
    worth: float
    forms: list[str]


class Feedback:
    """For one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, words: WordQueries) -> None:
        # constant after construction
        self._schema = schema
        self._searcher = searcher
        self._words = words

    @staticmethod
    def is_for(units: Sequence[Sought]) -> bool:
        """A question of several words."""
        return sum(not each.common for each in units) >= _LEAST_WORDS

    def query(self, units: Sequence[Sought], best: Sequence[Candidate], share: float) -> tantivy.Query | None:
        """What the best candidates share; at most ``share`` of what the question's own words weigh. None: nothing to add."""
        best = best[:_PAGES]
        if len(best) < 2 or best[0].score <= 0:
            return None
        share *= min(1.0, max(0.0, (best[-1].score / best[0].score - _ALIKE) / (_ALL_ALIKE - _ALIKE)))
        share *= sum(_shortness(page) for page in best) / len(best)
        words = self._shared(units, best) if share >= _WORTH_IT else []
        if not words:
            return None
        weights = [each.weight for each in units if not each.common]
        of_all = share * fmean(weights) * min(len(weights), _MOST_WORDS) / sum(word.worth for word in words)
        statistics, parts = self._words.statistics, []
        for word in words:
            for form in word.forms:
                term = tantivy.Query.term_query(self._schema, fields.MAIN, form, index_option="freq")
                rarity = statistics.rarity(statistics.frequency(fields.MAIN, form))
                parts.append((tantivy.Occur.Should, tantivy.Query.boost_query(term, of_all * word.worth / rarity)))
        return tantivy.Query.boolean_query(parts)

    def likely(self, units: Sequence[Sought], best: Sequence[Candidate]) -> list[str]:
        """Words of which some may be added, so that somebody can say how rare they are; that decides which pages are best."""
        best = best[: 2 * _PAGES]
        shared = self._shared(units, best, _LIKELY) if len(best) > 1 and best[0].score > 0 else []
        return [form for word in shared for form in word.forms]

    def _shared(self, units: Sequence[Sought], best: Sequence[Candidate], most: int = _ADDED) -> list[_Word]:
        """The words that are worth most; each is in two of the pages, and not in the question."""
        forms, statistics = self._words.forms, self._words.statistics
        worth: dict[str, float] = defaultdict(float)
        pages: Counter[str] = Counter()
        spelt: dict[str, Counter[str]] = defaultdict(Counter)
        for page in best:
            counts = Counter(word for word in self._words_of(page) if len(word) >= _SHORTEST and not word.isdigit())
            length = counts.total()
            weight = (page.score / best[0].score) ** _TO_THE_BEST * _shortness(page)
            stems = forms.stems(list(counts))
            for (word, times), stem in zip(counts.items(), stems, strict=True):
                worth[stem] += weight * times / (times + _ENOUGH + length / _LONG_TEXT)
                spelt[stem][word] += times
            pages.update(set(stems))
        asked = set(forms.stems([word for each in units for word in each.unit.words]))
        found = []
        for stem, value in worth.items():
            if pages[stem] > 1 and stem not in asked:
                known = [word for word in spelt[stem] if statistics.frequency(fields.MAIN, word)]
                if known:
                    found.append(_Word(value * self._words.rarity_of(fields.MAIN, known), known))
        found.sort(key=lambda word: -word.worth)
        plain = (word for word in found if not any(map(forms.is_function_word, word.forms)))
        return list(islice(plain, most))

    def _words_of(self, page: Candidate) -> list[str]:
        self._words.context.deadline.check()
        first = self._searcher.doc(page.address).get_first
        return self._words.analyzed(f"{first(fields.TITLE) or ''}\n{(first(fields.MAIN) or '')[:_READ]}")


def _shortness(page: Candidate) -> float:
    return min(1.0, _SHORT_PAGE / max(1, page.length))
