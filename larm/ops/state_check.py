"""find_damage: all that is not whole in the files of a crawl, for ``larm check --state`` and ``larm repair``.

Main thread, in a directory that no crawl uses. It changes nothing, and reads all parts, also where one is damaged. Where
`check_state` finds damage the seal goes (`larm.crawldir.sealing`), so that the next run reads these files too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from larm.crawldir.form import refuse_other_form
from larm.crawldir.sealing import Sealing, read_at_start
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
    refuse_without_crawl,
)
from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Header
from larm.graph.block import check_journal
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.snapshot import Snapshot
from larm.index.integrity import META, check_files
from larm.kit.disk.block_store import DATABASE, BlockStore
from larm.kit.disk.database import check_database
from larm.kit.disk.lock import DirectoryLock
from larm.kit.disk.range_sums import read_sums
from larm.kit.disk.seen_set import DiskSeenSet
from larm.store.log import check_lengths, damaged_logs
from larm.store.pending import read_pending

_Check = Callable[[], Iterable["Damage"] | None]
_UNREADABLE = (StorageError, ArithmeticError, LookupError, TypeError, ValueError, msgspec.MsgspecError)
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
    refuse_without_crawl(directory)
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
    yield from _noted("frontier", queues / DATABASE, lambda: headers.append(_frontier(directory)))
    yield from _noted("visited", queues / VISITED, lambda: _visited(queues / VISITED))
    for part, name in (("pages", PAGES), ("aliases", ALIASES)):
        yield from _noted(part, queues / name, lambda path=queues / name: check_database(path))  # type: ignore[misc]
    storages = headers[0].storages if headers else {}
    if headers and forgotten_of(headers[0]).pending:  # the lengths of these are noted when 'larm forget' has completed
        storages = {name: position for name, position in storages.items() if name not in ("log", "graph", "warc")}
    index, journal = storages.get("index", {}), storages.get("graph", {}).get("journal", 0)
    if "log" in storages:
        yield from _noted("log", directory / LOGS, lambda: check_lengths(directory, storages["log"]))
        yield from _noted("log", directory / LOGS, lambda: _logs(directory, storages["log"]))
    if generation := index.get("generation"):
        yield from _noted("index", directory / INDEX, lambda: check_files(directory / INDEX))
        yield from _noted("index", queues, lambda: _pending(queues, generation, index.get("pending", 0)))
    if journal:
        yield from _noted("graph", directory / GRAPH / JOURNAL, lambda: check_journal(directory / GRAPH / JOURNAL, journal))
    if (directory / GRAPH / SNAPSHOT).exists():
        yield from _noted("snapshot", directory / GRAPH / SNAPSHOT, lambda: Snapshot(directory / GRAPH / SNAPSHOT).check())
    if (directory / ANCHORS / META).exists():
        yield from _noted("anchors", directory / ANCHORS, lambda: check_files(directory / ANCHORS))


def _noted(part: str, path: Path, check: _Check) -> Iterator[Damage]:
    """Yield what ``check`` returns, and what it raises."""
    try:
        yield from check() or ()
    except _UNREADABLE as error:
        said, text = path, str(error)
        if isinstance(error, StorageError):
            named, _, rest = text.partition(": ")  # larm's own sentences begin with a path and end with an advice
            if rest and Path(named).is_relative_to(path if path.is_dir() else path.parent):
                said, text = Path(named), rest
            text = text.partition("; ")[0]
        yield Damage(part, said, text)


def _frontier(directory: Path) -> Header:
    check_database(directory / QUEUES / DATABASE)
    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        found = CheckpointFile(store).read()
        if found is None:
            raise StorageError(f"{store}: no checkpoint in it: the first one was not written")
    check_folders(found[0], directory)
    return found[0]


def _logs(directory: Path, noted: Mapping[str, Any]) -> Iterator[Damage]:
    with closing(BlockStore(directory / QUEUES, read_only=True)) as store:
        sums = read_sums(store)
    for path, begin, end in damaged_logs(directory / LOGS, noted, sums):
        yield Damage("log", path, "the checksum of these bytes is another", begin, end)


def _visited(path: Path) -> None:
    check_database(path)
    with closing(DiskSeenSet(path, 1, read_only=True)) as seen:
        seen.check()


def _pending(queues: Path, generation: int, length: int) -> None:
    read_pending(queues, generation, length)
