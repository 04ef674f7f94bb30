"""PageRank by power iteration: how likely somebody who follows links at random is on each page. Pure; numpy.

``rank = DAMPING * (what the pages that link here hand on + what dangling nodes spread evenly) + (1 - DAMPING) / nodes``: a node
without links (it has none, or was not fetched yet) hands its rank to all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larm.graph.files import DAMPING


class LinkRows(NamedTuple):
    """Some of the links: those of some pages."""

    pages: NDArray[np.uint32]
    """Numbers of nodes that have links."""
    counts: NDArray[np.uint32]
    """How many each has."""
    targets: NDArray[np.uint32]
    """Where they lead, page by page."""


def start(nodes: int) -> NDArray[np.float64]:
    """All alike; for who knows nothing better."""
    return np.full(nodes, 1 / max(nodes, 1))


def sweep(rank: NDArray[np.float64], links: Sequence[LinkRows]) -> Iterator[NDArray[np.float64] | None]:
    """One step of the iteration, in parts: None after each part, at last the new rank. 5 ms for a million links."""
    nodes = len(rank)
    gathered = np.zeros(nodes)
    handed = 0.0
    for part in links:
        held = rank[part.pages]
        handed += float(held.sum())
        gathered += np.bincount(part.targets, np.repeat(held / part.counts, part.counts), nodes)
        yield None
    kept = 1.0 - handed  # of dangling nodes; the sum of all ranks is 1
    yield DAMPING * (gathered + kept / nodes) + (1.0 - DAMPING) / nodes


def change(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """How far a sweep moved: the L1 distance. It falls by at least 15 % with each."""
    return float(np.abs(after - before).sum())
