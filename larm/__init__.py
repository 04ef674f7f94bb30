"""larm: a web crawler with a search engine inside. Where to begin reading: ``larm/crawl.py``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larm.search.searcher import Searcher

__version__ = "0.1.0"


def open_index(directory: str | os.PathLike[str] = ".") -> Searcher:
    """The index of a crawl's directory, to be searched: ``open_index("dir").search("words")``.

    A crawl may be running there: each search sees what was crawled up to its last checkpoint. One thread at a time. Raises
    `larm.errors.UsageError` if there is no index, `StorageError` if it can't be read.
    """
    from pathlib import Path

    from larm.search.searcher import Searcher  # here, for whoever imports larm need not pay for a search engine

    return Searcher(Path(directory))
