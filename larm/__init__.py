"""larm: a web crawler with a search engine inside. Where to begin reading: ``larm/river/crawl.py``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larm.search.searcher import IndexSearcher

__version__ = "0.1.0"


def open_index(directory: str | os.PathLike[str] = ".") -> IndexSearcher:
    """The index of a crawl's directory, to be searched: ``open_index("dir").search("words")``.

    The weights are those of ``config.yaml`` in the directory, if there is one. A crawl may be running: each search sees what
    was crawled up to its last checkpoint. One thread at a time. Raises `larm.errors.UsageError` if there is no index,
    `ConfigError` if config.yaml is wrong, `StorageError` if the index can't be read.
    """
    from pathlib import Path  # here, for whoever imports larm need not pay for a search engine

    from larm.building.own_parts import scorers
    from larm.config import load
    from larm.search.searcher import IndexSearcher

    file = Path(directory) / "config.yaml"
    settings = load(file if file.exists() else None).search
    return IndexSearcher(Path(directory), settings, own=scorers(settings))
