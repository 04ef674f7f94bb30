"""Vocabulary: the words of the index, and on how many pages each of them is. Made by the reader, used on its thread."""

from collections.abc import Iterable

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
