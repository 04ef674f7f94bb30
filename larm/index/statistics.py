"""Statistics: what the index as a whole knows of words and pages; Vocabulary, its words; and QueryContext, for one search.

The first two are made by the reader for each state of the index, the last by the searcher: what holds for one search beside its
words. On the reader's thread.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import tantivy

from larm.index import fields
from larm.index.failure import IndexFailure
from larm.index.meta_words import meta_word
from larm.index.stems import LANGUAGES
from larm.index.terms import Clause
from larm.kit.deadline import Deadline
from larm.model.findings import WordStatistics


class QueryContext:
    """How rare words are taken to be, and how long it may take."""

    def __init__(
        self, everywhere: WordStatistics | None = None, deadline: Deadline | None = None, *, anchors: bool = True
    ) -> None:
        """``everywhere``: of all indexes that are asked; None: there is only this one. ``anchors``: texts of links count."""
        # constant after construction
        self.everywhere = everywhere
        self.deadline = deadline or Deadline()
        self.anchors = anchors
        self.sampled = everywhere is not None and everywhere.sample > 0
        """True if the index is a sample of all pages; its own numbers say little of them."""
        self.compared = everywhere is not None and not self.sampled
        """True if scores are compared with those of other indexes and must not depend on this one alone."""
        # only the reader's thread
        self._times: dict[str, float] = {}
        """Pages everywhere for each page of a sample, by form."""
        self.seen: dict[str, int] = {}
        """Pages of this index, for all words that were looked for."""

    def fit(self, word: str, forms: Iterable[str], here: int) -> None:
        """Note that ``here`` pages of a sample have the word in some form, so `scaled` fits the number that is known of all."""
        known = self.everywhere.texts.get(word, 0) if self.everywhere is not None and self.sampled else 0
        if known and here:
            self._times = dict.fromkeys(forms, max(1.0, known / here)) | self._times

    def scaled(self, here: int, word: str = "") -> int:
        """Return the number of all pages for which ``here`` pages of a sample stand. ``word``: the form that chose them."""
        if self.everywhere is None or not self.sampled:
            return here
        return min(self.everywhere.pages, round(here * self._times.get(word, self.everywhere.pages / self.everywhere.sample)))

    def pages_with(self, words: Clause, here: int) -> int:
        """Pages that have the words, of which this index has ``here``."""
        key = " ".join(words)
        self.seen[key] = here
        return here if self.everywhere is None else self.everywhere.words.get(key, here)

    def known(self, words: Clause) -> int:
        """The same, of words that were looked for before."""
        return self.pages_with(words, self.seen.get(" ".join(words), 0))


_SHARE = 0.02
"""A language counts if so many of the pages are in it."""
_DEFAULT = "en"
_REMEMBERED = 100_000


class Statistics:
    """Frequencies are asked for once."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        # constant after construction
        self.searcher = searcher
        self._documents = int(searcher.num_docs)
        known = int(searcher.doc_freq(fields.META, meta_word("site", "all")))
        self.pages = max(self._documents, known)
        """Those that are deleted count until a merge, as in all frequencies: tantivy's scores go by these numbers."""
        self.exact = known == self._documents
        """None is deleted."""
        # only the reader's thread
        self._frequencies: dict[tuple[str, str], int] = {}
        self._languages: list[str] | None = None

    def frequency(self, field: str, word: str) -> int:
        """Pages that have the word in the field; pages that are deleted may count until a merge."""
        return self.frequencies(field, (word,))[0]

    def frequencies(self, field: str, words: Iterable[str]) -> list[int]:
        """Return `frequency` of each word."""
        known, count = self._frequencies, self.searcher.doc_freq
        if len(known) >= _REMEMBERED:
            known.clear()
        found = []
        for word in words:
            pages = known.get((field, word))
            if pages is None:
                pages = known[field, word] = int(count(field, word))
            found.append(pages)
        return found

    def rarity(self, frequency: int, pages: int | None = None) -> float:
        """BM25's weight of a word that so many of the ``pages`` (None: of this index) have; never negative."""
        pages = self.pages if pages is None else pages
        frequency = min(frequency, pages)
        return math.log(1 + (pages - frequency + 0.5) / (frequency + 0.5))

    @property
    def languages(self) -> list[str]:
        """Those of many of the pages that can be stemmed; English too, if of most pages none is known."""
        if self._languages is None:
            counts = self._aggregate({"terms": {"field": fields.LANGUAGE, "size": 50}}).get("buckets", [])
            self._languages = read_in({each["key"]: each["doc_count"] / self._documents for each in counts})
        return self._languages

    def _aggregate(self, what: dict[str, object]) -> dict[str, Any]:
        return dict(self.searcher.aggregate(tantivy.Query.all_query(), {"it": what})["it"]) if self._documents else {}


def read_in(shares: Mapping[str, float]) -> list[str]:
    """The languages that a query is read in, by their shares of the pages."""
    known = [name for name, share in shares.items() if share >= _SHARE and name in LANGUAGES]
    return list(dict.fromkeys([*known, *([_DEFAULT] if sum(shares.values()) < 1 / 2 else [])]))


_MOST = 3_000  # words; rarer ones are not worth their time


class Vocabulary:
    """The words as they were at the reader's last `reload`; pages removed since the last merge still count."""

    def __init__(self, searcher: tantivy.Searcher, failure: IndexFailure, deadline: Deadline) -> None:
        # constant after construction
        self._searcher = searcher
        self._failure = failure
        self._deadline = deadline

    def pages(self, words: Iterable[str]) -> list[int]:
        """Return, for each word, the number of pages with exactly this word in main text or title; 1 us each."""
        self._deadline.check()
        count = self._searcher.doc_freq
        with self._failure:
            return [max(int(count(fields.MAIN, word)), int(count(fields.TITLE, word))) for word in words]

    def beginning(self, prefixes: Iterable[str]) -> list[list[tuple[str, int]]]:
        """Return, for each prefix, the words of main texts that begin with it, with their numbers of pages, commonest first.

        A word takes 0.4 us.
        """
        self._deadline.check()
        with self._failure:
            return [list(self._searcher.terms_with_prefix(fields.MAIN, prefix, limit=_MOST)) for prefix in prefixes]
