"""Searchers of crawls' directories, built. Called on the main thread by ``larm search`` and ``larm serve``."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from larm.building.own_parts import scorers
from larm.config import SearchSettings
from larm.crawldir.state import PAGES, QUEUES
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.index.search.shared import SharedSearcher
from larm.seams import Searcher
from larm.store.pages.page_rows import failing_pages


def open_searcher(directory: Path, settings: SearchSettings) -> IndexSearcher:
    """Open the index of a crawl's directory. Raises ConfigError, UsageError, StorageError."""
    return opener(settings)(directory)()


def opener(settings: SearchSettings) -> Callable[[Path], Callable[[], IndexSearcher]]:
    """Of a directory, what opens its index. Raises ConfigError."""
    own = scorers(settings)

    def opened(directory: Path) -> Callable[[], IndexSearcher]:
        failing = partial(failing_pages, directory / QUEUES / PAGES)
        return partial(IndexSearcher, directory, settings, own=own, failing=failing)

    return opened


def several(
    directories: Sequence[Path], settings: SearchSettings, weights: Sequence[float] = (), others: Sequence[Searcher] = ()
) -> SeveralSearchers:
    """One for all of them, each called by its path, and for others; indexes are opened when they are first asked.

    Raises ConfigError."""
    opened = opener(settings)
    return SeveralSearchers([*(SharedSearcher(str(path), opened(path)) for path in directories), *others], weights)
