"""find_damage: all that is not whole in the files of a crawl, for ``larm check --state`` and ``larm repair``.

Main thread, in a directory that no crawl uses. It changes nothing, and reads all parts, also where one is damaged. Where
`check_state` finds damage the seal goes (`larm.crawldir.sealing`), so that the next run reads these files too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from larm.crawldir.form import MARKER, refuse_other_form
from larm.crawldir.marker import STATS, refuse_unsaved
from larm.crawldir.salvage_tables import without_lost
from larm.crawldir.sealing import Sealing, read_at_start, seal_of
from larm.crawldir.state import (
    ALIASES,
    ANCHORS,
    GRAPH,
    INDEX,
    LOGS,
    PAGES,
    QUEUES,
    VISITED,
    check_folders,
    forgotten_of,
)
from larm.crawldir.state import JOURNAL as ORDERS
from larm.engine.steering import state_of
from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.frontier.host_records import ROW
from larm.graph.block import check_journal
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.snapshot import Snapshot
from larm.index.anchors import MARK, mark_of
from larm.index.damage import damage_of
from larm.index.integrity import META
from larm.kit.disk import letter_box
from larm.kit.disk.block_store import DATABASE, BlockStore
from larm.kit.disk.database import check_database
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.files import is_there
from larm.kit.disk.journal import Journal
from larm.kit.disk.lock import DirectoryLock
from larm.kit.disk.seal import changed_unseen
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.disk.table import Table
from larm.store.archive.names import FOLDER as WARC
from larm.store.archive.names import PAYLOADS
from larm.store.log import check_lengths, damaged_logs
from larm.store.pending import read_pending

_Check = Callable[[], Iterable["Damage"] | None]
_CHANGED = "these bytes are not as they were written"
_UNREADABLE = (StorageError, OSError, ArithmeticError, LookupError, TypeError, ValueError, msgspec.MsgspecError)
"""What reading a damaged file may raise."""


class Damage(NamedTuple):
    """A file, or a part of one, that is not as larm wrote it."""

    part: str
    """frontier, visited, pages, log, index, aliases, graph, snapshot, anchors, archive, payloads, journal or other."""
    path: Path
    why: str
    """A clause for a person."""
    begin: int = 0
    end: int = 0
    """The damaged bytes, where they are known; 0: all of the file."""


class StateRead(msgspec.Struct):
    """What was read."""

    files: int = 0
    size: int = 0


def check_state(directory: Path, show: Callable[[str], object] = lambda _: None) -> StateRead:
    """Read everything, and ``show`` a line for each damage.

    Raises UsageError where there is no crawl or one that runs, StorageError where something is damaged.
    """
    refuse_unsaved(directory)
    with DirectoryLock(directory, looks=True):
        found = []
        for damage in find_damage(directory):
            found.append(damage)
            at = f" (bytes {damage.begin:,} to {damage.end:,})" if damage.end else ""
            show(f"{damage.part}: {damage.path}: {damage.why}{at}")
        if found:
            with suppress(StorageError):  # on a read-only disk
                Sealing(directory)  # takes it away
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            raise StorageError(f"{found[0].path}: {found[0].why}{more}; 'larm repair' mends the crawl")
    files = read_at_start(directory)
    return StateRead(len(files), sum(file.stat().st_size for file in files))


def find_damage(directory: Path) -> Iterator[Damage]:
    """Yield all that is not whole; the caller has the directory's lock. Raises StorageError where it has another form."""
    refuse_other_form(directory)
    queues, headers = directory / QUEUES, list[Header]()
    yield from _noted("frontier", queues / DATABASE, lambda: _frontier(directory, headers))
    storages = headers[0].storages if headers else {}
    epoch = headers[0].epoch if headers else None
    yield from _noted("visited", queues / VISITED, lambda: _visited(queues / VISITED, epoch))
    for part, name, position in (
        ("pages", PAGES, storages.get("pages")),
        ("aliases", ALIASES, storages.get("index", {}).get("aliases")),
        ("payloads", PAYLOADS, {"generation": storages["warc"].get("payloads")} if "warc" in storages else None),
    ):
        generation = (position or {}).get("generation")
        if generation or is_there(queues / name):
            yield from _noted(part, queues / name, partial(_table, queues / name, generation))
    if headers and forgotten_of(headers[0]).pending:  # the lengths of these are noted when 'larm forget' has completed
        storages = {name: position for name, position in storages.items() if name not in ("log", "graph", "warc")}
    index, journal = storages.get("index", {}), storages.get("graph", {}).get("journal", 0)
    if "log" in storages:
        yield from _noted("log", directory / LOGS, lambda: check_lengths(directory, storages["log"]))
        yield from _noted("log", directory / LOGS, lambda: _logs(directory, storages["log"]))
    if "warc" in storages:
        yield from _noted("archive", directory / WARC, lambda: _archive(directory, storages["warc"]))
    if generation := index.get("generation"):
        yield from _flaws("index", directory / INDEX)
        yield from _noted("index", queues, lambda: _pending(queues, generation, index.get("pending", 0)))
    if journal:
        yield from _noted("graph", directory / GRAPH / JOURNAL, lambda: check_journal(directory / GRAPH / JOURNAL, journal))
    if (directory / GRAPH / SNAPSHOT).exists():
        yield from _noted("snapshot", directory / GRAPH / SNAPSHOT, lambda: Snapshot(directory / GRAPH / SNAPSHOT).check())
    if (directory / ANCHORS / META).exists():
        yield from _flaws("anchors", directory / ANCHORS)
    if is_there(directory / ANCHORS / MARK) and mark_of(directory / ANCHORS) is None:
        yield Damage("anchors", directory / ANCHORS / MARK, _CHANGED)
    yield from _noted("journal", queues / ORDERS, lambda: _orders(queues / ORDERS, headers))
    for path in [directory / MARKER, directory / STATS, *sorted(queues.glob("*.json"))]:
        if is_there(path):
            yield from _noted("other", path, partial(_json, path))

    yield from _noted("other", seal_of(directory), lambda: _sealed(directory))


def _sealed(directory: Path) -> Iterator[Damage]:
    """Yield small files that have changed without a trace."""
    parts = {directory / INDEX: "index", directory / ANCHORS: "anchors"}
    for path in changed_unseen(seal_of(directory), directory):
        yield Damage(parts.get(path.parent, "journal" if path.name == ORDERS else "other"), path, _CHANGED)


def _noted(part: str, path: Path, check: _Check) -> Iterator[Damage]:
    """Yield what ``check`` returns, and what it raises."""
    try:
        yield from check() or ()
    except _UNREADABLE as error:
        yield _said(part, path, error)


def _said(part: str, path: Path, error: Exception) -> Damage:
    """Return what an error says; larm's own begin with a path and end with an advice."""
    named, _, why = str(error).partition(": ")
    if isinstance(error, StorageError) and why and Path(named).is_relative_to(path if path.is_dir() else path.parent):
        return Damage(part, Path(named), why.partition("; ")[0])
    return Damage(part, path, str(error))


def _flaws(part: str, path: Path) -> Iterator[Damage]:
    """Yield the damaged files of an index."""
    return (_said(part, path, flaw) for flaw in damage_of(path))


def _orders(path: Path, headers: Sequence[Header]) -> None:
    """Read the journal, as a start does."""
    if headers or is_there(path):
        position = state_of(headers[0].parts if headers else {}).position
        Journal(path, position).close()


def _json(path: Path) -> None:
    with disk_failures(path):
        msgspec.json.decode(path.read_bytes())


def _frontier(directory: Path, headers: list[Header]) -> None:
    check_database(directory / QUEUES / DATABASE)
    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        found = CheckpointFile(store).read()
        if found is None:
            raise StorageError(f"{store}: no checkpoint in it: the first one was not written")
        headers.append(found[0])
        store.check()
        store.ask(letter_box.check_rows)
        if (hosts := len(store.keys(ROW))) != found[0].hosts:
            raise StorageError(f"{store}: records of {hosts} hosts instead of {found[0].hosts}")
        if lost := without_lost(store, found[0])[2]:
            raise StorageError(f"{store}: {lost:,} URLs of its queues are missing")
    check_folders(found[0], directory)


def _logs(directory: Path, noted: Mapping[str, Any]) -> Iterator[Damage]:
    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        for path, begin, end in damaged_logs(directory / LOGS, noted, store):
            yield Damage("log", path, _CHANGED, begin, end)


def _archive(directory: Path, noted: Mapping[str, Any]) -> Iterator[Damage]:
    from larm.store.archive.storage import damaged_files  # for a crawl that has one

    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        for path, begin, end in damaged_files(directory / WARC, noted, store):
            yield Damage("archive", path, _CHANGED, begin, end)


def _visited(path: Path, epoch: int | None) -> None:
    check_database(path)
    with closing(DiskSeenSet(path, 1, read_only=True)) as seen:
        seen.check_whole(seen.epoch if epoch is None else epoch)


def _table(path: Path, generation: int | None) -> None:
    check_database(path)
    with closing(Table(path, read_only=True)) as table:
        table.check(table.generation if generation is None else generation)


def _pending(queues: Path, generation: int, length: int) -> None:
    read_pending(queues, generation, length)
