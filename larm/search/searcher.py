"""Searcher: words in, pages out. Used by ``larm search`` and `larm.open_index`, on one thread; works while a crawl writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log
from pathlib import Path

import msgspec

from larm.config import Search
from larm.index.reader import IndexReader, Match
from larm.index.tree import Node, wanted
from larm.kit.clock import SystemClock
from larm.seams import Clock
from larm.search.advice import advice, missing
from larm.search.links import LinkDesk
from larm.search.marks import Marks
from larm.search.own_score import OwnScore
from larm.search.query import parse_question
from larm.search.ranked import Ranker
from larm.search.snippets import Part, as_html, make_snippet, safe_line, shortened
from larm.search.spelling import FEW, did_you_mean

_MOST_HITS = 1_000  # on a page of results


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One page that was found."""

    title: str
    """One line; the URL where the page has no title."""
    url: str
    parts: tuple[Part, ...] = ()
    """About 200 characters of the page as (text, is it a word of the query); free of control characters."""
    mime: str = ""
    language: str = ""
    """ISO 639-1; empty where it is not known."""
    modified: int = 0
    """When the page was changed, in seconds since 1970; 0: not known."""
    fetched: int = 0
    """When it was fetched."""
    size: int = 0
    """Bytes."""
    cuts: tuple[str, ...] = ()
    """What was not read of it: names of settings, or ``reader`` (`larm.model.cuts`). It may have more of the words."""
    complete: bool = True
    """It has all words of the query."""
    score: float = 0.0
    explanation: str = ""
    """How the score came about, as JSON, if it was asked for."""

    @property
    def snippet(self) -> str:
        """The passage of the page that shows best why it was found, as one line of plain text."""
        return "".join(text for text, _ in self.parts)

    @property
    def html(self) -> str:
        """The same as safe HTML, with the words of the query in ``<mark>``."""
        return as_html(self.parts)


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """One page of results; iterating over it gives the hits."""

    query: str
    total: int
    """All pages that match: those that have all words, and, where these are few, those that have some."""
    complete: int = 0
    """Those that have all words."""
    hits: tuple[Hit, ...] = ()
    took: float = 0.0
    """Seconds."""
    notes: tuple[str, ...] = ()
    """Sentences about parts of the query that were left out, and why nothing was found."""
    suggestion: str = ""
    """Another spelling that finds more, where few pages were found."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class Searcher:
    """Searches ``directory/index``. Raises UsageError if there is no index, StorageError if it can't be read."""

    def __init__(
        self, directory: Path, settings: Search | None = None, clock: Clock | None = None, own: Sequence[OwnScore] = ()
    ) -> None:
        """``own``: scorers of the user's."""
        # constant after construction
        settings = settings or Search()
        self._clock = clock or SystemClock()
        self._reader = IndexReader(directory / "index", settings)
        self._ranker = Ranker(directory, self._reader, settings, own)
        self._links = LinkDesk(directory)

    @property
    def documents(self) -> int:
        """Pages in the index."""
        return self._reader.documents

    def search(self, words: str, n: int = 10, page: int = 1, explain: bool = False) -> Results:
        """The ``n`` best pages for a query (page 2: the next ``n``), as the index is now. `larm.search.query` has the language.

        Anything may be typed; a text without a single word finds nothing. Raises StorageError; ConfigError if a scorer of the
        user's fails.
        """
        began = self._clock.monotonic()
        reader = self._reader
        self._ranker.reload()
        question = parse_question(words)
        notes = list(question.notes)
        tree = self._links.resolve(question.tree, notes)
        n = min(max(1, n), _MOST_HITS)
        found = self._ranker.rank(tree, n, n * (max(1, page) - 1), explain=explain)
        if found.alike:
            notes.append(_left_out(found.alike))
        suggestion = self._better(words, tree) if found.complete < FEW else ""
        if not found.complete and not suggestion:
            notes += missing(tree, reader.count) if found.total else advice(tree, reader.count)
        marks = Marks(
            tuple(wanted(tree)), reader.analyzer.words, lambda word: list(found.forms.get(word, ())), self._worth_of()
        )
        return Results(
            query=words,
            total=found.total,
            complete=found.complete,
            hits=tuple([_hit(each.match, each.complete or found.complete == found.total, marks) for each in found.results]),
            suggestion=suggestion,
            notes=tuple(dict.fromkeys(notes)),
            took=self._clock.monotonic() - began,
        )

    def _worth_of(self) -> Callable[[str], float]:
        """What it is worth to show a word in a passage: 1 for a word of one page, 0 for a word of all."""
        pages, vocabulary = self._reader.documents + 2, self._reader.vocabulary
        return lambda word: max(0.01, log(pages / (vocabulary.pages(word) + 1)) / log(pages))

    def _better(self, text: str, tree: Node | None) -> str:
        """Another spelling of the query, if there is one that finds more."""
        analyzer = self._reader.analyzer
        changeable = [word for item in wanted(tree) for word in analyzer.words(item.text)]
        if not changeable:
            return ""
        return did_you_mean(text, changeable, analyzer.spans(text), self._reader.vocabulary, total_of=self._total)

    def _total(self, text: str) -> int:
        tree = self._links.resolve(parse_question(text).tree, [])
        return self._reader.count(tree)


def _left_out(alike: int) -> str:
    pages = "1 page that says" if alike == 1 else f"{alike:,} pages that say"
    return f"left out: {pages} nearly the same as one of these; -s search.grouped=false shows all"


def _hit(match: Match, complete: bool, marks: Marks) -> Hit:
    return Hit(
        title=safe_line(match.title).strip() or match.url,
        url=match.url,
        parts=shortened(make_snippet(match.body, marks, match.description), match.quote),
        mime=match.mime,
        language=match.language,
        modified=match.modified,
        fetched=match.fetched,
        size=match.size,
        cuts=match.cuts,
        complete=complete,
        score=match.score,
        explanation=match.explanation,
    )
