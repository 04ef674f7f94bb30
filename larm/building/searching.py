"""several: what searches crawls' directories as one. Called on the main thread by ``larm search`` and ``larm serve``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from larm.building.own_parts import scorers
from larm.config import Search
from larm.search.searcher import IndexSearcher
from larm.search.several import SeveralSearchers
from larm.search.shared import SharedSearcher


def several(directories: Sequence[Path], settings: Search, weights: Sequence[float] = ()) -> SeveralSearchers:
    """One for all of them, each called by its path; indexes are opened when they are first asked. Raises ConfigError."""
    own = scorers(settings)
    opened = [partial(IndexSearcher, directory, settings, own=own) for directory in directories]
    return SeveralSearchers([SharedSearcher(str(path), each) for path, each in zip(directories, opened, strict=True)], weights)
