"""PageRank by power iteration: how likely somebody who follows links at random is on each page. One thread.

``rank = DAMPING * (what the pages that link here hand on + what dangling nodes spread evenly) + (1 - DAMPING) / nodes``: a node
without links (it has none, or was not fetched yet) hands its rank to all.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from larm.graph import columns
from larm.graph.columns import Column, zeros
from larm.graph.files import DAMPING


class LinkRows(NamedTuple):
    """Some of the links: those of some pages. uint32."""

    pages: Column
    """Numbers of nodes that have links."""
    counts: Column
    """How many each has."""
    targets: Column
    """Where they lead, page by page."""


class Iteration:
    """The ranks of some nodes, more precise with each sweep."""

    def __init__(self, nodes: int, links: Callable[[], Iterable[LinkRows]]) -> None:
        """All alike at first; a caller that knows better changes `rank`. ``links``: all there are, each time."""
        # constant after construction
        self._links = links
        # only one thread
        self.rank: Column = memoryview(array("d", (1 / max(nodes, 1),)) * nodes)
        """float64; their sum is 1."""
        self.moved = 1.0 if nodes else 0.0
        """How far the last sweep moved: the L1 distance. It falls by at least 15 % with each."""

    def sweep(self) -> Iterator[None]:
        """One step, in parts: 5 ms for a million links. Then there is a new `rank`."""
        gathered, handed = zeros("d", len(self.rank)), 0.0
        for part in self._links():
            handed += columns.hand_on(self.rank, *part, gathered)
            yield
        self.moved = columns.settle(gathered, handed, DAMPING, self.rank)
        self.rank = gathered
        yield
