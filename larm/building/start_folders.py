"""The folders that a crawl may read: those that start URLs name, as they are on this disk (LARM-111).

Called by `larm.building.wiring` on the main thread.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from larm.config import FilesSettings
from larm.crawldir.marker import OWN
from larm.errors import UsageError
from larm.fetch.disk import CAN_WALK
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import FILES, file_path, file_url

INDEX_PAGES = ("index.html", "index.htm")
"""What web servers show in place of a folder."""


def file_rules(settings: FilesSettings, directory: Path, starts: Iterable[str]) -> FileRules | None:
    """The rules for ``starts`` (access forms, those of earlier runs as well); None if none is a file. Raises UsageError.

    What larm writes into ``directory`` is no part of them: ``-start .`` would have it read its own logs.
    """
    paths = [file_path(url) for url in dict.fromkeys(starts) if url.startswith(FILES)]
    if not paths:
        return None
    if not CAN_WALK:
        raise UsageError("folders can't be crawled on this system: it has no way to open a file without following links")
    roots = [_root(path, settings.places) for path in paths]
    roots.sort(key=lambda root: not root.listed)  # a folder that is both may be listed
    return FileRules(
        roots,
        hidden=settings.hidden,
        include=settings.include,
        exclude=settings.exclude,
        index_pages=settings.index_pages,
        listed=settings.listed,
        own=[os.path.realpath(directory / name) for name in OWN],
    )


def web_roots(places: Mapping[str, str], starts: Iterable[str]) -> tuple[str, ...]:
    """Return the start folders that have an index page, as a web server's root has, as file: URLs."""
    roots = [_root(file_path(url), places) for url in dict.fromkeys(starts) if url.startswith(f"{FILES}///")]
    return tuple(
        file_url(name.rstrip(os.sep) + os.sep)
        for root in roots
        for name in (root.path, root.alias)
        if name and any(os.path.isfile(os.path.join(root.place or root.path, page)) for page in INDEX_PAGES)
    )


def called(url: str, places: Mapping[str, str]) -> str:
    """A file: URL, or a pattern of such, as a crawl with these places has it."""
    for name, folder in places.items():
        here = file_url(os.path.realpath(folder))
        if url.startswith(here) and url[len(here) :][:1] in {"", "/"}:
            return file_url(f"/{name}") + url[len(here) :]
    return url


def is_in_place(url: str, places: Collection[str]) -> bool:
    """Whether a start URL is of a folder that is called otherwise than its path on the disk."""
    return url.startswith(FILES) and file_path(url).strip("/").partition("/")[0] in places


def _root(path: str, places: Mapping[str, str]) -> Root:
    name, _, below = path.strip("/").partition("/")
    disk = os.path.join(places[name], below) if name in places else path
    listed = path.endswith(os.sep) or os.path.isdir(disk)  # also one that is away just now: nothing beside it is read then
    given = path.rstrip(os.sep) or os.sep
    real = os.path.realpath(disk)
    if not listed:
        given, real = os.path.dirname(given), os.path.dirname(real)
    if name in places:
        return Root(given, listed, place=real)
    return Root(real, listed, given if given != real else "")
