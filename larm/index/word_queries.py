"""WordQueries: from words to queries of tantivy, with the weights of fields, forms and rarity. On the reader's thread.

BM25, with two changes. A word counts once, however many of its forms and fields have it: as in the best of them, and a part of
the others. And it is as rare as all its forms together, wherever it is found: a word that few titles have is not rare for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import tantivy

from larm.config import Search
from larm.index import fields
from larm.index.analysis import Analyzer
from larm.index.forms import Forms
from larm.index.query_context import QueryContext
from larm.index.schema import total
from larm.index.scripts import is_unspaced
from larm.index.statistics import Statistics
from larm.index.tree import Phrase, Word
from larm.index.units import Unit, units_of

_TITLE, _URL = {fields.TITLE: 1.0}, {fields.URL_WORDS: 1.0}
_NEAR_IN = (fields.TITLE, fields.HEADINGS, fields.MAIN)
_USUAL = 5.0
"""Rarity of a word that one in 150 pages has; of two words, `rarity` of the settings moves weight to the rarer one."""


class Sought(NamedTuple):
    """One thing that is looked for, and how."""

    unit: Unit
    weight: float
    """What finding it counts, before anything is known of the page."""
    query: tantivy.Query
    common: bool
    """A function word: a page may lack it and still have all that was asked for."""


class WordQueries:
    """For one state of the index. Implements `larm.index.compile.Words`."""

    def __init__(self, schema: tantivy.Schema, statistics: Statistics, analyzer: Analyzer, settings: Search) -> None:
        # constant after construction
        self.statistics = statistics
        self.forms = Forms(statistics.searcher, fields.MAIN, statistics.languages)
        self._schema = schema
        self._analyzer = analyzer
        self._settings = settings
        weights = settings.fields
        self._weights = {
            fields.TITLE: weights.title,
            fields.HEADINGS: weights.headings,
            fields.URL_WORDS: weights.url,
            fields.DESCRIPTION: weights.description,
            fields.MAIN: weights.main,
            fields.SIGNS: weights.main,
            fields.OTHER: weights.other,
        }
        # only the reader's thread
        self.context = QueryContext()
        """Of the search under way."""

    def __call__(self, field: Literal["any", "title", "url"], item: Word | Phrase) -> tantivy.Query | None:
        """What stands in an operator, in quotes or beside ``OR``; None if there is no word in it."""
        weights = {"any": self._weights, "title": _TITLE, "url": _URL}[field]
        spans = self._analyzer.spans(item.text)
        if not spans:
            return None
        if isinstance(item, Phrase):
            words = tuple(span.word for span in spans)
            units = [Unit(words, item.text.lower())]
        else:
            units = units_of(item.text, spans)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, self._sought(unit, weights).query) for unit in units])

    def seek(self, words: Iterable[Word]) -> list[Sought]:
        """What is looked for, if these words are; in their order."""
        text = " ".join(word.text for word in words)
        return [self._sought(unit, self._weights) for unit in units_of(text, self._analyzer.spans(text))]

    def within(self, units: Sequence[Sought]) -> list[tantivy.Query]:
        """The words of names such as ``os.path``, wherever they stand: a page may have said of what it speaks."""
        words = dict.fromkeys(
            word for each in units if len(each.unit.words) > 1 for word in each.unit.words if not is_unspaced(word)
        )
        weight = self._settings.within_names
        found = [self._sought(Unit((word,), word), self._weights) for word in words] if weight else []
        return [tantivy.Query.boost_query(each.query, weight) for each in found]

    def near(self, units: Sequence[Sought]) -> list[tantivy.Query]:
        """Neighbours of the query that stand near each other in a page: words next to each other mean more than both alone."""
        settings = self._settings
        if not settings.proximity:
            return []
        words = [each for each in units if len(each.unit.words) == 1 and not is_unspaced(each.unit.words[0])]
        queries = []
        for one, other in pairwise(words):
            pair = [one.unit.words[0], other.unit.words[0]]
            for field in _NEAR_IN:
                own = sum(self.statistics.rarity(n) for n in (self.statistics.frequency(field, word) for word in pair) if n)
                if self._weights[field] and all(self.statistics.frequency(field, word) for word in pair) and own:
                    query = tantivy.Query.phrase_query(self._schema, field, list(pair), slop=settings.proximity_slop)
                    weight = settings.proximity * self._weights[field] * (one.weight + other.weight) / own
                    queries.append(tantivy.Query.boost_query(query, weight))
        return queries

    def _sought(self, unit: Unit, weights: Mapping[str, float]) -> Sought:
        self.context.deadline.check()
        settings = self._settings
        common = len(unit.words) == 1 and any(map(self.forms.is_function_word, {unit.typed, unit.words[0]}))
        rarity = self._rarity(unit)
        weight = rarity * unit.times * (rarity / _USUAL) ** settings.rarity * (settings.function_words if common else 1.0)
        query = self._word(unit, weights, weight) if len(unit.words) == 1 else self._phrase(unit, weights, weight)
        return Sought(unit, weight, query, common)

    def _word(self, unit: Unit, weights: Mapping[str, float], weight: float) -> tantivy.Query:
        """In any of its forms."""
        queries = []
        for form in self.forms.of(unit.words[0]):
            share = weight if form.word == unit.words[0] else weight * self._settings.other_forms
            for field, of_field in weights.items():
                pages = self.statistics.frequency(field, form.word)
                if pages and of_field:
                    query = tantivy.Query.term_query(self._schema, field, form.word, index_option="freq")
                    queries.append(tantivy.Query.boost_query(query, of_field * share / self.statistics.rarity(pages)))
        return self._best(queries)

    def _phrase(self, unit: Unit, weights: Mapping[str, float], weight: float) -> tantivy.Query:
        """As it stands."""
        queries = []
        for field, of_field in weights.items():
            pages = [self.statistics.frequency(field, word) for word in unit.words]
            if all(pages) and of_field:
                query = tantivy.Query.phrase_query(self._schema, field, list(unit.words))
                own = sum(map(self.statistics.rarity, pages))
                queries.append(tantivy.Query.boost_query(query, of_field * weight / own))
        return self._best(queries)

    def _best(self, queries: list[tantivy.Query]) -> tantivy.Query:
        if not queries:
            return tantivy.Query.empty_query()
        return tantivy.Query.disjunction_max_query(queries, float(self._settings.tie))

    def _rarity(self, unit: Unit) -> float:
        """BM25's, over all forms and fields; of a phrase, over main texts alone. What no page has may be in links."""
        statistics, word = self.statistics, unit.words[0]
        if len(unit.words) == 1:
            pages = sum(form.pages for form in self.forms.of(word))
            pages = max(pages, *(statistics.frequency(field, word) for field in self._weights))
            return self._rare(unit, pages)
        field = fields.SIGNS if is_unspaced(word) else fields.MAIN
        query = tantivy.Query.phrase_query(self._schema, field, list(unit.words))
        return self._rare(unit, total(statistics.searcher.search(query, limit=1)))

    def _rare(self, unit: Unit, pages: int) -> float:
        everywhere = self.context.everywhere
        found = max(1, self.context.pages_with(unit.words, pages))
        return self.statistics.rarity(found, everywhere.pages if everywhere else None)
