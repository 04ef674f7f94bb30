"""check_state: all files of a crawl that nobody uses, read as a start reads them after a crash; for ``larm check --state``.

Main thread. Where something is damaged the seal goes (`larm.crawldir.sealing`), so that the next run looks at it, too.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from larm.crawldir.sealing import Sealing, read_at_start
from larm.crawldir.state import (
    ANCHORS,
    GRAPH,
    INDEX,
    QUEUES,
    check_databases,
    check_folders,
    closing_all,
    open_state,
    refuse_without_crawl,
)
from larm.errors import StorageError
from larm.frontier.checkpoint import Header
from larm.graph.block import check_journal
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.snapshot import Snapshot
from larm.index.integrity import META, check_files
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.database import check_database
from larm.kit.disk.lock import DirectoryLock
from larm.kit.disk.seal import NO_SEAL
from larm.store.log import check_lengths
from larm.store.pending import read_pending


class StateRead(msgspec.Struct):
    """What was read."""

    files: int = 0
    size: int = 0


def check_state(directory: Path) -> StateRead:
    """Raises UsageError where there is no crawl or one that runs, StorageError for the first thing that is not whole."""
    refuse_without_crawl(directory)
    with DirectoryLock(directory, looks=True):
        try:
            _check(directory)
        except StorageError:
            with suppress(StorageError):  # on a read-only disk
                Sealing(directory)  # takes it away
            raise
    files = read_at_start(directory)
    return StateRead(len(files), sum(file.stat().st_size for file in files))


def _check(directory: Path) -> None:
    check_database(directory / QUEUES / DATABASE)
    check_databases(directory, NO_SEAL)
    with closing_all() as undo:
        state = open_state(directory, undo, read_only=True)
        if state.header is None:
            raise StorageError(f"{state.store}: no checkpoint in it: the first one was not written")
        check_folders(state.header, directory)
        state.seen.check()
        _check_storages(state.header, directory)


def _check_storages(header: Header, directory: Path) -> None:
    if "log" in header.storages:
        check_lengths(directory, header.storages["log"])
    index = header.storages.get("index", {})
    if generation := index.get("generation"):
        check_files(directory / INDEX)
        read_pending(directory / QUEUES, generation, index.get("pending", 0))
    if journal := header.storages.get("graph", {}).get("journal"):
        check_journal(directory / GRAPH / JOURNAL, journal)
        if (directory / GRAPH / SNAPSHOT).exists():
            Snapshot(directory / GRAPH / SNAPSHOT).check()
    if (directory / ANCHORS / META).exists():
        check_files(directory / ANCHORS)
