"""WordQueries: from words to queries of tantivy, with the weights of fields, forms and rarity. On the reader's thread.

BM25, with two changes. The forms of a word are one word, as rare as all of them together, and those that were typed count more.
And it counts once, however many forms and fields have it: as the best of them, and a part of the others; a page with three
forms of one word has no three words. How rare it is goes by pages, and for a part by the field: in a manual of git all pages
have "commit", but few titles.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

import tantivy

from larm.index import fields, fixed_weights
from larm.index.accents import accented
from larm.index.analysis import Analyzer
from larm.index.forms import Form, Forms
from larm.index.schema import total
from larm.index.scripts import is_unspaced
from larm.index.statistics import QueryContext, Statistics
from larm.index.symbols import symbols as symbols_in
from larm.index.synonyms import NONE, Synonyms
from larm.index.terms import Clause, Span
from larm.index.tree import Phrase, Word
from larm.index.units import Unit, units_of, with_names

_TITLE, _URL = {fields.TITLE: 1.0}, {fields.URL_WORDS: 1.0}
_PREFIXING = "\u0590"
"""From Hebrew and Arabic on, forms of a word need not begin alike."""
_TYPED_ALONE = frozenset((fields.URL_WORDS, fields.DESCRIPTION, fields.OTHER))
"""Where other forms are not looked for: there they say little, and menus have many of them."""
_NEAR_IN = (fields.TITLE, fields.MAIN)
_MOST_BM25 = 2.3
"""What BM25 gives at most for a word as rare as 1, and a little more: pages that are deleted may count for tantivy."""
_MOST_LIKE = 50
"""Words that a pattern stands for."""
_SCANNED = 3_000
"""Words with its beginning that are looked at, the most frequent ones; half a millisecond."""
_WITHOUT_SIGNS = 0.5
"""What ``init`` counts for ``__init__``."""
_WITHOUT_ACCENTS = 0.5
"""What ``ma`` counts for ``má``. Index entries of LibreOffice's help in Vietnamese, MRR@10: .516 at .7, if that is for words of
pages alone; .525 for those in links and for neighbours, too; .526 at .5, .532 at .3; German questions .928, .931 and .930."""
_SYNONYM = 0.8
"""What a word counts that the user says means the same; the one that was typed comes first."""
_OF_A_NAME = 0.5
"""What a name such as ``hashmap`` counts at least for each of the words that it was typed as, where a page is called so: one
that mentions ``ONETOMANY`` need not be about one to many."""
_OF_A_TOPIC = 4
"""Words beside it with which a word that is made of one of a question counts as its other forms do. Cranfield and CISI, whose
questions have ten and more, lose 1 and 2 % where such words count half as much; names and index entries lose nothing."""
_ITSELF = "="
"""No word: before one, the pages that have it, or an inflection of it."""
_MOST_SEEN = 1_000
"""Words whose pages other indexes are told of: 30,000 bytes in a request."""
_LEAST = 0.01
"""Rarity of a word that all pages have."""
_USUAL = 5.0
"""Rarity of a word that one in 150 pages has. `fixed_weights.RARITY` moves weight to rarer words."""


class Near(NamedTuple):
    """Two neighbours of a query, near each other in a field."""

    query: tantivy.Query
    most: float
    """No page gets as much for it."""
    field: str


class Way(NamedTuple):
    """One of those in which a page can have a word: a form of it in a field."""

    query: tantivy.Query
    pages: int
    """That have it so; 0: a phrase, of which that is not known without a look at where words stand."""


class Sought(NamedTuple):
    """One thing that is looked for, and how."""

    unit: Unit
    weight: float
    """What finding it counts, before anything is known of the page."""
    query: tantivy.Query
    common: bool
    """A function word: a page may lack it and still have all that was asked for."""
    folded: float = 1.0
    """What it counts where nobody knows the accents that were typed: in texts of links, and beside other words."""
    ways: Sequence[Way] = ()
    """In which a page can have it, the commonest first. With one it has that score for it, with several at most their sum."""


class WordQueries:
    """For one state of the index. Implements `larm.index.compile.Words`."""

    def __init__(
        self,
        schema: tantivy.Schema,
        statistics: Statistics,
        analyzer: Analyzer,
        synonyms: Synonyms = NONE,
    ) -> None:
        # constant after construction
        self.statistics = statistics
        self.forms = Forms(statistics.searcher, fields.MAIN, statistics.languages, synonyms)
        self._phrases = synonyms.phrases
        self._schema = schema
        self._analyzer = analyzer
        self._weights = {
            fields.TITLE: fixed_weights.TITLE,
            fields.URL_WORDS: fixed_weights.URL,
            fields.DESCRIPTION: fixed_weights.DESCRIPTION,
            fields.MAIN: fixed_weights.MAIN,
            fields.SIGNS: fixed_weights.MAIN,
            fields.OTHER: fixed_weights.OTHER,
        }
        # only the reader's thread
        self.context = QueryContext()
        """Of the search under way."""

    def __call__(self, field: Literal["any", "title", "url"], item: Word | Phrase) -> tantivy.Query | None:
        """What stands in an operator, in quotes or beside ``OR``; None if there is nothing in it to look for."""
        weights = {"any": self._weights, "title": _TITLE, "url": _URL}[field]
        symbols = self._symbols(item.text)[0] if field == "any" else []
        spans = self._analyzer.spans(item.text)
        if isinstance(item, Phrase):
            units = [Unit(tuple(span.word for span in spans), item.text.lower(), exact=True)] if spans else []
            units += [Unit((), each.word, symbol=each.word) for each in symbols]
        else:
            units = self._strict(units_of(item.text, spans, symbols))
        queries = [(tantivy.Occur.Must, self._sought(unit, weights).query) for unit in units]
        return tantivy.Query.boolean_query(queries) if queries else None

    def seek(self, words: Iterable[Word | Phrase]) -> list[Sought]:
        """What is looked for, if these words are; in their order."""
        text = " ".join(word.text for word in words)
        units = self._strict(with_names(units_of(text, self._analyzer.spans(text), self._symbols(text)[0])))
        return [self._sought(unit, self._weights) for unit in units]

    def _strict(self, units: Sequence[Unit]) -> list[Unit]:
        """A word that is made of another one may mean something else, as ``multiplication`` and ``multiple``, or the same, as
        ``installation`` and ``install``. Whoever asks for one word means it; of many words, there are others to say what a page
        is about."""
        count = sum(not self._is_common(unit) for unit in units)
        share = min(1.0, max(0, count - 1) / _OF_A_TOPIC)
        return [unit._replace(derived=share if share or self._is_known(unit) else 1.0) for unit in units]

    def _is_known(self, unit: Unit) -> bool:
        """Some page has it, in a form that is no other word; of several indexes, one of any."""
        forms = self.forms.of(unit.words[0], derived=False) if len(unit.words) == 1 else ()
        return bool(self.context.pages_with((_ITSELF, *unit.words), max((form.pages for form in forms), default=0)))

    def _is_common(self, unit: Unit) -> bool:
        return len(unit.words) == 1 and any(map(self.forms.is_function_word, {unit.typed, unit.words[0]}))

    def _forms(self, unit: Unit) -> tuple[Form, ...]:
        return self.forms.of(unit.words[0], derived=unit.derived > 0)

    def analyzed(self, text: str) -> list[str]:
        """The words of a text as the index has them."""
        return self._analyzer.words(text)

    def unknown_symbols(self, words: Iterable[Word]) -> list[str]:
        """Those of them that are on no page, as typed."""
        text = " ".join(word.text for word in words)
        return [text[span.start : span.end] for span in self._symbols(text)[1]]

    def like(self, pattern: str) -> tuple[Form, ...]:
        """The words of main texts that a pattern stands for, the most frequent ones."""
        beginning = re.split(r"[*?]", pattern, maxsplit=1)[0]
        spelling = re.compile(translate(pattern).replace(".", r"\w"))  # its stars give nothing back, so it takes linear time
        near = self.statistics.searcher.terms_with_prefix(fields.MAIN, beginning, limit=_SCANNED)
        return tuple(Form(word, pages) for word, pages in near if spelling.fullmatch(word))[:_MOST_LIKE]

    def _symbols(self, text: str) -> tuple[list[Span], list[Span]]:
        """The symbols of a query that some page has, of several indexes one of any, and those that none has."""
        known: list[Span] = []
        unknown: list[Span] = []
        for each in symbols_in(text):
            here = self.statistics.frequency(fields.AS_WRITTEN, each.word)
            (known if self.context.pages_with((each.word,), here) else unknown).append(each)
        return known, unknown

    def within(self, units: Sequence[Sought]) -> list[tantivy.Query]:
        """The words of names such as ``os.path``, wherever they stand: a page may have said of what it speaks. Where no page
        has the name, as ``code:28P01``, they are words as others."""
        weights: dict[str, float] = {}
        for unit in (each.unit for each in units if len(each.unit.words) > 1 and fixed_weights.WITHIN_NAMES):
            weight = fixed_weights.WITHIN_NAMES if unit.symbol or self.context.known(unit.words) else 1.0
            weights |= {word: max(weight, weights.get(word, 0.0)) for word in unit.words if not is_unspaced(word)}
        found = [(self._sought(Unit((word,), word), self._weights).query, weight) for word, weight in weights.items()]
        return [tantivy.Query.boost_query(query, weight) for query, weight in found]

    def near(self, units: Sequence[Sought]) -> list[Near]:
        """Neighbours of the query that stand near each other in a page: words next to each other mean more than both alone."""
        if not fixed_weights.PROXIMITY:
            return []
        words = [each for each in units if len(each.unit.words) == 1 and not is_unspaced(each.unit.words[0])]
        queries = []
        for one, other in pairwise(words):
            pair = [one.unit.words[0], other.unit.words[0]]
            for field in _NEAR_IN:
                pages = self.statistics.frequencies(field, pair)
                own = sum(self.statistics.rarity(number) for number in pages if number)
                if self._weights[field] and all(pages) and own:
                    query = tantivy.Query.phrase_query(self._schema, field, list(pair), slop=fixed_weights.PROXIMITY_SLOP)
                    weight = one.weight * one.folded + other.weight * other.folded
                    weight *= fixed_weights.PROXIMITY * self._weights[field]
                    boosted = tantivy.Query.boost_query(query, weight / own)
                    queries.append(Near(boosted, _MOST_BM25 * weight, field))
        return queries

    def _sought(self, unit: Unit, weights: Mapping[str, float]) -> Sought:
        self.context.deadline.check()
        common = self._is_common(unit)
        rarity = max(_LEAST, self._rarity(unit))
        weight = (
            rarity * unit.times * (rarity / _USUAL) ** fixed_weights.RARITY * (fixed_weights.FUNCTION_WORDS if common else 1.0)
        )
        folded = _WITHOUT_ACCENTS if self._pages_as_written(unit) else 1.0
        ways = list(self._ways(unit, weights, weight, rarity))
        query = self._any_of([self._any_of([form.query for form in forms]) for forms in ways])
        by_pages = sorted((form for forms in ways for form in forms), key=lambda form: -form.pages)
        return Sought(unit, weight, query, common, folded, by_pages)

    def _ways(self, unit: Unit, weights: Mapping[str, float], weight: float, rarity: float) -> Iterator[list[Way]]:
        """In which a page can have it, those of a field together; the best one counts, and a part of the others."""
        if unit.symbol:
            pages = self.statistics.frequency(fields.AS_WRITTEN, unit.symbol)
            term = tantivy.Query.term_query(self._schema, fields.AS_WRITTEN, unit.symbol, index_option="freq")
            weighed = tantivy.Query.boost_query(term, fixed_weights.MAIN * weight / self.statistics.rarity(pages))
            yield [Way(weighed, pages)]
            weight *= _WITHOUT_SIGNS
            if not unit.words:
                return
        if len(unit.words) > 1:
            yield from self._phrase(unit.words, weights, weight)
        else:
            if fields.MAIN in weights and (pages := self._pages_as_written(unit)):
                term = tantivy.Query.term_query(self._schema, fields.AS_WRITTEN, unit.typed, index_option="freq")
                weighed = tantivy.Query.boost_query(term, fixed_weights.MAIN * weight / self.statistics.rarity(pages))
                yield [Way(weighed, pages)]
                weight *= _WITHOUT_ACCENTS
            yield from self._word(unit, weights, weight, rarity)
        for phrase in self._phrases.get(unit.words[0], ()) if len(unit.words) == 1 and not unit.exact else ():
            yield from self._phrase(phrase, weights, weight * _SYNONYM)
        if unit.parts:
            yield from self._phrase(unit.parts, weights, weight * fixed_weights.OTHER_FORMS)

    def _word(self, unit: Unit, weights: Mapping[str, float], weight: float, rarity: float) -> Iterator[list[Way]]:
        """In all of its forms, in each field."""
        query = tantivy.Query
        forms = self.like(unit.pattern) if unit.pattern else () if unit.exact else self._forms(unit)
        other = fixed_weights.OTHER_FORMS
        shares = {form.word: _SYNONYM if form.synonym else _likeness(unit, form.word) * other for form in forms}
        shares |= {form.word: shares[form.word] * unit.derived for form in forms if form.derived}
        shares |= dict.fromkeys(unit.names, other)
        shares |= dict.fromkeys(unit.words, 1.0)
        for field, of_field in weights.items():
            found = []
            words = [word for word in shares if word in unit.words or field not in _TYPED_ALONE] if of_field else []
            for word, pages in zip(words, self.statistics.frequencies(field, words), strict=True):
                if pages:
                    share = shares[word]
                    term = query.term_query(self._schema, field, word, index_option="freq")
                    own = self.statistics.rarity(pages)
                    there = self._rare_in(field, word, pages) if self.context.sampled or word in unit.words else own
                    counts = weight / own * (1 - fixed_weights.FIELD_RARITY + fixed_weights.FIELD_RARITY * there / rarity)
                    if word in unit.names and field == fields.TITLE:
                        counts = max(counts, _OF_A_NAME)
                    found.append(Way(query.boost_query(term, of_field * share * counts), pages))
            if found:
                yield found

    def _phrase(self, words: Clause, weights: Mapping[str, float], weight: float) -> Iterator[list[Way]]:
        """As it stands, in each field."""
        for field, of_field in weights.items():
            pages = self.statistics.frequencies(field, words)
            if all(pages) and of_field:
                query = tantivy.Query.phrase_query(self._schema, field, list(words))
                own = sum(map(self.statistics.rarity, pages))
                yield [Way(tantivy.Query.boost_query(query, of_field * weight / own), 0)]

    def _any_of(self, queries: Sequence[tantivy.Query]) -> tantivy.Query:
        if len(queries) <= 1:
            return queries[0] if queries else tantivy.Query.empty_query()
        return tantivy.Query.disjunction_max_query(queries, fixed_weights.TIE)

    def _rarity(self, unit: Unit) -> float:
        """BM25's, over all forms and fields; of a phrase, over main texts alone. What no page has may be in links."""
        statistics = self.statistics
        if unit.symbol or unit.pattern:
            pages = statistics.frequency(fields.AS_WRITTEN, unit.symbol) if unit.symbol else self._pages_like(unit.pattern)
            return self._rare((unit.typed,), self.context.scaled(pages))
        word = unit.words[0]
        if len(unit.words) == 1:
            forms = [form.word for form in self._forms(unit)]
            if self.context.sampled:
                terms = [tantivy.Query.term_query(self._schema, fields.MAIN, form, index_option="freq") for form in forms]
                anywhere = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
                self.context.fit(word, {word, *forms}, total(statistics.searcher.search(anywhere, limit=1)))
            pages = self._any_form(self._pages(fields.MAIN, forms))
            rarity = self._rare(unit.words, max(pages, *(self._pages(field, [word])[0] for field in self._weights)))
            if pages := self._pages_as_written(unit):
                return statistics.rarity(self._likewise(pages, fields.MAIN, unit.words), self._of)
            return rarity
        field = fields.SIGNS if is_unspaced(word) else fields.MAIN
        query = tantivy.Query.phrase_query(self._schema, field, list(unit.words))
        here = total(statistics.searcher.search(query, limit=1))
        return self._rare(unit.words, self._likewise(here, field, unit.words))

    def _likewise(self, here: int, field: str, words: Clause) -> int:
        """Pages everywhere that have the words in some way, of which ``here`` are in this index. Of a sample that was chosen by
        these words: as many times as of the rarest one, not of all pages."""
        for word in words:
            self.context.fit(word, (word,), self.statistics.frequency(field, word))
        everywhere, rarest = min(zip(self._pages(field, words), self.statistics.frequencies(field, words), strict=True))
        return round(here * everywhere / rarest) if rarest else here

    def _pages_as_written(self, unit: Unit) -> int:
        """Pages that have the word with its accents; 0 where it was typed without, and of several indexes, whose scores are
        compared: not all of them may have it."""
        if self.context.compared or unit.typed.isascii() or accented(unit.typed) != [unit.typed]:
            return 0
        return self.statistics.frequency(fields.AS_WRITTEN, unit.typed)

    def _pages_like(self, pattern: str) -> int:
        return self._any_form(form.pages for form in self.like(pattern))

    def _any_form(self, pages: Iterable[int]) -> int:
        """Pages with any of several words of which so many pages have each, if these had nothing to do with each other."""
        of = max(1, self._of)
        return round(of * (1 - math.prod(1 - min(each, of) / of for each in pages)))

    def rarity(self, field: str, word: str) -> float:
        """Of a word in a field, among all pages; tantivy goes by those of this index."""
        return self.rarity_of(field, (word,))

    def rarity_of(self, field: str, words: Sequence[str]) -> float:
        """Of words that count as one."""
        return self.statistics.rarity(sum(self._pages(field, words)), self._of)

    def _pages(self, field: str, words: Sequence[str]) -> list[int]:
        """Return the number of pages, in all indexes, with each word in the field."""
        here = self.statistics.frequencies(field, words)
        if not self.context.sampled:
            return here
        titles = self.context.everywhere.titles if self.context.everywhere is not None and field == fields.TITLE else {}
        return [titles.get(word) or self.context.scaled(pages, word) for word, pages in zip(words, here, strict=True)]

    @property
    def _of(self) -> int:
        """Pages among which a word of a field is more or less rare."""
        everywhere = self.context.everywhere
        return everywhere.pages if everywhere is not None and self.context.sampled else self.statistics.pages

    def _rare_in(self, field: str, word: str, pages: int) -> float:
        """Return BM25's weight of a word by the pages of all indexes with it in the field; ``pages`` of this one have it."""
        if self.context.sampled:
            return self.rarity(field, word)
        if len(self.context.seen) >= _MOST_SEEN:
            return self.statistics.rarity(pages)
        return self._rare((f"{field}:{word}",), pages)

    def _rare(self, words: Clause, pages: int) -> float:
        everywhere = self.context.everywhere
        found = max(1, self.context.pages_with(words, pages))
        return self.statistics.rarity(found, everywhere.pages if everywhere else None)


def _likeness(unit: Unit, form: str) -> float:
    """Of a form to the word: the less they have in common, the likelier it is another word with the same stem."""
    if not unit.words or unit.words[0][0] >= _PREFIXING:
        return 1.0
    word = unit.words[0]
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, form, strict=False)))
    return math.sqrt(common / max(len(word), len(form)))
