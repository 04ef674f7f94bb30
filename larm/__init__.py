"""larm: a web crawler with a search engine inside. Where to begin reading: ``larm/engine/crawl.py``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from larm.version import VERSION

if TYPE_CHECKING:
    from larm.index.search.searcher import IndexSearcher
    from larm.ops.embedded.crawling import Crawled
    from larm.ops.embedded.page import Page

__version__ = VERSION


def crawl(
    *start: str,
    dir: str | os.PathLike[str] = ".",  # noqa: A002
    config: str | os.PathLike[str] | None = None,
    on_page: Callable[[Page], object] | None = None,
    fresh: bool = False,
    **settings: Any,
) -> Crawled:
    """Crawl from some start URLs, or folders, and return when it is over: ``crawl("https://x/", dir="x", max_pages=100)``.

    ``dir``: the crawl's directory; an earlier crawl in it is continued, or revisited, unless ``fresh``. ``config``: its
    settings; by default config.yaml in ``dir``, if there is one. ``settings`` have the names of config.yaml and win: keys of
    the section ``crawl`` by themselves, others as sections, ``frontier={"delay": "2s"}``.

    ``on_page`` is called with each page that is new or has changed, one at a time, on a thread of larm's; what it raises ends
    the crawl and is raised here. After a crash of the process, the next run may tell of a page again.

    On the main thread, Ctrl-C ends the crawl in good order and then raises KeyboardInterrupt. Several crawls may run at a time,
    each on its thread and in its directory. Raises `larm.errors.ConfigError` for settings, `UsageError` for start URLs or a
    directory that is in use, `StorageError` for disks, `StageError` for our mistakes.
    """
    from larm.ops.embedded.crawling import crawl as run

    return run(*start, directory=dir, config=config, on_page=on_page, fresh=fresh, settings=settings)


def open_index(directory: str | os.PathLike[str] = ".") -> IndexSearcher:
    """The index of a crawl's directory, to be searched: ``open_index("dir").search("words")``.

    The weights are those of ``config.yaml`` in the directory, if there is one. A crawl may be running: each search sees what
    was crawled up to its last checkpoint. One thread at a time. Raises `larm.errors.UsageError` if there is no index,
    `ConfigError` if config.yaml is wrong, `StorageError` if the index can't be read.
    """
    from pathlib import Path  # here, for whoever imports larm need not pay for a search engine

    from larm.building.own_parts import import_beside
    from larm.building.searching import open_searcher
    from larm.config import load

    file = Path(directory) / "config.yaml"
    settings = load(file if file.exists() else None)
    import_beside(settings, Path(directory))
    return open_searcher(Path(directory), settings.search)
