"""Start URLs that are archives: which files they are, the settings of a crawl without network, and what takes its place.

Called by `larm.building.wiring` on the main thread.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from larm.building.start_folders import is_in_place
from larm.building.start_urls import ARCHIVE
from larm.config import Config
from larm.crawldir.state import QUEUES
from larm.errors import ConfigError, UsageError
from larm.filters.scope import ScopeFilter
from larm.kit.units import Seconds
from larm.model.file_url import FILES, file_path, file_url
from larm.model.region import Globs
from larm.seams import Filter

if TYPE_CHECKING:
    from larm.building.ground import Ground
    from larm.building.mission import Mission
    from larm.store.archive.catalogue import Catalogue

_BESIDE = r"(?:.*\.(?:cdxj?|idx)(?:\.gz)?|\..*)"
_AT_A_TIME = 1_000  # pages of a host: a file is no server that could be busy


def archives_of(starts: Iterable[str], earlier: Iterable[str] = (), places: Collection[str] = ()) -> list[str]:
    """The start URLs with folders replaced by the files in them, where they are archives; empty where they are none.

    ``earlier``: start URLs of earlier runs; ``places``: names of folders that are elsewhere on the disk than their URLs say.
    Raises UsageError for some of both kinds.
    """
    given = list(starts)
    found = [(start, [] if is_in_place(start, places) else _files(start)) for start in given]
    if not any(files for _, files in found):
        if any(map(_is_archive, earlier)) and given:
            raise UsageError("this directory is a crawl of WARC files: crawl the web into another one (--dir)")
        return []
    others = [start for start, files in found if not files] or [start for start in earlier if not _is_archive(start)]
    if others:
        raise UsageError(f"{others[0]}: WARC files are crawled by themselves: use a directory for each (--dir)")
    return list(dict.fromkeys(file for _, files in found for file in files))


def offline(settings: Config, archives: Sequence[str]) -> Config:
    """Nobody is asked, so nobody needs a delay, and no robots.txt holds; links lead nowhere."""
    replace = msgspec.structs.replace
    frontier = replace(
        settings.frontier,
        order="breadth-first",
        delay=Seconds(0),
        delay_factor=0.0,
        per_host=_AT_A_TIME,
        retries=0,
        backoff=Seconds(0),  # a Retry-After was for who asked then
    )
    filters = replace(
        settings.filters,
        order=("known_paths", "visited", "scope"),
        traps=replace(settings.filters.traps, limits=0.0, repetition=False),
    )
    return replace(
        settings,
        crawl=replace(settings.crawl, start=tuple(archives), scope="", seeds=(), max_depth=None),
        robots=replace(settings.robots, obey=False, sitemaps=False),
        frontier=frontier,
        filters=filters,
    )


def catalogue_of(ground: Ground, mission: Mission) -> tuple[Catalogue | None, list[Path]]:
    """Of what is in the archives, None if the crawl is of none; and those of them that no earlier run was given.

    Raises ConfigError where larm can't read them; UsageError for a file that is not there; StorageError.
    """
    settings, header = ground.settings, ground.header
    if not archives_of(settings.crawl.start, header.start_urls if header else (), settings.files.places):
        return None, []
    try:
        from larm.store.archive.catalogue import Catalogue  # for who crawls archives
    except ImportError as error:
        raise ConfigError(f"crawl.start: WARC files need FastWARC: pip install 'larm[warc]' ({error})") from error
    folder, log = ground.directory / QUEUES, ground.logs.open("archive").line
    catalogue = Catalogue(folder, ground.normalizer.parse, ground.shared.counters.add, log, ground.notes.append)
    ground.closed(catalogue.close)
    new = [Path(file_path(message.url.access)) for message in mission.starts]
    if new:
        ground.notes.append(_about(new))
    return catalogue, new


def _about(paths: Sequence[Path]) -> str:
    """What a person should know before it begins. Raises UsageError for a file that is not there."""
    size = 0
    for path in paths:
        try:
            size += path.stat().st_size
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
    return f"WARC files: {len(paths):,}, {size / 1e6:,.1f} MB, are walked through first"


def archive_scope(settings: Config) -> Filter:
    """What belongs to the crawl of an archive."""
    from larm.filters.archive_scope import ArchiveScope

    crawl = settings.crawl
    return ArchiveScope(ScopeFilter(crawl.restrict_to or ".*", Globs(crawl.include, crawl.exclude)))


def _is_archive(start: str) -> bool:
    return start.startswith(FILES) and ARCHIVE.fullmatch(start) is not None


def _files(start: str) -> list[str]:
    if not start.startswith(FILES):
        return []
    path = Path(file_path(start))
    if not path.is_dir():
        return [start] if _is_archive(start) else []
    names = [each for each in sorted(path.iterdir()) if not re.fullmatch(_BESIDE, each.name, re.IGNORECASE)]
    if not names or not all(each.is_file() and ARCHIVE.fullmatch(each.name) for each in names):
        return []
    return [file_url(str(each)) for each in names]
