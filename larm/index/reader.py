"""IndexReader: questions to the full-text index. Knows tantivy and nothing of users: words come analysed, weights from ranking.

Used by `larm.search` on one thread. Works while a crawl is writing: `reload` shows what was committed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import tantivy

from larm.errors import UsageError
from larm.index import fields, schema
from larm.index.analysis import Analyzer
from larm.index.compile import Compiler
from larm.index.failure import IndexFailure
from larm.index.scripts import is_unspaced
from larm.index.terms import Clause
from larm.index.tree import Node, Phrase, Word
from larm.index.vocabulary import Vocabulary


class Match(NamedTuple):
    """A page that was found."""

    url: str
    title: str
    body: str
    """The main text."""
    mime: str
    score: float
    explanation: str
    """JSON; empty if it was not asked for."""
    description: str = ""
    language: str = ""
    modified: int = 0
    """Seconds since 1970; 0: not known. So is `fetched`."""
    fetched: int = 0
    size: int = 0
    """Bytes."""
    quote: int | None = None
    """At most so many characters of the page may be shown; None: any number."""


class Found(NamedTuple):
    """One page of matches."""

    total: int
    """All that match, not only these."""
    matches: list[Match]


class IndexReader:
    """The index in the directory ``path``. Raises UsageError if there is none, StorageError if it can't be read."""

    def __init__(self, path: Path) -> None:
        if not schema.index_exists(path):
            raise UsageError(f"no index in {path.parent}: run larm crawl first")
        # constant after construction
        self.analyzer = Analyzer()
        self._index = schema.open_index(path)
        self._schema = self._index.schema
        self._failure = IndexFailure(path)
        # only the calling thread
        self._searcher = self._new_searcher()

    def reload(self) -> None:
        """See the latest commit; 30 us if there is none."""
        self._searcher = self._new_searcher()

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return int(self._searcher.num_docs)

    @property
    def segments(self) -> int:
        """Parts that the index consists of; merges keep them few."""
        return int(self._searcher.num_segments)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the index, as of the last `reload`."""
        return Vocabulary(self._searcher, self._failure)

    def find(
        self,
        node: Node | None,
        weights: Mapping[str, float],
        tie: float,
        *,
        limit: int,
        offset: int = 0,
        explain: bool = False,
    ) -> Found:
        """Pages for a tree, best first: as `search`, with everything that a query can say."""
        with self._failure:
            query = self._compiled(node, weights, tie)
            if query is None:
                return Found(0, [])
            if offset >= self.documents:  # tantivy reserves room for limit + offset
                return Found(schema.total(self._searcher.search(query, limit=1)), [])
            result = self._searcher.search(query, limit=max(1, limit), offset=offset)
            return Found(schema.total(result), [self._match(query, score, address, explain) for score, address in result.hits])

    def count(self, node: Node | None, weights: Mapping[str, float]) -> int:
        """How many pages a tree finds."""
        with self._failure:
            query = self._compiled(node, weights, 0.0)
            return 0 if query is None else schema.total(self._searcher.search(query, limit=1))

    def _compiled(self, node: Node | None, weights: Mapping[str, float], tie: float) -> tantivy.Query | None:
        def words(where: Literal["any", "title", "url"], item: Word | Phrase) -> tantivy.Query | None:
            names = {"any": weights, "title": {fields.TITLE: 1.0}, "url": {fields.URL_WORDS: 1.0}}[where]
            clauses = _clauses(item, self.analyzer.words(item.text))
            queries = [self._any_field(clause, names, tie) for clause in clauses]
            if len(queries) < 2:
                return queries[0] if queries else None
            return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])

        return Compiler(self._schema, words).compile(node)

    def search(
        self,
        clauses: Sequence[Clause],
        weights: Mapping[str, float],
        tie: float,
        *,
        limit: int,
        offset: int = 0,
        explain: bool = False,
    ) -> Found:
        """Pages in which each clause is found in at least one of the fields of ``weights``, best first.

        BM25; a clause counts as in its best field plus ``tie`` times the others, the score is the sum over the clauses.
        """
        searcher = self._searcher
        if not clauses:
            return Found(0, [])
        with self._failure:
            must = tantivy.Occur.Must
            query = tantivy.Query.boolean_query([(must, self._any_field(clause, weights, tie)) for clause in clauses])
            if offset >= self.documents:  # tantivy reserves room for limit + offset
                return Found(schema.total(searcher.search(query, limit=1)), [])
            result = searcher.search(query, limit=max(1, limit), offset=offset)
            return Found(schema.total(result), [self._match(query, score, address, explain) for score, address in result.hits])

    def _any_field(self, clause: Clause, weights: Mapping[str, float], tie: float) -> tantivy.Query:
        query = tantivy.Query
        fields = [query.boost_query(self._in_field(clause, field), weight) for field, weight in weights.items()]
        return query.disjunction_max_query(fields, tie)

    def _in_field(self, clause: Clause, field: str) -> tantivy.Query:
        if len(clause) == 1:
            return tantivy.Query.term_query(self._schema, field, clause[0], index_option="freq")
        return tantivy.Query.phrase_query(self._schema, field, list(clause))

    def _match(self, query: tantivy.Query, score: float, address: tantivy.DocAddress, explain: bool) -> Match:
        first = self._searcher.doc(address).get_first
        return Match(
            url=first(fields.URL) or "",
            title=first(fields.TITLE) or "",
            body=first(fields.MAIN) or first(fields.SIGNS) or "",
            mime=first(fields.MIME) or "",
            score=score,
            explanation=query.explain(self._searcher, address).to_json() if explain else "",
            description=first(fields.DESCRIPTION) or "",
            language=first(fields.LANGUAGE) or "",
            modified=first(fields.MODIFIED) or 0,
            fetched=first(fields.FETCHED) or 0,
            size=first(fields.SIZE) or 0,
            quote=first(fields.QUOTE),
        )

    def _new_searcher(self) -> tantivy.Searcher:
        with self._failure:
            self._index.reload()
            return self._index.searcher()


def _clauses(item: Word | Phrase, words: list[str]) -> list[Clause]:
    """What must be found of a typed word: each of its words; of scripts without spaces, each two neighbours as a phrase."""
    if isinstance(item, Phrase):
        return [tuple(words)] if words else []
    signs = [is_unspaced(word[0]) for word in words]
    clauses: list[Clause] = []
    for at, word in enumerate(words):
        if signs[at] and at + 1 < len(words) and signs[at + 1]:
            clauses.append((word, words[at + 1]))
        elif not (signs[at] and at and signs[at - 1]):
            clauses.append((word,))
    return clauses
