"""retrieve: the candidates for an answer, best first. Called by the reader, on its thread.

A page must have all words. If two words are on no page together, or of more words there are few such pages, those are added
that have some: the more, the rarer and the closer together, the better. Having all is then worth a little and does not decide,
as questions in plain language have words that the best page has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import tantivy

from larm.config import Search
from larm.index import fields
from larm.index.compile import Compiler
from larm.index.names import Anchors
from larm.index.schema import total
from larm.index.tree import Node, loosened, split, wanted
from larm.index.word_queries import Sought, WordQueries

_FIRST = 10_000.0
"""Added to the score of pages that have all of a few words; f32 leaves a thousandth for the rest."""
_SHOULD, _MUST = tantivy.Occur.Should, tantivy.Occur.Must


class Candidate(NamedTuple):
    """A page that may be an answer."""

    address: tantivy.DocAddress
    score: float
    """The sum for its words, their neighbourhood and what others call it."""
    complete: bool
    """It has all words: it comes before those that have not."""
    page: int
    """Fingerprint of its normalised URL."""
    digest: int
    """Of what a reader sees; 0: nothing."""
    length: int
    """Characters of its main text."""


class Retrieved(NamedTuple):
    """What was found, and how."""

    complete: int
    """Pages that have all words."""
    total: int
    """Pages that have any of them."""
    candidates: list[Candidate]
    units: Sequence[Sought]
    called: Mapping[int, float]
    """What links say: fingerprint of a page, and its share of the score."""
    parts: Mapping[str, tantivy.Query]
    """The queries that the score is a sum of, by name; for explanations."""


NOTHING = Retrieved(0, 0, [], (), {}, {})


class Retrieval:
    """For one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, words: WordQueries, settings: Search) -> None:
        # constant after construction
        self.words = words
        self._schema = schema
        self._searcher = searcher
        self._settings = settings
        self._compiler = Compiler(schema, words)

    def retrieve(self, tree: Node | None, anchors: Anchors | None, limit: int, offset: int = 0) -> Retrieved:
        """``limit`` candidates after the first ``offset``."""
        typed, conditions = split(tree)
        units = self.words.seek(typed)
        condition = self._compiler.compile(conditions)
        if not units and condition is None:
            return NOTHING
        called: Mapping[int, float] = {}
        if anchors is not None and self._settings.anchors:
            called = anchors.find(units, self.words.statistics.languages, self._settings.other_forms)
            called = {page: score * self._settings.anchors for page, score in called.items()}
        parts = self._parts(units, called)
        if condition is not None:
            parts["conditions"] = condition
        asked = any(True for _ in wanted(conditions))
        query = self._query(units, parts, condition, asked=asked)
        every = self._all(units, condition, asked=asked)
        first = len(units) <= self._settings.all_words_first
        complete = -1
        if every is not None:
            self.words.context.deadline.check()
            complete = total(self._searcher.search(every, limit=1))
            enough = complete >= (1 if first else self._settings.few)
            bonus = tantivy.Query.const_score_query(every, _FIRST if first else self._settings.all_words)
            if not first:
                parts["all words"] = bonus
            query = tantivy.Query.boolean_query([(_MUST, query), (_MUST if enough else _SHOULD, bonus)])
        self.words.context.deadline.check()
        result = self._searcher.search(query, limit=max(1, limit), offset=offset)
        complete = total(result) if complete < 0 else complete
        return Retrieved(complete, total(result), self._candidates(result.hits, first), units, called, parts)

    def look_up(self, tree: Node | None) -> None:
        """The pages of all words and phrases, for the context: as `retrieve` would, and again where that loosens the tree."""
        for each in (tree, loosened(tree)):
            typed, conditions = split(each)
            self.words.within(self.words.seek(typed))
            self._compiler.compile(conditions)

    def pages(self, tree: Node | None, most: int) -> list[int]:
        """Fingerprints of the pages that have all that the tree asks for."""
        query = self._compiler.compile(tree)
        if query is None or not most:
            return []
        hits = self._searcher.search(tantivy.Query.const_score_query(query, 1.0), limit=most, count=False).hits
        found = self._searcher.fast_field_values(fields.PAGE, [address for _, address in hits])
        return [int(page) for page in found if page]

    def count(self, tree: Node | None) -> int:
        """Pages that have all that the tree asks for."""
        self.words.context.deadline.check()
        query = self._compiler.compile(tree)
        return 0 if query is None else total(self._searcher.search(query, limit=1))

    def _parts(self, units: Sequence[Sought], called: Mapping[int, float]) -> dict[str, tantivy.Query]:
        """Each is found or not, and adds to the score if it is."""
        query, settings = tantivy.Query, self._settings
        parts = {"word " + " ".join(each.unit.words): each.query for each in units}
        if settings.coverage:
            for each in units:
                name = "has " + " ".join(each.unit.words)
                parts[name] = query.const_score_query(each.query, settings.coverage * each.weight)
        parts |= {f"within {number}": within for number, within in enumerate(self.words.within(units), 1)}
        parts |= {f"near {number}": near for number, near in enumerate(self.words.near(units), 1)}
        if called:
            pages = [
                (_SHOULD, query.const_score_query(query.term_query(self._schema, fields.PAGE, page), score))
                for page, score in called.items()
            ]
            parts["links"] = query.boolean_query(pages)
        return parts

    def _query(
        self, units: Sequence[Sought], parts: Mapping[str, tantivy.Query], condition: tantivy.Query | None, *, asked: bool
    ) -> tantivy.Query:
        """Any of the parts, if the conditions hold; ``asked``: these are what was asked for, too, and can be enough."""
        if not units and condition is not None:
            return condition
        query = tantivy.Query.boolean_query([(_SHOULD, part) for name, part in parts.items() if name != "conditions"])
        if condition is None:
            return query
        return tantivy.Query.boolean_query([(_MUST, condition), (_SHOULD if asked else _MUST, query)])

    def _all(self, units: Sequence[Sought], condition: tantivy.Query | None, *, asked: bool) -> tantivy.Query | None:
        """Pages that have all units, function words apart; None where that is what `_query` finds."""
        needed = [each for each in units if not each.common] or list(units)
        if not units or (len(units) == 1 and len(units[0].unit.words) == 1 and not asked):
            return None
        every = [(_MUST, each.query) for each in needed]
        return tantivy.Query.boolean_query(every if condition is None else [(_MUST, condition), *every])

    def _candidates(self, hits: Sequence[tuple[float, tantivy.DocAddress]], first: bool) -> list[Candidate]:
        addresses = [address for _, address in hits]
        columns = [self._searcher.fast_field_values(name, addresses) for name in (fields.PAGE, fields.DIGEST, fields.LENGTH)]
        candidates = []
        for (score, address), page, digest, length in zip(hits, *columns, strict=True):
            complete = first and score >= _FIRST
            own = score - _FIRST if complete else score
            candidates.append(Candidate(address, own, complete, int(page or 0), int(digest or 0), int(length or 0)))
        return candidates
