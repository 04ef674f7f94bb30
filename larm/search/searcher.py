"""Searcher: words in, pages out. Used by ``larm search``, on one thread; works while a crawl is writing the index."""

from __future__ import annotations

from pathlib import Path

import msgspec

from larm.index.reader import IndexReader, Match
from larm.index.tree import wanted
from larm.kit.clock import SystemClock
from larm.seams import Clock
from larm.search.marks import Marks
from larm.search.query import parse_query, parse_question
from larm.search.ranking import FIELD_WEIGHTS, TIE
from larm.search.snippets import Part, make_snippet, safe_line

_MOST_HITS = 1_000  # on a page of results


class Hit(msgspec.Struct, frozen=True):
    """One page that was found."""

    title: str
    """One line; the URL where the page has no title."""
    url: str
    snippet: tuple[Part, ...]
    """About 200 characters of the page as (text, is it a word of the query); free of control characters."""
    mime: str
    score: float
    explanation: str = ""
    """How the score came about, as JSON, if it was asked for."""

    @property
    def text(self) -> str:
        """The snippet without its marks."""
        return "".join(text for text, _ in self.snippet)


class Results(msgspec.Struct, frozen=True):
    """One page of results."""

    total: int
    """All pages that match."""
    hits: tuple[Hit, ...]
    took: float
    """Seconds."""


class Searcher:
    """Searches ``directory/index``. Raises UsageError if there is no index, StorageError if it can't be read."""

    def __init__(self, directory: Path, clock: Clock | None = None) -> None:
        # constant after construction
        self._clock = clock or SystemClock()
        self._reader = IndexReader(directory / "index")

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self._reader.documents

    def search(self, words: str, n: int = 10, page: int = 1, explain: bool = False) -> Results:
        """The ``n`` best pages that have all the words (page 2: the next ``n``), as the index is now.

        Anything may be typed; a text without a single word finds nothing. Raises StorageError.
        """
        began = self._clock.monotonic()
        reader = self._reader
        reader.reload()
        clauses = parse_query(words, reader.analyzer.words)
        n = min(max(1, n), _MOST_HITS)
        found = reader.search(clauses, FIELD_WEIGHTS, TIE, limit=n, offset=n * (max(1, page) - 1), explain=explain)
        marks = Marks(wanted(parse_question(words).tree), reader.analyzer.words)
        hits = tuple([self._hit(match, marks) for match in found.matches])
        return Results(found.total, hits, self._clock.monotonic() - began)

    def _hit(self, match: Match, marks: Marks) -> Hit:
        snippet = make_snippet(match.body, marks, match.description) if match.quote != 0 else ()
        title = safe_line(match.title).strip() or match.url
        return Hit(title, match.url, snippet, match.mime, match.score, match.explanation)
