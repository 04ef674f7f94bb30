"""Ranker: from the tree of a query to pages in order, each with the parts of its score. Used by `IndexSearcher`, on its thread.

The index proposes candidates by their words; here they are weighed again by what words do not say: how many pages link to them,
where they stand on their host. Then of pages that say the same, or nearly, the best one becomes a result. The weights are in
the ``search`` section of config.yaml and in ``fixed_weights.py``; they take effect at once.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm.config import SearchSettings
from larm.errors import StorageError
from larm.graph.files import SNAPSHOT
from larm.graph.reader import GraphReader, open_graph
from larm.index import fixed_weights
from larm.index.candidate import Candidate
from larm.index.reader import IndexReader, Match
from larm.index.retrieval import NOTHING, Retrieved, by_links
from larm.index.search.best_passages import best_passages
from larm.index.search.entries import entry_at, names_of
from larm.index.search.own_score import OwnScore
from larm.index.tree import All, Node, Phrase, loosened, split
from larm.model.facets import Sort

_GRAPH = "graph"
_FEW_WORDS = 2
_ABOUT_ONE_THING = 4_000
"""Characters of a main text; a longer page has all words by accident the more often, and having them counts the less."""
_BY_LINKS = "rank by links"
_ALL_WORDS = "all words"
_BY_PASSAGE = "best passage"
_READ = 10
"""The first pages, which are read: twenty are no better, and ten are shown anyway."""
_SHORT_PAGE = 1_000
"""Characters of a main text that is one passage: what its best passage says, its score says already."""


class Ranked(NamedTuple):
    """One result."""

    match: Match
    complete: bool
    """It has all words of the query."""
    page: int
    """Fingerprint of its normalised URL."""


class Ranking(NamedTuple):
    """One page of results."""

    complete: int
    """Pages that have all words."""
    total: int
    """Pages that have any of them: more are not to be had."""
    results: Sequence[Ranked]
    alike: int
    """Pages that say the same as one of the results, or nearly, and that were left out for it."""
    forms: Mapping[str, Sequence[str]]
    """For each word of the query the words of the index that it stands for."""
    unknown: Sequence[str] = ()
    """Symbols of the query that are on no page."""
    found: Retrieved = NOTHING
    """What the results were chosen from."""


class _Weighed(NamedTuple):
    candidate: Candidate
    score: float
    added: Sequence[float] = ()
    """To the score of the candidate, in the order of the names: for explanations."""
    alike: int = 0
    """Candidates of the same group that come after it."""
    match: Match | None = None
    """What is stored of it, where it was read."""


class Ranker:
    """For the crawl in ``directory``, of which ``reader`` reads the index."""

    def __init__(
        self,
        directory: Path,
        reader: IndexReader,
        settings: SearchSettings,
        own: Sequence[OwnScore] = (),
        linked: Callable[[Iterable[int]], Sequence[int]] | None = None,
    ) -> None:
        """``linked``: numbers of links to pages, where no link graph has them."""
        # constant after construction
        self._linked = linked
        self._directory = directory / _GRAPH
        self._reader = reader
        self._settings = settings
        self._own = own
        # only the calling thread
        self._made = self._graph_made()
        self._graph: GraphReader | None = None
        self.graph_damaged = False
        """Pages are ranked without links, because the link graph is damaged."""
        self._open_graph()

    def rank(
        self,
        tree: Node | None,
        number: int,
        offset: int = 0,
        *,
        sort: Sort = "relevance",
        explain: bool = False,
        alike: bool = False,
    ) -> Ranking:
        """``number`` results after the first ``offset``; by date they have no scores. ``alike``: with all that say the same.

        Raises StorageError.
        """
        found, chosen = self._chosen(tree, number, offset, sort, grouped=not alike)
        complete = self._reader.having_all(found, [each.candidate for each in chosen])
        results = [self._result(found, each, each.candidate.page in complete, explain) for each in chosen]
        words = {word: each.unit.derived > 0 for each in found.units for word in each.unit.words}
        forms = {word: self._reader.forms(word, derived=derived) for word, derived in words.items()}
        patterns = [each.unit.pattern for each in found.units if each.unit.pattern]
        forms |= {re.split(r"[*?]", pattern)[0]: self._reader.like(pattern) for pattern in patterns}  # as snippets take them
        return Ranking(found.complete, found.total, results, sum(each.alike for each in chosen), forms, found.unknown, found)

    def urls(self, tree: Node | None, number: int) -> list[str]:
        """The addresses of the first results and nothing else, for evaluations. Raises StorageError."""
        _, chosen = self._chosen(tree, number, 0, "relevance", grouped=True)
        return [self._reader.url(each.candidate) for each in chosen]

    def _chosen(
        self, tree: Node | None, number: int, offset: int, sort: Sort, *, grouped: bool
    ) -> tuple[Retrieved, list[_Weighed]]:
        """After the candidates, pages come as the index has them."""
        found = self._reader.retrieve(tree, fixed_weights.CANDIDATES)
        if not found.total and (len(split(tree)[0]) > _FEW_WORDS or self._nowhere(tree)):
            # a name in quotes is no reason to answer a long question with nothing, when some of its words may be missing anyway
            tree = loosened(tree)
            found = self._reader.retrieve(tree, fixed_weights.CANDIDATES)._replace(complete=0, loosened=True)
        if sort == "date":
            return self._newest(found, number, offset, grouped=grouped)
        weighed = self._weigh(found)
        first = _grouped(weighed) if grouped else weighed
        if offset < _READ:
            first = self._by_passages(found, first, names_of(split(tree)[0], self._reader.is_explained))
        chosen = first[offset : offset + number]
        if len(chosen) < number and len(found.candidates) == fixed_weights.CANDIDATES:
            skipped = fixed_weights.CANDIDATES + max(0, offset - len(first))
            more = self._reader.retrieve(tree, number - len(chosen), skipped).candidates
            chosen += [_Weighed(each, each.score) for each in more]
        return found, chosen

    def _nowhere(self, tree: Node | None) -> bool:
        """Something in quotes that no page has, of several indexes in none: as in an error message that was pasted."""
        items = tree.items if isinstance(tree, All) else (tree,)
        return any(isinstance(item, Phrase) and not self._reader.anywhere(item) for item in items)

    def _newest(self, found: Retrieved, number: int, offset: int, *, grouped: bool) -> tuple[Retrieved, list[_Weighed]]:
        """As many of those that changed last as the results are of, of pages that say the same one."""
        most = max(fixed_weights.CANDIDATES, offset + number)
        while True:
            found = self._reader.newest(found, most)
            newest = [_Weighed(each, 0.0) for each in found.candidates]
            first = _grouped(newest) if grouped else newest
            if len(first) >= offset + number or len(newest) < most:
                return found, first[offset : offset + number]
            most *= 2

    def reload(self) -> None:
        """See the latest commit of the index, and the latest link graph."""
        self._reader.reload()
        if (made := self._graph_made()) != self._made:
            self._made = made
            self._open_graph()

    def _open_graph(self) -> None:
        self._graph, self.graph_damaged = None, False
        try:
            self._graph = open_graph(self._directory)
        except StorageError:
            self.graph_damaged = True

    def _graph_made(self) -> int:
        """When, as the file system has it; 0 if there is none."""
        try:
            return (self._directory / SNAPSHOT).stat().st_mtime_ns
        except OSError:
            return 0

    def _by_passages(self, found: Retrieved, weighed: list[_Weighed], names: Sequence[str]) -> list[_Weighed]:
        """The first ones in the order of what their best passages say, too. Not where there are several indexes: words would be
        as rare as in the passages of each, and scores are compared."""
        share, best = fixed_weights.PASSAGES, weighed[:_READ]
        words = dict.fromkeys(word for each in found.units if not each.common for word in each.unit.words)
        if not share or len(best) < 2 or len(words) < 2 or self._reader.compared:
            return weighed
        forms = {form: word for word in words for form in self._reader.forms(word)} | {word: word for word in words}
        matches = [self._reader.read(each.candidate, 0.0) for each in best]
        long = 1 - sum(min(1.0, _SHORT_PAGE / max(1, len(match.body))) for match in matches) / len(matches)
        share *= best[0].score * long
        texts = [match.body[entry_at(match.body, names) :] for match in matches]
        scored = [
            each._replace(score=each.score + share * passage, added=(share * passage, *each.added[1:]), match=match)
            for each, match, passage in zip(best, matches, best_passages(texts, forms), strict=True)
        ]
        return [*sorted(scored, key=lambda each: each.score, reverse=True), *weighed[_READ:]]

    def _weigh(self, found: Retrieved) -> list[_Weighed]:
        """The candidates in their final order."""
        scale = max((each.weight for each in found.units), default=1.0)
        weight, graph = fixed_weights.LINK_RANK * scale * by_links(found.units), self._graph
        degrees: Sequence[int] = [0] * len(found.candidates)
        try:
            linked = graph.in_degrees if graph else self._linked
            degrees = linked(each.page for each in found.candidates) if linked and weight else degrees
        except StorageError:
            self.graph_damaged = True
        having_all = found.having_all if found.every is not None else ()
        having, weighed = fixed_weights.ALL_WORDS * scale, []
        for each, degree in zip(found.candidates, degrees, strict=True):
            by_rank = weight * log10(1 + degree) if degree else 0.0
            whole = having * min(1.0, _ABOUT_ONE_THING / max(1, each.length)) if each.page in having_all else 0.0
            page = self._reader.read(each, 0.0) if self._own else None
            own = [scorer.of(page) for scorer in self._own] if page is not None else ()
            weighed.append(_Weighed(each, each.score + by_rank + whole + sum(own), (0.0, by_rank, whole, *own)))
        weighed.sort(key=lambda each: each.score, reverse=True)
        return weighed

    def _result(self, found: Retrieved, weighed: _Weighed, complete: bool, explain: bool) -> Ranked:
        explanation = ""
        if explain:
            own = self._reader.parts_of_score(found, weighed.candidate)
            names = (_BY_PASSAGE, _BY_LINKS, _ALL_WORDS, *(scorer.name for scorer in self._own))
            explanation = _explanation(weighed.score, {**own, **dict(zip(names, weighed.added, strict=False))})
        match = weighed.match or self._reader.read(weighed.candidate, 0.0)
        return Ranked(
            msgspec.structs.replace(match, score=weighed.score, explanation=explanation), complete, weighed.candidate.page
        )


def _explanation(score: float, parts: Mapping[str, float]) -> str:
    """As JSON, in the form of tantivy's: ``value``, ``description``, ``details``."""
    details = [{"value": value, "description": name} for name, value in parts.items() if value]
    return json.dumps({"value": score, "description": "the sum of", "details": details}, ensure_ascii=False)


def _grouped(weighed: Sequence[_Weighed]) -> list[_Weighed]:
    """The first one of each group of pages that say the same, or nearly (YIOOP-58)."""
    members = Counter(each.candidate.digest for each in weighed)
    seen: set[int] = set()
    kept = []
    for each in weighed:
        digest = each.candidate.digest
        if not digest or digest not in seen:
            seen.add(digest)
            kept.append(each._replace(alike=members[digest] - 1) if digest and members[digest] > 1 else each)
    return kept
