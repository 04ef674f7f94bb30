"""retrieve: the candidates for an answer, best first. Called by the reader, on its thread.

Pages need not have all words: the more of them, the rarer and the closer together, the better. Questions in plain language have
words that the best page has not, and of a few words all may stand by accident on a page that is about none of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from math import prod, sqrt
from typing import NamedTuple

import tantivy

from larm.config import SearchSettings
from larm.index import fields, fixed_weights
from larm.index.candidate import Candidate
from larm.index.compile import Compiler
from larm.index.defined import SIGN, together
from larm.index.feedback import Feedback
from larm.index.meta_words import meta_word
from larm.index.names import Anchors
from larm.index.rough import Asked, Hit, Rough, any_of
from larm.index.schema import these, total
from larm.index.tree import Node, Phrase, Word, loosened, split, wanted
from larm.index.word_queries import Near, Sought, WordQueries

_SHARING = 20
"""Pages of which it is looked at what they share."""
_MANY = 2_000
"""Pages that have all words; of more it is looked up which of the candidates do."""
_OFTEN = 200_000
"""Pages that have a word, all words together, from which on it is worth to look at them roughly first, if a fourth as many
have all: else too many could be among the best."""
_PAIRS = 2
"""Of neighbours: with more of them, nearly always too many pages could be among the best."""
_LAST = 500
"""Place of a result up to which it is worth that."""
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

    def __init__(
        self, schema: tantivy.Schema, searcher: tantivy.Searcher, words: WordQueries, settings: SearchSettings
    ) -> None:
        # constant after construction
        self.words = words
        self._schema = schema
        self._searcher = searcher
        self._settings = settings
        self._compiler = Compiler(schema, words)
        self._feedback = Feedback(schema, searcher, words)
        self._rough = Rough(schema, searcher)

    def retrieve(self, tree: Node | None, anchors: Anchors | None, limit: int, offset: int = 0) -> Retrieved:
        """``limit`` candidates, one at least, after the first ``offset``."""
        limit = max(1, limit)  # tantivy takes no other
        typed, conditions = split(tree)
        units = self.words.seek(typed)
        unknown = self.words.unknown_symbols(typed)
        condition = self._compiler.compile(conditions)
        if not units and condition is None:
            return NOTHING._replace(unknown=unknown)
        called: Mapping[int, float] = {}
        if anchors is not None and self._settings.anchors:
            called = anchors.find(units, self.words.statistics.languages, fixed_weights.OTHER_FORMS)
            called = {page: self._settings.anchors * score for page, score in _agreeing(called, units)}
        near = self._near(units)
        parts = self._parts(units, called, near)
        if condition is not None:
            parts["conditions"] = condition
        asked = any(True for _ in wanted(conditions))
        every = self._all(units, condition, asked=asked)
        often, last = self._are_often(units), limit + offset
        rough = self._roughly(units, parts, near, condition, last) if often and not asked else None
        complete, all_of_them = 0, NOTHING.having_all
        if rough is not None and every is not None and condition is None:
            complete = self._complete(units, rough[2])
        if every is not None and not complete:
            result = self._searcher.search(every, limit=_MANY)
            complete = total(result)
            if complete <= _MANY:
                all_of_them = self._pages([address for _, address in result.hits])
        self.words.context.deadline.check()
        query = self._query(units, parts, condition, enough=asked and not complete)
        if often and asked and complete:
            rough = self._roughly(units, parts, near, condition, last)
        if rough is None:
            result = self._searcher.search(query, limit=limit, offset=offset)
            hits, matching = result.hits, total(result)
        else:
            hits, matching = [*rough[0][offset:]], rough[1]
        complete = matching if every is None else complete
        candidates = self._candidates(hits)
        shared = self._shared(units, query, () if offset else candidates)
        if shared is not None:
            parts["what the best pages share"] = shared
            both = tantivy.Query.boolean_query([(_MUST, query), (_SHOULD, shared)])
            hits = self._searcher.search(both, limit=limit, offset=offset, count=False).hits
            candidates = self._candidates(hits)
        found = Retrieved(complete, matching, candidates, units, parts, all_of_them, every, unknown, query)
        return found._replace(having_all=all_of_them or self.having_all(found, candidates))

    def _are_often(self, units: Sequence[Sought]) -> bool:
        """Words, each by itself, that many pages have, and many all of them, if they have nothing to do with each other."""
        if not units or any(len(each.unit.words) != 1 or each.unit.symbol or not each.ways for each in units):
            return False
        pages, of = [each.ways[0].pages for each in units], self.words.statistics.pages
        return sum(pages) >= _OFTEN and of * prod(each / of for each in pages) >= _OFTEN / 4

    def _complete(self, units: Sequence[Sought], having: int) -> int:
        """How many pages have both of two words, of which so many have any; 0: that is not known without a look at all."""
        if len(units) != _TWO or any(each.common for each in units) or not self.words.statistics.exact:
            return 0
        for each in units:
            usual, others = each.ways[0], any_of(way.query for way in each.ways[1:])
            beside = tantivy.Query.boolean_query([(_MUST, others), (tantivy.Occur.MustNot, usual.query)])
            having -= usual.pages + total(self._searcher.search(beside, limit=1))
        return -having

    def _roughly(
        self,
        units: Sequence[Sought],
        parts: Mapping[str, tantivy.Query],
        near: Mapping[str, Near],
        condition: tantivy.Query | None,
        limit: int,
    ) -> tuple[Sequence[Hit], int, int] | None:
        """The best by a rough look at all, how many match, and how many of these have any word. None: they can't be told so."""
        late = {name: each for name, each in near.items() if each.field == fields.MAIN}
        if len(late) > _PAIRS or limit > _LAST:
            return None
        summands = self._summands(units, parts)
        words = {name: summands.pop(name) for name in ["word " + each.unit.name for each in units]}
        asked = Asked(
            words=list(words.values()),
            beside=[part for name, part in summands.items() if name not in late],
            near=[each.query for each in late.values()],
            ways=[way.query for each in units for way in each.ways],
            seldom=[way.query for each in units for way in each.ways[1:]],
            usual=[(each.ways[0].query, self._for_having(each)) for each in units],
            most=sum(map(self._for_having, units)) + sum(each.most for each in late.values()),
            condition=condition,
        )
        return self._rough.best(asked, limit)

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
        if not fixed_weights.FEEDBACK or not self._feedback.is_for(units) or self.words.context.compared:
            return None
        best = best or self._candidates(self._searcher.search(query, limit=_SHARING, count=False).hits)
        return self._feedback.query(units, best, fixed_weights.FEEDBACK)

    def having_all(self, found: Retrieved, candidates: Sequence[Candidate]) -> Set[int]:
        """The pages of those candidates that have all words."""
        pages = {each.page for each in candidates}
        known = pages & found.having_all
        if found.every is None:
            return pages
        if not candidates or found.complete <= len(found.having_all) or len(known) == len(candidates):
            return known
        both = tantivy.Query.boolean_query([(_MUST, found.every), (_MUST, these(self._schema, pages))])
        hits = self._searcher.search(both, limit=len(candidates), count=False).hits
        return self._pages([address for _, address in hits])

    def _pages(self, addresses: list[tantivy.DocAddress]) -> Set[int]:
        return {int(page or 0) for page in self._searcher.fast_field_values(fields.PAGE, addresses)}

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
        query = tantivy.Query
        parts = {"word " + each.unit.name: each.query for each in units}
        if fixed_weights.COVERAGE:
            for each in units:
                name = "has " + each.unit.name
                parts[name] = query.const_score_query(each.query, self._for_having(each))
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
        query = any_of(self._summands(units, parts).values())
        if condition is None:
            return query
        return tantivy.Query.boolean_query([(_MUST, condition), (_SHOULD if enough else _MUST, query)])

    def _summands(self, units: Sequence[Sought], parts: Mapping[str, tantivy.Query]) -> dict[str, tantivy.Query]:
        """The parts whose scores are added up; what having a word counts is one with what the word counts."""
        scored = {name: part for name, part in parts.items() if name != "conditions"}
        for each in units if fixed_weights.COVERAGE else ():
            coverage = scored.pop("has " + each.unit.name, None)
            if coverage is not None:
                name = "word " + each.unit.name
                scored[name] = _with(scored[name], self._for_having(each))
        return scored

    def _for_having(self, sought: Sought) -> float:
        return fixed_weights.COVERAGE * sought.weight

    def _all(self, units: Sequence[Sought], condition: tantivy.Query | None, *, asked: bool) -> tantivy.Query | None:
        """Pages that have all units, function words apart; None where that is what `_query` finds."""
        needed = [each for each in units if not each.common] or list(units)
        if not units or (len(units) == 1 and len(units[0].unit.words) <= 1 and not asked):
            return None
        every = [(_MUST, each.query) for each in needed] + [(_MUST, each) for each in (condition,) if each is not None]
        return tantivy.Query.const_score_query(tantivy.Query.boolean_query(every), 0.0)

    def _candidates(self, hits: Sequence[Hit]) -> list[Candidate]:
        addresses = [address for _, address in hits]
        columns = [self._searcher.fast_field_values(name, addresses) for name in (fields.PAGE, fields.DIGEST, fields.LENGTH)]
        return [
            Candidate(address, score, page or 0, digest or 0, length or 0)
            for (score, address), page, digest, length in zip(hits, *columns, strict=True)
        ]


def _with(query: tantivy.Query, score: float) -> tantivy.Query:
    """What matches, at so much more: to add the query to itself without its score would be to look for it twice."""
    every = tantivy.Query.const_score_query(tantivy.Query.all_query(), score)
    return tantivy.Query.boolean_query([(_MUST, query), (_MUST, every)])


def _agreeing(called: Mapping[int, float], units: Sequence[Sought]) -> Iterator[tuple[int, float]]:
    """The less of a question the text of a link says, the less it counts: ``import`` is a name, and a word of many tasks."""
    whole = sum(each.weight for each in units if not each.common) or 1.0
    return ((page, score * min(1.0, sqrt(score / whole))) for page, score in called.items())


def by_links(units: Sequence[Sought]) -> float:
    """What the number of links counts for such a question: 1 for a name, less for a topic."""
    return min(1.0, _OF_A_NAME / max(1, sum(not each.common for each in units)))
