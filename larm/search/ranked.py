"""Ranker: from the tree of a query to pages in order, each with the parts of its score. Used by `IndexSearcher`, on its thread.

The index proposes candidates by their words; here they are weighed again by what words do not say: how many pages link to them,
where they stand on their host. Then of pages that say the same, or nearly, the best one becomes a result. All weights are in
the ``search`` section of config.yaml and take effect at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.config import Search
from larm.graph.files import SNAPSHOT
from larm.graph.reader import GraphReader, open_graph
from larm.index.reader import IndexReader, Match
from larm.index.retrieval import Candidate, Retrieved
from larm.index.tree import Node, loosened, split
from larm.search import formulas
from larm.search.own_score import OwnScore
from larm.search.rescoring import Rescoring
from larm.search.rescoring import wanted as rescoring_wanted

_GRAPH = "graph"
_BY_LINKS = "rank by links"


class Ranked(NamedTuple):
    """One result."""

    match: Match
    complete: bool
    """It has all words of the query."""


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


class _Weighed(NamedTuple):
    candidate: Candidate
    score: float
    parts: Mapping[str, float]
    """What was added to the score of the candidate, or takes its place."""
    alike: int = 0
    """Candidates of the same group that come after it."""


class Ranker:
    """For the crawl in ``directory``, of which ``reader`` reads the index."""

    def __init__(self, directory: Path, reader: IndexReader, settings: Search, own: Sequence[OwnScore] = ()) -> None:
        # constant after construction
        self._directory = directory / _GRAPH
        self._reader = reader
        self._settings = settings
        self._own = own
        # only the calling thread
        self._made = self._graph_made()
        self._graph: GraphReader | None = open_graph(self._directory)

    def rank(self, tree: Node | None, number: int, offset: int = 0, *, explain: bool = False) -> Ranking:
        """``number`` results after the first ``offset``. Raises StorageError."""
        found, chosen = self._chosen(tree, number, offset)
        results = [self._result(found, each, explain) for each in chosen]
        words = dict.fromkeys(word for each in found.units for word in each.unit.words)
        forms = {word: self._reader.forms(word) for word in words}
        return Ranking(found.complete, found.total, results, sum(each.alike for each in chosen), forms)

    def urls(self, tree: Node | None, number: int) -> list[str]:
        """The addresses of the first results and nothing else, for evaluations. Raises StorageError."""
        return [self._reader.url(each.candidate) for each in self._chosen(tree, number, 0)[1]]

    def _chosen(self, tree: Node | None, number: int, offset: int) -> tuple[Retrieved, list[_Weighed]]:
        """After the candidates, pages come as the index has them."""
        found = self._reader.retrieve(tree, self._settings.candidates)
        if not found.total and len(split(tree)[0]) > self._settings.all_words_first:
            # a name in quotes is no reason to answer a long question with nothing, when some of its words may be missing anyway
            tree = loosened(tree)
            found = self._reader.retrieve(tree, self._settings.candidates)._replace(complete=0)
        first = self._weigh(found)
        chosen = first[offset : offset + number]
        if len(chosen) < number and len(found.candidates) == self._settings.candidates:
            skipped = self._settings.candidates + max(0, offset - len(first))
            more = self._reader.retrieve(tree, number - len(chosen), skipped).candidates
            chosen += [_Weighed(each, each.score, {}) for each in more]
        return found, chosen

    def reload(self) -> None:
        """See the latest commit of the index, and the latest link graph."""
        self._reader.reload()
        if (made := self._graph_made()) != self._made:
            self._made, self._graph = made, open_graph(self._directory)

    def _graph_made(self) -> int:
        """When, as the file system has it; 0 if there is none."""
        try:
            return (self._directory / SNAPSHOT).stat().st_mtime_ns
        except OSError:
            return 0

    def _weigh(self, found: Retrieved) -> list[_Weighed]:
        """The candidates in their final order, one of each group."""
        scale = max((each.weight for each in found.units), default=1.0)
        rank_of = self._rank_of()
        weight = self._settings.link_rank * scale if rank_of else 0.0
        needed = bool(self._own) or rescoring_wanted(self._settings)
        rescoring = Rescoring(self._reader, self._settings, found, self._own) if needed else None
        weighed = []
        for each in found.candidates:
            parts = {_BY_LINKS: weight * rank_of(each.page)} if rank_of else {}
            if rescoring is not None:
                parts |= rescoring.parts(each)
            own = 0.0 if self._settings.relevance == "dfr" else each.score
            weighed.append(_Weighed(each, own + sum(parts.values()), parts))
        if self._settings.fusion == "reciprocal":
            weighed = _fused(weighed)
        weighed.sort(key=lambda each: (each.candidate.complete, each.score), reverse=True)
        return _grouped(weighed) if self._settings.grouped else weighed

    def _rank_of(self) -> Callable[[int], float] | None:
        """What the link graph knows of the importance of a page; None where it is not asked."""
        graph = self._graph
        if graph is None or not self._settings.link_rank:
            return None
        match self._settings.link_rank_by:
            case "links":
                return lambda page: formulas.fame(graph.in_degree(page))
            case "pagerank":
                return lambda page: formulas.fame(graph.rank(page))
            case "place":
                return lambda page: _by_place(graph.place(page), graph.nodes)

    def _result(self, found: Retrieved, weighed: _Weighed, explain: bool) -> Ranked:
        explanation = ""
        if explain:
            replaced = self._settings.relevance == "dfr" or self._settings.fusion == "reciprocal"
            own = {} if replaced else self._reader.parts_of_score(found, weighed.candidate)
            explanation = _explanation(weighed.score, {**own, **weighed.parts})
        return Ranked(self._reader.read(weighed.candidate, weighed.score, explanation), weighed.candidate.complete)


def _explanation(score: float, parts: Mapping[str, float]) -> str:
    """As JSON, in the form of tantivy's: ``value``, ``description``, ``details``."""
    details = [{"value": value, "description": name} for name, value in parts.items() if value]
    return json.dumps({"value": score, "description": "the sum of", "details": details}, ensure_ascii=False)


def _by_place(place: int | None, nodes: int) -> float:
    return 0.0 if place is None else formulas.doc_rank(nodes - 1 - place)


def _fused(weighed: Sequence[_Weighed]) -> list[_Weighed]:
    """The places by words and by links in place of the scores (YIOOP-65); each part is what its order adds."""
    by_words = sorted(range(len(weighed)), key=lambda n: weighed[n].parts.get(_BY_LINKS, 0.0) - weighed[n].score)
    by_links = sorted(range(len(weighed)), key=lambda n: -weighed[n].parts.get(_BY_LINKS, 0.0))
    orders = {"place by words": by_words, "place by links": by_links}
    parts: list[dict[str, float]] = [{} for _ in weighed]
    for name, order in orders.items():
        for place, number in enumerate(order):
            parts[number][name] = formulas.fused([place]) / len(orders)
    return [each._replace(score=sum(own.values()), parts=own) for each, own in zip(weighed, parts, strict=True)]


def _grouped(weighed: Sequence[_Weighed]) -> list[_Weighed]:
    """The best one of each group of pages that say the same, or nearly (YIOOP-58)."""
    members = Counter(each.candidate.digest for each in weighed)
    seen: set[int] = set()
    kept = []
    for each in weighed:
        digest = each.candidate.digest
        if not digest or digest not in seen:
            seen.add(digest)
            kept.append(each._replace(alike=members[digest] - 1) if digest and members[digest] > 1 else each)
    return kept
