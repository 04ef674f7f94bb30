"""PageRank first: the URL that the link graph ranks highest is next (LARM-115).

The graph is that of the storage ``graph``: its ranks follow the crawl with each of its snapshots, and who waits is then filed
again. What is newer than the snapshot is filed by what the page where it was found hands on.
"""

import math
from collections.abc import Callable, Sequence

import msgspec

from larm.errors import StorageError
from larm.frontier.banded_queue import BANDS
from larm.graph.files import DAMPING
from larm.graph.reader import GraphReader
from larm.model.message import START, Standing, URLMessage
from larm.seams import Clock

_LOOK = 5.0
"""Seconds between two looks for a new snapshot."""
_AVERAGE = 32
"""Band of a page of average rank."""
_UNKNOWN = 0.3
"""The rank of a page of which nobody knows anything."""


def band_of(rank: float) -> int:
    """Half powers of two: 0 for 65,536 times the average and more."""
    return min(max(int(_AVERAGE - 2 * math.log2(rank)), 0), BANDS - 1) if rank > 0 else BANDS - 1


class PageRankOrder:
    """Implements `larm.seams.CrawlOrder`."""

    fair = False

    def __init__(self, open_graph: Callable[[], GraphReader | None], clock: Clock) -> None:
        # constant after construction
        self._open = open_graph
        self._clock = clock
        # guarded by the lock of the host records, but may be read without
        self._graph: GraphReader | None = None
        self._looked = -math.inf
        self.generation = 0

    def found(self, page: URLMessage, links: Sequence[URLMessage]) -> Sequence[URLMessage]:
        """Each link with the band that it would have were this the only one to its page."""
        graph = self._graph
        rank = graph.rank(page.url.fingerprint) if graph is not None else 0.0
        if not rank:
            rank = 2.0 ** ((_AVERAGE - page.standing.tier) / 2) if page.standing is not None else _UNKNOWN
        band = band_of(DAMPING * rank / max(len(links), 1) + 1 - DAMPING)
        return [msgspec.structs.replace(link, standing=Standing(tier=band)) for link in links]

    def file(self, messages: Sequence[URLMessage]) -> list[tuple[int, URLMessage]]:
        """By the last snapshot."""
        self._look()
        return [(self._band(message), message) for message in messages]

    def file_again(self, message: URLMessage, _: int) -> int:
        """By the last snapshot."""
        return self._band(message)

    def close(self) -> None:
        """Nothing is kept: the graph has it all."""

    def _band(self, message: URLMessage) -> int:
        if message.referrer == START:
            return 0
        rank = self._graph.rank(message.url.fingerprint) if self._graph is not None else 0.0
        if not rank and message.standing is not None:
            return message.standing.tier
        return band_of(rank or _UNKNOWN)

    def _look(self) -> None:
        now = self._clock.monotonic()
        if now < self._looked + _LOOK:
            return
        self._looked = now
        try:
            graph = self._open()
        except StorageError:  # the graph storage will say so, and make another
            return
        if graph is not None and (self._graph is None or graph.generation != self._graph.generation):
            self._graph = graph
            self.generation += 1
