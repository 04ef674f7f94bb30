"""retrieve: the candidates for an answer, best first. Called by the reader, on its thread.

Pages need not have all words: the more of them, the rarer and the closer together, the better. Questions in plain language have
words that the best page has not, and of a few words all may stand by accident on a page that is about none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from math import sqrt
from typing import NamedTuple

import tantivy

from larm.config import Search
from larm.index import fields
from larm.index.candidate import Candidate
from larm.index.compile import Compiler
from larm.index.defined import SIGN, together
from larm.index.feedback import Feedback
from larm.index.meta_words import meta_word
from larm.index.names import Anchors
from larm.index.nearness import Near, Nearness, in_order
from larm.index.schema import these, total
from larm.index.tree import Node, Phrase, Word, loosened, split, wanted
from larm.index.word_queries import Sought, WordQueries

_SHARING = 20
"""Pages of which it is looked at what they share."""
_MANY = 2_000
"""Pages that have both of two words. To look for these, and for the best that have one, then takes less time than to look at
all that have any, and finds the same."""
_SMALL = 20_000
"""Pages of an index in which it takes less time to see first whether there are so many; half as much as their scores."""
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_OF_A_NAME = 5
"""Words of a question, function words apart; of a longer one, how many pages link to a page counts the less: it is about a
topic."""
_ENTRY = 2.0
"""What the entry of a name counts beside the name in a text: about as much as a title that is this name."""
_HOME = 10.0
"""What the start page of a host that was asked for counts beside its name in a text: more than anything else."""
_TWO = 2
_SHOULD, _MUST = tantivy.Occur.Should, tantivy.Occur.Must


class Retrieved(NamedTuple):
    """What was found, and how."""

    complete: int
    """Pages that have all words."""
    total: int
    """Pages that have any of them."""
    candidates: list[Candidate]
    units: Sequence[Sought]
    parts: Mapping[str, tantivy.Query]
    """The queries that the score is a sum of, by name; for explanations."""
    having_all: Set[int] = frozenset()
    """Pages that have all words: where these are very many, the best of them by their words."""
    every: tantivy.Query | None = None
    """What they match; None: there is nothing that a page could lack."""
    unknown: Sequence[str] = ()
    """Symbols that were asked for and are on no page."""
    matching: tantivy.Query | None = None
    """What matches, of which ``total`` is the number; None: nothing does."""
    loosened: bool = False
    """Words in quotes count as words without: nothing has all that must be there."""


NOTHING = Retrieved(0, 0, [], (), {})


class Retrieval:
    """For one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, words: WordQueries, settings: Search) -> None:
        # constant after construction
        self.words = words
        self._schema = schema
        self._searcher = searcher
        self._settings = settings
        self._compiler = Compiler(schema, words)
        self._feedback = Feedback(schema, searcher, words)
        self._nearness = Nearness(schema, searcher)

    def retrieve(self, tree: Node | None, anchors: Anchors | None, limit: int, offset: int = 0) -> Retrieved:
        """``limit`` candidates after the first ``offset``."""
        typed, conditions = split(tree)
        units = self.words.seek(typed)
        unknown = self.words.unknown_symbols(typed)
        condition = self._compiler.compile(conditions)
        if not units and condition is None:
            return NOTHING._replace(unknown=unknown)
        called: Mapping[int, float] = {}
        if anchors is not None and self._settings.anchors:
            called = anchors.find(units, self.words.statistics.languages, self._settings.other_forms)
            called = {page: self._settings.anchors * score for page, score in _agreeing(called, units)}
        near = self._near(units)
        parts = self._parts(units, called, near)
        if condition is not None:
            parts["conditions"] = condition
        asked = any(True for _ in wanted(conditions))
        every = self._all(units, condition, asked=asked)
        having = self._of_all(every, units, parts, near, limit=limit, offset=offset) if every is not None else NOTHING
        enough = asked and not having.complete
        query = self._query(units, parts, condition, enough=enough)
        self.words.context.deadline.check()
        if having.complete > _MANY and not offset and _are_two_words(units):
            found = self._of_either(units, parts, having, limit)
            return found._replace(every=every, unknown=unknown, matching=query)

        def any_of(parts: Mapping[str, tantivy.Query]) -> tantivy.Query:
            return self._query(units, parts, condition, enough=enough)

        hits, matching = self._nearness.best(any_of, parts, near, limit, offset)
        complete = matching if every is None else having.complete
        candidates = self._candidates(hits)
        shared = self._shared(units, query, () if offset else candidates)
        if shared is not None:
            parts["what the best pages share"] = shared
            both = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, shared)])
            hits = self._searcher.search(both, limit=max(1, limit), offset=offset, count=False).hits
            candidates = self._candidates(hits)
        pages = {each.page for each in candidates} if every is None else having.having_all
        return Retrieved(complete, matching, candidates, units, parts, pages, every, unknown, query)

    def _of_all(
        self,
        every: tantivy.Query,
        units: Sequence[Sought],
        parts: Mapping[str, tantivy.Query],
        near: Mapping[str, Near],
        *,
        limit: int,
        offset: int,
    ) -> Retrieved:
        """Which pages have all words; of many, and in a large index, the best of them, with their scores."""
        if self.words.statistics.pages <= _SMALL:
            result = self._searcher.search(every, limit=_MANY)
            if total(result) <= _MANY:
                pages = self._pages([address for _, address in result.hits])
                return NOTHING._replace(complete=total(result), having_all=pages)
        needed = [each for each in units if not each.common] or list(units)
        always = {"has " + each.unit.name: self._settings.coverage * each.weight for each in needed}
        musts = {"conditions", *("word " + each.unit.name for each in needed)}

        def query(parts: Mapping[str, tantivy.Query]) -> tantivy.Query:
            return tantivy.Query.boolean_query(
                [(_MUST if name in musts else _SHOULD, part) for name, part in parts.items() if name not in always]
            )

        hits, matching = self._nearness.best(query, parts, near, limit, offset)
        found = self._candidates(hits, sum(always.values()))
        return Retrieved(matching, matching, found, units, parts, {each.page for each in found})

    def _of_either(self, units: Sequence[Sought], parts: Mapping[str, tantivy.Query], both: Retrieved, limit: int) -> Retrieved:
        """The same of two words, of which ``both`` has the pages that have both: also those that have one, or that are called
        so in links. As if all of it were one query, without looking for neighbours where there can be none."""
        called = [(_SHOULD, part) for name, part in parts.items() if name == "links"]
        where = [(_MUST, part) for name, part in parts.items() if name == "conditions"]
        found, pages = {each.page: each for each in both.candidates}, -both.complete
        alone = [([(_MUST, each.query), *called], self._settings.coverage * each.weight) for each in units]
        if called:
            alone.append(([(_MUST, called[0][1]), *((tantivy.Occur.MustNot, each.query) for each in units)], 0.0))
        for asked, always in alone:
            result = self._searcher.search(tantivy.Query.boolean_query([*asked, *where]), limit=max(1, limit))
            pages += total(result)
            for each in self._candidates(result.hits, always):  # of one that has both, this is not all of its score
                found.setdefault(each.page, each)
        ordered = sorted(found.values(), key=lambda each: in_order((each.score, each.address)))
        return both._replace(total=pages, candidates=ordered[:limit])

    def newest(self, found: Retrieved, limit: int, offset: int = 0) -> Retrieved:
        """The same pages, those that changed last first; only those with all words, if there are such: some word, and that
        lately, is nothing to begin with. Without scores."""
        if found.every is not None and found.complete:
            found = found._replace(total=found.complete, matching=found.every)
        if found.matching is None:
            return found
        self.words.context.deadline.check()
        result = self._searcher.search(
            found.matching, limit=max(1, limit), offset=offset, count=False, order_by_field=fields.MODIFIED
        )
        return found._replace(candidates=self._candidates([(0.0, address) for _, address in result.hits]))

    def _shared(self, units: Sequence[Sought], query: tantivy.Query, best: Sequence[Candidate]) -> tantivy.Query | None:
        """Feedback; not where there are several indexes, as each would add words of its own, and their scores are compared."""
        if not self._settings.feedback or not self._feedback.is_for(units) or self.words.context.compared:
            return None
        best = best or self._candidates(self._searcher.search(query, limit=_SHARING, count=False).hits)
        return self._feedback.query(units, best, self._settings.feedback)

    def having_all(self, found: Retrieved, candidates: Sequence[Candidate]) -> Set[int]:
        """The pages of those candidates that have all words."""
        pages = {each.page for each in candidates}
        known = pages & found.having_all
        if found.every is None:
            return pages
        if found.complete <= len(found.having_all) or len(known) == len(candidates):
            return known
        both = tantivy.Query.boolean_query([(_MUST, found.every), (_MUST, these(self._schema, pages))])
        hits = self._searcher.search(both, limit=len(candidates), count=False).hits
        return self._pages([address for _, address in hits])

    def _pages(self, addresses: list[tantivy.DocAddress]) -> Set[int]:
        return {int(page or 0) for page in self._searcher.fast_field_values(fields.PAGE, addresses)}

    def decisive(self, tree: Node | None) -> list[str]:
        """Words whose numbers of pages decide how pages are ranked: all forms of what is sought, also in quotes and beside
        operators, and what feedback may add."""
        typed, conditions = split(tree)
        units = self.words.seek(typed)
        sought = [*units, *self.words.seek(wanted(conditions))]
        forms = [form.word for each in sought for word in each.unit.words for form in self.words.forms.of(word)]
        if self._settings.feedback and self._feedback.is_for(units):
            query = self._query(
                units, self._parts(units, {}, self._near(units)), self._compiler.compile(conditions), enough=False
            )
            forms += self._feedback.likely(units, self._candidates(self._searcher.search(query, limit=_SHARING).hits))
        return list(dict.fromkeys(forms))

    def look_up(self, tree: Node | None) -> None:
        """The pages of all words and phrases, for the context: as `retrieve` would, and again where that loosens the tree."""
        for each in (tree, loosened(tree)):
            typed, conditions = split(each)
            self.words.within(self.words.seek(typed))
            self._compiler.compile(conditions)

    def compiled(self, tree: Node | None) -> tantivy.Query | None:
        """What has all that the tree asks for; None where it asks for nothing."""
        return self._compiler.compile(tree)

    def pages(self, tree: Node | None, most: int) -> list[int]:
        """Fingerprints of the pages that have all that the tree asks for."""
        query = self._compiler.compile(tree)
        if query is None or not most:
            return []
        hits = self._searcher.search(tantivy.Query.const_score_query(query, 1.0), limit=most, count=False).hits
        found = self._searcher.fast_field_values(fields.PAGE, [address for _, address in hits])
        return [int(page) for page in found if page]

    def anywhere(self, item: Word | Phrase) -> int:
        """Pages that have it; of several indexes, where this one has none, those of the others that are known."""
        sought = self.words.seek([item]) if self.words.context.compared else ()
        return self.count(item) or min((self.words.context.known(each.unit.words) for each in sought), default=0)

    def count(self, tree: Node | None) -> int:
        """Pages that have all that the tree asks for."""
        self.words.context.deadline.check()
        query = self._compiler.compile(tree)
        return 0 if query is None else total(self._searcher.search(query, limit=1))

    def _near(self, units: Sequence[Sought]) -> dict[str, Near]:
        return {f"near {number}": each for number, each in enumerate(self.words.near(units), 1)}

    def _parts(
        self, units: Sequence[Sought], called: Mapping[int, float], near: Mapping[str, Near]
    ) -> dict[str, tantivy.Query]:
        """Each is found or not, and adds to the score if it is."""
        query, settings = tantivy.Query, self._settings
        parts = {"word " + each.unit.name: each.query for each in units}
        if settings.coverage:
            for each in units:
                name = "has " + each.unit.name
                parts[name] = query.const_score_query(each.query, settings.coverage * each.weight)
        parts |= {f"within {number}": within for number, within in enumerate(self.words.within(units), 1)}
        parts |= {name: each.query for name, each in near.items()}
        names = {each.unit.typed: each.weight for each in units if len(each.unit.words) > 1}
        names |= dict.fromkeys(together([each.unit.typed for each in units]), sum(each.weight for each in units))
        for name, weight in names.items():
            if having := self.words.statistics.frequency(fields.AS_WRITTEN, SIGN + name):
                term = query.term_query(self._schema, fields.AS_WRITTEN, SIGN + name, index_option="freq")
                parts["explains " + name] = query.const_score_query(term, _ENTRY * weight / having)
        if home := self._home_page(units):
            parts["home page"] = home
        if called:
            pages = [
                (_SHOULD, query.const_score_query(query.term_query(self._schema, fields.PAGE, page), score))
                for page, score in called.items()
            ]
            parts["links"] = query.boolean_query(pages)
        return parts

    def _home_page(self, units: Sequence[Sought]) -> tantivy.Query | None:
        """Where all that was typed is the name of a host: its start page, which seldom says its own name."""
        if len(units) != 1 or not _HOST.fullmatch(units[0].unit.typed):
            return None
        words = [meta_word("site", units[0].unit.typed), meta_word("host", "all")]
        terms = [tantivy.Query.term_query(self._schema, fields.META, word, index_option="basic") for word in words]
        found = tantivy.Query.boolean_query([(_MUST, each) for each in terms])
        return tantivy.Query.const_score_query(found, _HOME * units[0].weight)

    def _query(
        self, units: Sequence[Sought], parts: Mapping[str, tantivy.Query], condition: tantivy.Query | None, *, enough: bool
    ) -> tantivy.Query:
        """Any of the parts, if the conditions hold; ``enough``: also where nothing else holds."""
        if not units and condition is not None:
            return condition
        scored = dict(parts)
        for each in units if self._settings.coverage else ():
            coverage = scored.pop("has " + each.unit.name, None)
            if coverage is not None:
                name = "word " + each.unit.name
                scored[name] = _with(scored[name], self._settings.coverage * each.weight)
        scored.pop("conditions", None)
        query = tantivy.Query.boolean_query([(_SHOULD, part) for part in scored.values()])
        if condition is None:
            return query
        return tantivy.Query.boolean_query([(_MUST, condition), (_SHOULD if enough else _MUST, query)])

    def _all(self, units: Sequence[Sought], condition: tantivy.Query | None, *, asked: bool) -> tantivy.Query | None:
        """Pages that have all units, function words apart; None where that is what `_query` finds."""
        needed = [each for each in units if not each.common] or list(units)
        if not units or (len(units) == 1 and len(units[0].unit.words) <= 1 and not asked):
            return None
        every = [(_MUST, tantivy.Query.const_score_query(each.query, 0.0)) for each in needed]
        return tantivy.Query.boolean_query(every if condition is None else [(_MUST, condition), *every])

    def _candidates(self, hits: Sequence[tuple[float, tantivy.DocAddress]], always: float = 0.0) -> list[Candidate]:
        addresses = [address for _, address in hits]
        columns = [self._searcher.fast_field_values(name, addresses) for name in (fields.PAGE, fields.DIGEST, fields.LENGTH)]
        return [
            Candidate(address, score + always, page or 0, digest or 0, length or 0)
            for (score, address), page, digest, length in zip(hits, *columns, strict=True)
        ]


def _with(query: tantivy.Query, score: float) -> tantivy.Query:
    """What matches, at so much more: to add the query to itself without its score would be to look for it twice."""
    every = tantivy.Query.const_score_query(tantivy.Query.all_query(), score)
    return tantivy.Query.boolean_query([(_MUST, query), (_MUST, every)])


def _are_two_words(units: Sequence[Sought]) -> bool:
    """Plain ones, of which a page has none, one or both."""
    return len(units) == _TWO and all(len(each.unit.words) == 1 and not (each.common or each.unit.symbol) for each in units)


def _agreeing(called: Mapping[int, float], units: Sequence[Sought]) -> Iterator[tuple[int, float]]:
    """The less of a question the text of a link says, the less it counts: ``import`` is a name, and a word of many tasks."""
    whole = sum(each.weight for each in units if not each.common) or 1.0
    return ((page, score * min(1.0, sqrt(score / whole))) for page, score in called.items())


def by_links(units: Sequence[Sought]) -> float:
    """What the number of links counts for such a question: 1 for a name, less for a topic."""
    return min(1.0, _OF_A_NAME / max(1, sum(not each.common for each in units)))
