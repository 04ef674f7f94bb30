"""Searchers of crawls' directories, built. Called on the main thread by ``larm search`` and ``larm serve``."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from larm.building.own_parts import scorers
from larm.config import Search
from larm.seams import Searcher
from larm.search.searcher import IndexSearcher
from larm.search.several import SeveralSearchers
from larm.search.shared import SharedSearcher


def opener(settings: Search) -> Callable[[Path], Callable[[], IndexSearcher]]:
    """Of a directory, what opens its index. Raises ConfigError."""
    own = scorers(settings)
    return lambda directory: partial(IndexSearcher, directory, settings, own=own)


def several(
    directories: Sequence[Path], settings: Search, weights: Sequence[float] = (), others: Sequence[Searcher] = ()
) -> SeveralSearchers:
    """One for all of them, each called by its path, and for others; indexes are opened when they are first asked.

    Raises ConfigError."""
    opened = opener(settings)
    return SeveralSearchers([*(SharedSearcher(str(path), opened(path)) for path in directories), *others], weights)
