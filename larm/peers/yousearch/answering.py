"""Answering: what a peer answers others (YOUS-21, 24). On the threads of the server.

What goes out names no folder and no file of this machine but those that are shared.
"""

from collections.abc import Callable, Sequence

import msgspec

from larm.index.search.query import LONGEST
from larm.index.search.several import SeveralSearchers
from larm.model.findings import Asked, Findings
from larm.peers.door import Call, Question, RefusedError
from larm.peers.yousearch import protocol as say
from larm.seams import Searcher


class Answering:
    """Of one peer. Constant after construction."""

    def __init__(self, card: say.Card, published: Callable[[str], Sequence[Searcher]], seconds: float) -> None:
        """``published``: what is searched for who has a key. ``seconds``: the most for a search."""
        self._card = card
        self._published = published
        self._seconds = seconds

    def questions(self) -> list[Question]:
        """For the door."""
        return [
            Question(say.HELLO, say.Hello, say.Card, lambda _, __: self._card),
            Question(say.SEARCH, Asked, Findings, self.search),
        ]

    def search(self, call: Call, asked: Asked) -> Findings:
        """What is shared here with who asks."""
        if len(asked.query) > LONGEST or not 0 < asked.page <= say.MOST_SHOWN:
            raise RefusedError("its query or page is beyond all bounds", 400)
        seconds = self._seconds if asked.seconds is None else max(0.0, min(self._seconds, asked.seconds))
        number = max(1, min(asked.number, say.MOST_SHOWN))
        question = Asked(  # nobody takes a stranger's advice
            query=asked.query,
            number=number,
            page=asked.page,
            seconds=seconds,
            narrowed=asked.narrowed,
            sort=asked.sort,
            advice=False,
        )
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
