"""Feedback: the words of the best pages for a question, its own ones among them. Called by retrieval, on its thread.

Whoever asks about a topic names some of its words, and the pages about it have others (relevance models, Lavrenko and Croft).
And of a question of thirty words few are what it is about: those that its best pages have, again and again, count more. Of the
two, that is the one that helps where the question is a paragraph.

All that helps where many pages answer, and hurts where one does: so it counts the more, the less the first ten pages differ in
their scores, and the shorter they are. What else stands on a long page says little of what was asked. README.rst has what comes
of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import tantivy

from larm.index import fields
from larm.index.candidate import Candidate
from larm.index.word_queries import Sought, WordQueries

_PAGES = 10
"""The best ones, which are read."""
_READ = 2_000
"""Characters of each: what it is about stands at its beginning."""
_LEAST_WORDS = 9
"""Of a question, function words apart. Shorter ones have one answer more often: in Arabic (XQuAD) feedback from five words on
costs .0016 of MRR@10, from nine on nothing."""
_WORDS = 20
"""That count more, with all their forms that were read."""
_SHORTEST = 2
"""Letters of one."""
_ALIKE, _ALL_ALIKE = 0.3, 0.5
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
    rarity: float
    own: Sought | None
    """It is a word of the question."""
    forms: Sequence[str]


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
        """What the best candidates share; it counts at most ``share`` of what the question does. None: nothing to add."""
        best = best[:_PAGES]
        if len(best) < 2 or best[0].score <= 0:
            return None
        share *= min(1.0, max(0.0, (best[-1].score / best[0].score - _ALIKE) / (_ALL_ALIKE - _ALIKE)))
        share *= sum(_shortness(page) for page in best) / len(best)
        words = self._shared(units, best) if share >= _WORTH_IT else []
        if not words:
            return None
        each = share * sum(each.unit.times for each in units if not each.common) / sum(word.worth for word in words)
        parts = [(tantivy.Occur.Should, part) for word in words for part in self._queries(word, each * word.worth)]
        return tantivy.Query.boolean_query(parts)

    def _queries(self, word: _Word, times: float) -> Iterator[tantivy.Query]:
        """As if the word stood so many times in the question."""
        if word.own is not None:
            yield tantivy.Query.boost_query(word.own.query, times / word.own.unit.times)
            return
        statistics = self._words.statistics
        for form in word.forms:
            for field in (fields.MAIN, fields.TITLE):
                if pages := statistics.frequency(field, form):
                    term = tantivy.Query.term_query(self._schema, field, form, index_option="freq")
                    yield tantivy.Query.boost_query(term, times * word.rarity / statistics.rarity(pages))

    def _shared(self, units: Sequence[Sought], best: Sequence[Candidate]) -> list[_Word]:
        """The words that are worth most; each is in the question, or in two of the pages."""
        forms, statistics = self._words.forms, self._words.statistics
        worth: dict[str, float] = defaultdict(float)
        pages: Counter[str] = Counter()
        spelt: dict[str, set[str]] = defaultdict(set)
        for page in best:
            words = [word for word in self._words_of(page) if len(word) >= _SHORTEST and not word.isdigit()]
            weight = (page.score / best[0].score) ** _TO_THE_BEST * _shortness(page)
            counts: Counter[str] = Counter()
            for (word, times), stem in zip(Counter(words).items(), forms.stems(list(dict.fromkeys(words))), strict=True):
                counts[stem] += times
                spelt[stem].add(word)
            for stem, times in counts.items():
                worth[stem] += weight * times / (times + _ENOUGH + len(words) / _LONG_TEXT)
            pages.update(counts.keys())
        asked = [each for each in units if len(each.unit.words) == 1 and not each.common]
        own = dict(zip(forms.stems([each.unit.words[0] for each in asked]), asked, strict=True))
        found = []
        for stem, value in worth.items():
            if stem in own:
                rarity = own[stem].weight / own[stem].unit.times
                found.append(_Word(value * rarity, rarity, own[stem], ()))
            elif pages[stem] > 1 and (known := [word for word in spelt[stem] if statistics.frequency(fields.MAIN, word)]):
                rarity = self._words.rarity_of(fields.MAIN, known)
                found.append(_Word(value * rarity, rarity, None, sorted(known)))
        found.sort(key=lambda word: -word.worth)
        plain = (word for word in found if not any(map(forms.is_function_word, word.forms)))
        return list(islice(plain, _WORDS))

    def _words_of(self, page: Candidate) -> list[str]:
        self._words.context.deadline.check()
        first = self._searcher.doc(page.address).get_first
        return self._words.analyzed(f"{first(fields.TITLE) or ''}\n{(first(fields.MAIN) or '')[:_READ]}")


def _shortness(page: Candidate) -> float:
    return min(1.0, _SHORT_PAGE / max(1, page.length))
