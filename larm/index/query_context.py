"""QueryContext: what holds for one search beside its words. Made by the searcher for each; on the reader's thread."""

from __future__ import annotations

from larm.index.terms import Clause
from larm.kit.deadline import Deadline
from larm.model.findings import WordStatistics


class QueryContext:
    """How rare words are taken to be, and how long it may take."""

    def __init__(self, everywhere: WordStatistics | None = None, deadline: Deadline | None = None) -> None:
        """``everywhere``: of all indexes that are asked; None: there is only this one."""
        # constant after construction
        self.everywhere = everywhere
        self.deadline = deadline or Deadline()
        # only the reader's thread
        self.seen: dict[str, int] = {}
        """Pages of this index, for all words that were looked for."""

    def pages_with(self, words: Clause, here: int) -> int:
        """Pages that have the words, of which this index has ``here``."""
        key = " ".join(words)
        self.seen[key] = here
        return here if self.everywhere is None else self.everywhere.words.get(key, here)
