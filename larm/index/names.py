"""Names: searches for what pages are called by others, in the index that `larm.index.anchors` writes. The reader's thread."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import tantivy

from larm.errors import StorageError
from larm.index.anchors import ADVICE, PAGE, TEXT, opened
from larm.index.failure import IndexFailure
from larm.index.forms import Forms
from larm.index.word_queries import Sought

_MOST = 100
"""Texts that are taken for a query."""


class Anchors:
    """The index of one moment; another one is seen by opening it again. Used on the reader's thread."""

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError where there is none, StorageError."""
        # constant after construction
        self.made = (path / "meta.json").stat().st_mtime_ns
        """When, as the file system has it."""
        self._failure = IndexFailure(path, ADVICE)
        index = opened(path)
        with self._failure:
            self._schema = index.schema
            self._searcher = index.searcher()
        # only the reader's thread
        self.damaged = False
        """A search has found damage, and did without."""
        self._languages: Sequence[str] = ()
        self._forms: Forms | None = None

    def words(self) -> set[str]:
        """Of all texts of links."""
        with self._failure:
            return {word for word, _ in self._searcher.terms_with_prefix(TEXT, "")}

    def find(self, units: Sequence[Sought], languages: Sequence[str], other_forms: float) -> Mapping[int, float]:
        """Fingerprints of the pages that are called by the units; of each page the text counts that says most of them.

        ``languages`` are those of the pages with the links, ``other_forms`` is what forms count that were not typed.
        """
        try:
            return self._find(units, languages, other_forms)
        except StorageError:  # they only add to what the index says
            self.damaged = True
            return {}

    def _find(self, units: Sequence[Sought], languages: Sequence[str], other_forms: float) -> Mapping[int, float]:
        forms = self._forms_in(languages)
        with self._failure:
            each = [self._called(one, forms, other_forms) for one in units if one.unit.words]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in each])
            hits = self._searcher.search(query, limit=_MOST, count=False).hits
            pages = self._searcher.fast_field_values(PAGE, [address for _, address in hits])
        best_last = zip(reversed(pages), (score for score, _ in reversed(hits)), strict=True)
        return {int(page or 0): score for page, score in best_last}

    def _forms_in(self, languages: Sequence[str]) -> Forms:
        if self._forms is None or self._languages != languages:
            self._forms, self._languages = Forms(self._searcher, TEXT, languages), languages
        return self._forms

    def _called(self, sought: Sought, forms: Forms, other_forms: float) -> tantivy.Query:
        query, words, whole = tantivy.Query, sought.unit.words, sought.weight * sought.folded
        if len(words) > 1:
            own = sum(self._rarity(word) for word in words)
            return query.boost_query(query.phrase_query(self._schema, TEXT, list(words)), whole / own)
        found, known = [], forms.of(words[0], derived=sought.unit.derived > 0)
        for word in dict.fromkeys((*(form.word for form in known if form.pages), *sought.unit.names)):
            if self._searcher.doc_freq(TEXT, word):
                weight = whole if word == words[0] else whole * other_forms
                term = query.term_query(self._schema, TEXT, word, index_option="freq")
                found.append(query.boost_query(term, weight / self._rarity(word)))
        return query.disjunction_max_query(found, 0.0) if found else query.empty_query()

    def _rarity(self, word: str) -> float:
        """BM25's, among all texts: it is divided out again, for what counts is how rare a word is in the pages."""
        texts = int(self._searcher.num_docs)
        frequency = min(texts, int(self._searcher.doc_freq(TEXT, word)))
        return math.log(1 + (texts - frequency + 0.5) / (frequency + 0.5))


def open_anchors(path: Path) -> Anchors | None:
    """The index in ``path``; None where there is none (yet). Raises StorageError."""
    try:
        return Anchors(path)
    except FileNotFoundError:
        return None
