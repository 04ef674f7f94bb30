"""Vocabulary: the words of the index, and on how many pages each of them is. Made by the reader, used on its thread."""

import tantivy

from larm.index import fields
from larm.index.failure import IndexFailure
from larm.kit.deadline import Deadline

_MOST = 3_000  # words; rarer ones are not worth their time


class Vocabulary:
    """The words as they were at the reader's last `reload`; pages removed since the last merge still count."""

    def __init__(self, searcher: tantivy.Searcher, failure: IndexFailure, deadline: Deadline) -> None:
        # constant after construction
        self._searcher = searcher
        self._failure = failure
        self._deadline = deadline

    def pages(self, word: str) -> int:
        """Pages with this very word in their main text or title; 1 us."""
        self._deadline.check()
        with self._failure:
            return max(int(self._searcher.doc_freq(field, word)) for field in (fields.MAIN, fields.TITLE))

    def beginning(self, prefix: str) -> list[tuple[str, int]]:
        """The words of main texts that begin so, with their numbers of pages, commonest first; 0.4 us for each of them."""
        self._deadline.check()
        with self._failure:
            return list(self._searcher.terms_with_prefix(fields.MAIN, prefix, limit=_MOST))
