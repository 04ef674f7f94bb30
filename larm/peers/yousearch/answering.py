"""Answering: the answers of a peer to searches of others (YOUS-21, 24). On the threads of the server.

No answer names a folder or file of this machine that is not shared.
"""

from collections.abc import Callable, Sequence

import msgspec

from larm.index.search.query import LONGEST
from larm.index.search.several import SeveralSearchers
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.door import Call, Question, RefusedError
from larm.peers.yousearch import protocol as say
from larm.seams import Searcher

_MOST_PAGES = 1 << 50


class Answering:
    """Answers of one peer. Constant after construction."""

    def __init__(self, card: say.Card, published: Callable[[str], Sequence[Searcher]], seconds: float) -> None:
        """``published`` returns the searchers for a key. ``seconds``: time limit of a search."""
        self._card = card
        self._published = published
        self._seconds = seconds

    def questions(self) -> list[Question]:
        """For the door."""
        return [
            Question(say.HELLO, say.Hello, say.Card, lambda _, __: self._card),
            Question(say.SEARCH, Asked, Findings, self.search),
            Question(say.STATISTICS, Asked, WordStatistics, self.statistics),
        ]

    def statistics(self, call: Call, asked: Asked) -> WordStatistics:
        """Return how many of the pages that the caller may search have the words."""
        searchers = self._published(call.key)
        found = SeveralSearchers(searchers).statistics(self._bounded(asked)) if searchers else None
        return found or WordStatistics()

    def search(self, call: Call, asked: Asked) -> Findings:
        """Return a page of results of what the caller may search."""
        question = self._bounded(asked)
        searchers = self._published(call.key)
        if not searchers:
            return Findings(searcher=self._card.name)
        found = SeveralSearchers(searchers).findings(question)
        return msgspec.structs.replace(
            found,
            searcher=self._card.name,
            hits=tuple(msgspec.structs.replace(hit, source="") for hit in found.hits),
            failure="some of what it has could not be searched" if found.failure else "",
        )

    def _bounded(self, asked: Asked) -> Asked:
        if len(asked.query) > LONGEST or not 0 < asked.page <= say.MOST_SHOWN:
            raise RefusedError("its query or page is beyond all bounds", 400)
        return Asked(  # nobody takes a stranger's advice
            query=asked.query,
            number=max(1, min(asked.number, say.MOST_SHOWN)),
            page=asked.page,
            seconds=self._seconds if asked.seconds is None else max(0.0, min(self._seconds, asked.seconds)),
            narrowed=asked.narrowed,
            sort=asked.sort,
            advice=False,
            statistics=None if asked.statistics is None else _sound(asked.statistics),
        )


def _sound(given: WordStatistics) -> WordStatistics:
    pages = max(0, min(given.pages, _MOST_PAGES))
    return WordStatistics(pages, {word: max(0, min(count, pages)) for word, count in given.words.items()})
