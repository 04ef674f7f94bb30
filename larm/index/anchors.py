"""Anchors: a small second index of the texts of links to each page (YIOOP-21), in ``anchors/``.

What others call a page is often the best that there is to know of it, but it is known late: when the pages with the links have
been read. So these texts are no part of a page's document. The storage of the link graph makes the whole index anew at its
end; searches join the two by the fingerprint of the page. Each text is a document of its own: a page that is called ``vacuum``
is a better answer to that than one that is called ``vacuum_freeze_table_age``, by whatever other names it goes.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import tantivy

from larm.errors import StorageError
from larm.index.analysis import WORDS, AnyScript, new_analyzer
from larm.index.failure import IndexFailure
from larm.index.forms import Forms
from larm.index.integrity import check_files
from larm.index.word_queries import Sought
from larm.kit.disk_failure import disk_failure

ANCHORS = "anchors"
"""The folder of the index, in the directory of a crawl."""
_PAGE, _TEXT = "page", "anchors"
_OF = "snapshot"
"""A file in it: of which snapshot of the graph it is."""
_ADVICE = "the next run of larm crawl makes it again"
_MEMORY = 15_000_000  # tantivy's least; twice as much is no faster
_MOST = 400
"""Texts that are taken for each word of a query."""


def write_anchors(path: Path, pages: Iterable[tuple[int, Sequence[str]]], generation: int = 0) -> None:
    """Make the index in ``path`` anew: fingerprints of pages, each with the different texts of links to it.

    ``generation``: that of the graph's snapshot, for `made_of`. Readers see the old one or the new one. Raises StorageError.
    """
    fresh, old = path.with_name(path.name + ".new"), path.with_name(path.name + ".old")
    try:
        for left in (fresh, old):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        fresh.mkdir(parents=True)
        _fill(fresh, pages)
        (fresh / _OF).write_text(f"{generation}\n")
        if path.exists():
            path.rename(old)
        fresh.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise disk_failure(path, error) from error


def made_of(path: Path) -> int | None:
    """The generation of the graph that the index in ``path`` was made of; None where there is none that is whole."""
    try:
        generation = int((path / _OF).read_text())
        check_files(path)
        Anchors(path)  # of the right version
        return generation
    except (OSError, ValueError, StorageError):
        return None


def disown(path: Path) -> None:
    """What the index in ``path`` was made of is no more: `made_of` knows of nothing. Raises StorageError."""
    try:
        (path / _OF).unlink(missing_ok=True)
    except OSError as error:
        raise disk_failure(path, error) from error


def _fill(path: Path, pages: Iterable[tuple[int, Sequence[str]]]) -> None:
    with IndexFailure(path, _ADVICE):
        writer = _open(path).writer(heap_size=_MEMORY, num_threads=1)
        words = AnyScript()
        for page, texts in pages:
            for text in texts:
                document = tantivy.Document()
                document.add_unsigned(_PAGE, page)
                words.add(document, _TEXT, text)
                writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()


def _open(path: Path) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(_PAGE, fast=True)
    builder.add_text_field(_TEXT, tokenizer_name=WORDS)  # by way of AnyScript
    index = tantivy.Index(builder.build(), path=str(path))
    index.register_tokenizer(WORDS, new_analyzer(WORDS))
    index.config_reader("manual")
    return index


class Anchors:
    """The index of one moment; another one is seen by opening it again. Used on the reader's thread."""

    def __init__(self, path: Path) -> None:
        """Raises FileNotFoundError where there is none, StorageError."""
        # constant after construction
        self.made = (path / "meta.json").stat().st_mtime_ns
        """When, as the file system has it."""
        self._failure = IndexFailure(path, _ADVICE)
        with self._failure:
            index = _open(path)
            index.reload()
            self._schema = index.schema
            self._searcher = index.searcher()
        # only the reader's thread
        self._languages: Sequence[str] = ()
        self._forms: Forms | None = None

    def find(self, units: Sequence[Sought], languages: Sequence[str], other_forms: float) -> Mapping[int, float]:
        """Fingerprints of the pages that are called by the units; for each unit the text counts that says least beside it.

        ``languages`` are those of the pages with the links, ``other_forms`` is what forms count that were not typed.
        """
        forms = self._forms_in(languages)
        called: dict[int, float] = {}
        for each in units:
            with self._failure:
                hits = self._searcher.search(self._called(each, forms, other_forms), limit=_MOST, count=False).hits
                pages = self._searcher.fast_field_values(_PAGE, [address for _, address in hits])
            best: dict[int, float] = {}
            for page, (score, _) in zip(pages, hits, strict=True):
                if page is not None:
                    best[int(page)] = max(best.get(int(page), 0.0), float(score))
            for page, score in best.items():
                called[page] = called.get(page, 0.0) + score
        return called

    def _forms_in(self, languages: Sequence[str]) -> Forms:
        if self._forms is None or self._languages != languages:
            self._forms, self._languages = Forms(self._searcher, _TEXT, languages), languages
        return self._forms

    def _called(self, sought: Sought, forms: Forms, other_forms: float) -> tantivy.Query:
        query, words = tantivy.Query, sought.unit.words
        if len(words) > 1:
            own = sum(self._rarity(word) for word in words)
            return query.boost_query(query.phrase_query(self._schema, _TEXT, list(words)), sought.weight / own)
        found = []
        for form in forms.of(words[0]):
            if form.pages:
                weight = sought.weight if form.word == words[0] else sought.weight * other_forms
                term = query.term_query(self._schema, _TEXT, form.word, index_option="freq")
                found.append(query.boost_query(term, weight / self._rarity(form.word)))
        return query.disjunction_max_query(found, 0.0) if found else query.empty_query()

    def _rarity(self, word: str) -> float:
        """BM25's, among all texts: it is divided out again, for what counts is how rare a word is in the pages."""
        texts = int(self._searcher.num_docs)
        frequency = min(texts, int(self._searcher.doc_freq(_TEXT, word)))
        return math.log(1 + (texts - frequency + 0.5) / (frequency + 0.5))


def open_anchors(path: Path) -> Anchors | None:
    """The index in ``path``; None where there is none (yet). Raises StorageError."""
    try:
        return Anchors(path)
    except FileNotFoundError:
        return None
