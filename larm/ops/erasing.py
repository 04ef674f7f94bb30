"""What ``larm forget`` does last: nothing in the directory's tables and indexes knows the pages any more. Main thread.

The storages have been told that they are gone, and a checkpoint knows it. Each step may be ended, and done again.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from larm.crawldir.state import ALIASES, INDEX, PAGES, QUEUES, VISITED, State
from larm.frontier.checkpoint import Header
from larm.index.purge import purge
from larm.index.schema import index_exists
from larm.kit.disk.block_store import DATABASE
from larm.kit.disk.database import Database
from larm.kit.disk.files import is_there
from larm.kit.disk.table import Table
from larm.model.forgotten import NO_LONGER, ForgottenPages
from larm.store.archive.names import PAYLOADS
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_rows import page_rows
from larm.store.pending import drop_pending


def unseen(state: State, header: Header, pages: Sequence[int]) -> tuple[State, Header]:
    """The visited set does not know them, by their fingerprints: let back, they are fetched where a link leads there."""
    state.seen.discard(pages)
    fresh, epoch = state.seen.cut(), state.store.next_epoch()
    header = msgspec.structs.replace(header, epoch=epoch)
    state.file.amend(header, fresh, {})
    state.seen.apply(fresh, epoch)
    return msgspec.structs.replace(state, fresh=fresh), header


def without_rows(header: Header, path: Path, gone: ForgottenPages, unwanted: Callable[[str], bool]) -> Header:
    """The page book has no rows of them, and others do not say that they were found there, or lead there."""
    if not is_there(path):
        return header
    with closing(PageBook(path)) as book:
        book.open(header.storages[book.name])
        for key, row in page_rows(path, left=True):
            if gone.holds(row.normalised):
                book.amend(key, None)
                continue
            referrer = NO_LONGER if unwanted(row.referrer) else row.referrer
            last = msgspec.structs.replace(row.last, moved=NO_LONGER) if unwanted(row.last.moved) else row.last
            if referrer is not row.referrer or last is not row.last:
                book.amend(key, msgspec.structs.replace(row, referrer=referrer, last=last))
        return msgspec.structs.replace(header, storages=header.storages | {book.name: dict(book.commit())})


def erase(directory: Path) -> list[Path]:
    """What was deleted is in no file any more, but for the indexes that are returned. Raises StorageError."""
    queues = directory / QUEUES
    for path in (queues / name for name in (PAGES, PAYLOADS, ALIASES, VISITED, DATABASE)):
        if is_there(path):
            with closing(Database(path, "") if path.name in {VISITED, DATABASE} else Table(path)) as database:
                database.compact()
    drop_pending(queues)
    return [path for path in [directory / INDEX] if index_exists(path) and not purge(path)]
