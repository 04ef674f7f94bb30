"""State: what lies in a crawl's directory, opened; and what an earlier run left of it.

Called by `larm.building.wiring` on the main thread.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from larm.config import Config
from larm.crawldir.form import refuse_other_form
from larm.errors import REPAIR, ConfigError, LarmError, StorageError, UsageError
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.kit.disk import letter_box
from larm.kit.disk.block_store import DATABASE, BlockStore
from larm.kit.disk.database import check_database
from larm.kit.disk.files import is_there
from larm.kit.disk.lock import is_held
from larm.kit.disk.seal import Seal
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.yaml_text import read_text
from larm.model.forgotten import PART, ForgottenPart
from larm.model.host_resolver import HostResolver, parse_rules

QUEUES, INDEX, GRAPH, ANCHORS, LOGS = "cachingqueue", "index", "graph", "anchors", "logs"
VISITED, PAGES, ALIASES, JOURNAL = "visited.db", "pages.db", "aliases.db", "journal"
"""Folders of a crawl's directory; it also holds ``lock``, ``stats.json`` and the user's ``config.yaml``."""

Undo = list[Callable[[], object]]
"""What closes the parts that were opened so far."""

RECENT = 200_000
"""Fingerprints of visited URLs that are kept in memory in front of the disk: 20 MB."""


class State(msgspec.Struct, frozen=True):
    """The frontier on the disk."""

    store: BlockStore
    seen: DiskSeenSet
    file: CheckpointFile
    header: Header | None
    """None: there was no checkpoint yet."""
    fresh: bytes
    """Fingerprints that the last checkpoint added to the visited set."""


def open_state(directory: Path, undo: Undo, *, read_only: bool = False) -> State:
    """Open it, or make it; changes nothing of what is there. ``read_only``: makes nothing either. Raises StorageError."""
    refuse_other_form(directory)
    store = BlockStore(directory / QUEUES, read_only=read_only)
    undo.append(store.close)
    seen = DiskSeenSet(directory / QUEUES / VISITED, RECENT, read_only=read_only)
    undo.append(seen.close)
    file = CheckpointFile(store, seen.keep)
    header, fresh = file.read() or (None, b"")
    return State(store, seen, file, header, fresh)


def last_header(directory: Path) -> Header | None:
    """The last checkpoint of a directory, whoever uses it; None: there is none. Raises StorageError."""
    if not is_there(directory / QUEUES / DATABASE):
        return None
    refuse_other_form(directory)
    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        found = CheckpointFile(store).read()
    return None if found is None else found[0]


def logs_of(directory: Path) -> Sequence[str]:
    """Names of the logs that the last checkpoint knows; none where it can't be read."""
    header = _header_of(directory)
    return () if header is None else list(header.logs)


def stored_bytes(directory: Path) -> int:
    """Bytes of store.log that the last checkpoint knows; 0 where it can't be read, or there is none."""
    header = _header_of(directory)
    return 0 if header is None else int(header.storages.get("log", {}).get("store", 0))


def _header_of(directory: Path) -> Header | None:
    try:
        return last_header(directory)
    except LarmError:
        return None


def refuse_bytes(directory: Path) -> None:
    """Raises UsageError where the path is no text: an index can't be told of it, nor can what is written down in JSON."""
    try:
        str(directory.absolute()).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{directory}: expected a path in {sys.getfilesystemencoding().upper()}; --dir names another directory"
        ) from None


def refuse_without_crawl(directory: Path) -> None:
    """Raises UsageError where nothing was ever crawled, or saved and no crawl is about to. Raises StorageError."""
    if not is_there(directory / QUEUES / DATABASE):
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    if last_header(directory) is None and not is_held(directory):
        raise UsageError(f"{directory}: its crawl was ended before it saved anything; the same 'larm crawl' begins again")


def known_header(directory: Path) -> Header:
    """The last checkpoint. Raises UsageError where there is none, StorageError."""
    if (header := last_header(directory)) is None:
        raise UsageError(f"no crawl in {directory}; --dir names another directory")
    return header


def forgotten_of(header: Header | None) -> ForgottenPart:
    """What ``larm forget`` has taken out of the crawl. Raises StorageError."""
    try:
        return msgspec.convert(header.parts.get(PART, {}) if header else {}, ForgottenPart)
    except msgspec.ValidationError as error:
        raise StorageError(f"what was forgotten can't be read in the crawl's state ({error}); {REPAIR}") from error


REPAIR_PART = "repair"
"""Key in the checkpoint's header of what is being repaired; nothing, where that was done once."""


def check_complete(header: Header) -> None:
    """Before a crawl is continued: nothing is half forgotten, or half repaired. Raises UsageError."""
    if header.parts.get(REPAIR_PART):
        raise UsageError("a repair was ended before it was done: 'larm repair' completes it")
    if forgotten_of(header).pending:
        raise UsageError("what is to be forgotten is not gone yet: 'larm forget' completes it")


def check_databases(directory: Path, seal: Seal) -> None:
    """Before a crawl is continued: those whose damage would not show by itself. Raises StorageError."""
    for name in (VISITED, PAGES, ALIASES):
        if not seal.holds(directory / QUEUES / name):
            check_database(directory / QUEUES / name)


def check_folders(header: Header, directory: Path) -> None:
    """Before anything is changed: folders of which a part of the crawl can't do without are there. Raises StorageError."""
    logs = directory / LOGS
    if header.storages.get("log", {}).get("store") and not logs.exists():
        raise StorageError(
            f"{logs}: it was removed, and had the pages of the crawl; put the folder back as it was, or {REPAIR}"
        )
    index, position = directory / INDEX, header.storages.get("index", {})
    if position.get("generation") and not (index / "meta.json").exists():
        raise StorageError(f"{index}: it was removed, or its meta.json was; {REPAIR}")


def without_removed(header: Header | None, directory: Path) -> tuple[Header | None, list[str]]:
    """What is left of it where something was removed that can begin anew, and what a person should know of that.

    That is the link graph, if its folder was removed.
    """
    if header is None:
        return None, []
    if not header.storages.get("graph", {}).get("journal") or (directory / GRAPH).exists():
        return header, []
    storages = {name: position for name, position in header.storages.items() if name != "graph"}
    return msgspec.structs.replace(header, storages=storages), [f"{directory / GRAPH} was removed: the link graph begins anew"]


def recover(state: State, directory: Path, seal: Seal) -> None:
    """Bring the files of the frontier to the last checkpoint, and do what the last run may have died before.

    ``seal``: files that need not be looked at. Raises StorageError where one of them is damaged, or not of this crawl.
    """
    visited, seen = directory / QUEUES / VISITED, state.seen
    advice = f"it was removed or replaced; put the file back as it was, or {REPAIR}"
    if state.header is None and len(seen):
        raise StorageError(f"{state.store}: no checkpoint in it, but {visited} has one of {len(seen):,} URLs: {advice}")
    epoch = state.header.epoch if state.header else 0
    if not seal.holds(visited):
        seen.check()
    if seen.epoch == epoch - 1:
        seen.apply(state.fresh, epoch)
    elif seen.epoch != epoch:
        raise StorageError(f"{visited}: it is of checkpoint {seen.epoch}, {state.store} of {epoch}: {advice}")
    if seal.holds(directory / QUEUES / DATABASE):  # nothing came after the last checkpoint
        state.store.go_on(epoch)
        return
    found = len(state.file.host_rows())
    if state.header is not None and found != state.header.hosts:
        wrong = f"records of {found} hosts instead of {state.header.hosts}"
        raise StorageError(f"{state.store}: {wrong}: the database is damaged; {REPAIR}")
    state.store.ask(letter_box.check)
    state.file.go_back(state.header)


@contextmanager
def closing_all() -> Iterator[Undo]:
    """What is put into it is called at the end, see `close_all`."""
    undo: Undo = []
    try:
        yield undo
    finally:
        close_all(undo)


def close_all(undo: Undo) -> None:
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
        return read_text(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: can't read the host resolver's rules: {error}") from error
