"""Statistics: what the index as a whole knows of words and pages. One for each state of the index; on the reader's thread."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import tantivy

from larm.index import fields
from larm.index.meta_words import meta_word
from larm.index.stems import LANGUAGES

_SHARE = 0.02
"""A language counts if so many of the pages are in it."""
_DEFAULT = "en"
_REMEMBERED = 100_000


class Statistics:
    """Frequencies are asked for once."""

    def __init__(self, searcher: tantivy.Searcher, shares: Mapping[str, float] | None = None) -> None:
        """``shares``: of the pages that are in each language, where these here are but a sample; None: they are all."""
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
        self._languages = None if shares is None else read_in(shares)

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
