"""State: what lies in a crawl's directory, opened; and what an earlier run left of it.

Called by `larm.wiring` on the main thread.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from larm.config import Config
from larm.errors import ConfigError, LarmError, StorageError
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.kit.block_store import BlockStore
from larm.kit.integrity import check_database
from larm.kit.seen_set import DiskSeenSet
from larm.model.host_resolver import HostResolver, parse_rules

QUEUES, INDEX, GRAPH, ANCHORS, LOGS = "cachingqueue", "index", "graph", "anchors", "logs"
VISITED, PAGES, ALIASES = "visited.db", "pages.db", "aliases.db"
"""Folders of a crawl's directory; it also holds ``lock``, ``stats.json`` and the user's ``config.yaml``."""

Undo = list[Callable[[], object]]
"""What closes the parts that were opened so far."""


class State(msgspec.Struct, frozen=True):
    """The frontier on the disk."""

    store: BlockStore
    seen: DiskSeenSet
    file: CheckpointFile
    header: Header | None
    """None: there was no checkpoint yet."""
    fresh: bytes
    """Fingerprints that the last checkpoint added to the visited set."""


def open_state(settings: Config, directory: Path, undo: Undo) -> State:
    """Open it, or make it; changes nothing of what is there. Raises StorageError."""
    store = BlockStore(directory / QUEUES)
    undo.append(store.close)
    seen = DiskSeenSet(directory / QUEUES / VISITED, settings.filters.visited.recent)
    undo.append(seen.close)
    file = CheckpointFile(store)
    header, fresh = file.read() or (None, b"")
    return State(store, seen, file, header, fresh)


def check_databases(directory: Path) -> None:
    """Before a crawl is continued: those whose damage would not show by itself. Raises StorageError."""
    for name in (VISITED, PAGES, ALIASES):
        check_database(directory / QUEUES / name)


def recover(state: State, directory: Path) -> None:
    """Bring the files of the frontier to the last checkpoint, and do what the last run may have died before.

    Raises StorageError where one of them is damaged, or not of this crawl.
    """
    visited, seen = directory / QUEUES / VISITED, state.seen
    advice = "it was removed or replaced; put the file back as it was, or start over with --fresh"
    if state.header is None and len(seen):
        raise StorageError(f"{state.store}: no checkpoint in it, but {visited} has one of {len(seen):,} URLs: {advice}")
    epoch = state.header.epoch if state.header else 0
    seen.check()
    if seen.epoch == epoch - 1:
        seen.apply(state.fresh, epoch)
    elif seen.epoch != epoch:
        raise StorageError(f"{visited}: it is of checkpoint {seen.epoch}, {state.store} of {epoch}: {advice}")
    found = len(state.file.host_rows())
    if state.header is not None and found != state.header.hosts:
        wrong = f"records of {found} hosts instead of {state.header.hosts}"
        raise StorageError(f"{state.store}: {wrong}: the database is damaged; start over with --fresh")
    state.file.go_back(state.header)


def forget(directory: Path) -> None:
    """``--fresh``: remove what earlier crawls wrote here, and nothing else."""
    try:
        for name in (QUEUES, INDEX, GRAPH, ANCHORS):
            for folder in (name, f"{name}.new", f"{name}.old"):  # the others are of a process that was killed
                shutil.rmtree(directory / folder, ignore_errors=False) if (directory / folder).exists() else None
        for file in [*(directory / LOGS).glob("*.log"), *(directory / LOGS).glob("pagefile_*.pfl"), directory / "stats.json"]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{error.filename}: can't be removed for --fresh: {error.strerror}") from error


def close_all(undo: list[Callable[[], object]]) -> None:
    """In reverse order, all of them, whatever one of them raises."""
    while undo:
        try:
            undo.pop()()
        except LarmError:
            continue  # what is lost was not in the last checkpoint either


def resolver_of(settings: Config, directory: Path) -> HostResolver:
    """The rules of ``urls.host_resolver``. Raises ConfigError."""
    return parse_rules(host_rules(settings, directory), str(directory / settings.urls.host_resolver))


def host_rules(settings: Config, directory: Path) -> str:
    """The file that ``urls.host_resolver`` names; empty if it names none. Raises ConfigError."""
    if not settings.urls.host_resolver:
        return ""
    path = directory / settings.urls.host_resolver
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't read the host resolver's rules: {error}") from error
