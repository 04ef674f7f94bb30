"""QueryContext: what holds for one search beside its words. Made by the searcher for each; on the reader's thread."""

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
        self.seen: dict[str, int] = {}
        """Pages of this index, for all words that were looked for."""

    def pages_in(self, field: str, word: str, here: int) -> int:
        """Pages everywhere that have the word in the field, of which ``here`` are in this index."""
        if self.everywhere is None or not self.everywhere.sample:
            return here
        known = self.everywhere.terms.get(field, {}).get(word, 0)
        if 2 * known < here:  # of function words nobody counts any
            return self.scaled(here)
        return min(max(known, here), self.everywhere.pages)

    def scaled(self, here: int) -> int:
        """Of a sample, what so many of its pages are of all."""
        if self.everywhere is None or not self.everywhere.sample:
            return here
        return round(here * self.everywhere.pages / self.everywhere.sample)

    def pages_with(self, words: Clause, here: int) -> int:
        """Pages that have the words, of which this index has ``here``."""
        key = " ".join(words)
        self.seen[key] = here
        return here if self.everywhere is None else self.everywhere.words.get(key, here)

    def known(self, words: Clause) -> int:
        """The same, of words that were looked for before."""
        return self.pages_with(words, self.seen.get(" ".join(words), 0))
