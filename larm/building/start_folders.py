"""The folders that a crawl may read: those that start URLs name, as they are on this disk (LARM-111).

Called by `larm.building.wiring` on the main thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from larm.building.marker import OWN
from larm.config import Files
from larm.errors import UsageError
from larm.fetching.disk import CAN_WALK
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import FILES, file_path


def file_rules(settings: Files, directory: Path, starts: Iterable[str]) -> FileRules | None:
    """The rules for ``starts`` (access forms, those of earlier runs as well); None if none is a file. Raises UsageError.

    What larm writes into ``directory`` is no part of them: ``-start .`` would have it read its own logs.
    """
    paths = [file_path(url) for url in dict.fromkeys(starts) if url.startswith(FILES)]
    if not paths:
        return None
    if not CAN_WALK:
        raise UsageError("folders can't be crawled on this system: it has no way to open a file without following links")
    roots = sorted(map(_root, paths), key=lambda root: not root.listed)  # a folder that is both may be listed
    return FileRules(
        roots,
        hidden=settings.hidden,
        include=settings.include,
        exclude=settings.exclude,
        index_pages=settings.index_pages,
        listed=settings.listed,
        own=[os.path.realpath(directory / name) for name in OWN],
    )


def _root(path: str) -> Root:
    listed = os.path.isdir(path)
    given = path.rstrip(os.sep) or os.sep
    real = os.path.realpath(given)
    if not listed:
        given, real = os.path.dirname(given), os.path.dirname(real)
    return Root(real, listed, given if given != real else "")
