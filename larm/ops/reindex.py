"""reindex: a new index from the stored pages, for ``larm reindex``. On the main thread; no crawl may be running.

The pages are those that the old index has: what asked not to be indexed, is gone or is the alias of another page stays out,
even where only a header said so, which is not stored. What else headers say (language, date, how much may be quoted) is taken
over from the old index, and so is the text of a page of which no copy is kept. Which pages say nearly the same stays as it
was. Where the old index was removed, the table of aliases knows which pages it had, and no more. The new index is made beside
the old one and takes its place at the end.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from larm import config
from larm.crawldir.state import PAGES, QUEUES
from larm.errors import UsageError
from larm.index.duplicates.lookup import Leads
from larm.index.kept import go_back
from larm.index.own_fields import read_stored
from larm.index.page import Page
from larm.index.previous import Known, PreviousIndex
from larm.index.schema import index_exists
from larm.index.swap import INDEX, OLD, STAGE, swap
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.files import is_there
from larm.model.document import Document, Visit
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.restriction import UNKNOWN
from larm.model.url import BadUrl, Url
from larm.store.index import IndexStorage
from larm.store.pages.page_rows import PageRows
from larm.store.pending import Told
from larm.store.reader import StoreLog
from larm.store.store_log import StoreEntry


class Reindexed(NamedTuple):
    """How it went."""

    pages: int
    """In the new index."""
    bodiless: int
    """Of these, pages of which no copy is kept: what the old index had stored of them, title and main text, is all there is."""
    left_out: int
    """Pages of the log that the old index has not."""


class _Moment:
    """A clock that stands where a page was fetched."""

    now = 0.0

    def wall(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return 0.0


def reindex(
    directory: Path,
    log: StoreLog,
    settings: config.IndexStorage,
    process: Callable[[URLMessage, Fetched], Document],
    parse: Callable[[str], Url],
    *,
    generation: int | None = None,
    waits: Sequence[Told] = (),
    indexed: Leads | None = None,
) -> Reindexed:
    """Make the index of ``directory`` anew from the pages of ``log``. Raises UsageError, ConfigError, StorageError.

    ``generation``: of the old index at the last checkpoint. What came later, the crawl would add again; ``waits``: what it
    begins with, as the checkpoint has it. ``indexed`` knows its pages, where it may have been removed; None: nobody else does.
    """
    old = next((path for path in (directory / INDEX, directory / OLD) if index_exists(path)), None)
    if old is not None:
        if generation is not None:
            go_back(old, generation)
        told = {each if isinstance(each, str) else each.url.normalised: each for each in waits}
        previous: _Committed | _Removed = _Committed(PreviousIndex(old), told)
    elif indexed is not None:
        previous = _Removed(indexed, parse)
    else:
        raise UsageError(f"no index in {directory}: 'larm crawl URL' makes one; --dir names another directory")
    book = directory / QUEUES / PAGES
    rows = PageRows(book) if is_there(book) else None
    moment = _Moment()
    storage = IndexStorage(directory / STAGE, settings, moment)
    try:
        shutil.rmtree(directory / STAGE, ignore_errors=True)
        (directory / STAGE).mkdir()
        storage.open(None)
        found = _fill(storage, moment, _Reader(log, process, parse, rows), previous)
        storage.commit()
        storage.close()
        swap(directory)
    except OSError as error:
        raise disk_failure(directory / STAGE, error) from error
    finally:
        storage.close()
        if rows is not None:
            rows.close()
        shutil.rmtree(directory / STAGE, ignore_errors=True)
    return found


class _Committed(NamedTuple):
    """The index, and what it was told last of pages."""

    committed: PreviousIndex
    waits: Mapping[str, Told]

    def find(self, normalised: str) -> Known | None:
        """As `PreviousIndex.find`."""
        page = self.waits.get(normalised)
        if page is None:
            return self.committed.find(normalised)
        if isinstance(page, str):
            return None
        names = set(Known._fields) & set(Page.__struct_fields__)
        same = {name: getattr(page, name) for name in names if name != "own"}
        return Known(**same, group=page.digest, own=read_stored(page.own))


class _Removed(NamedTuple):
    """Stands for an index that is not there any more."""

    pages: Leads
    parse: Callable[[str], Url]

    def find(self, normalised: str) -> Known | None:
        """As `PreviousIndex.find`."""
        try:
            group = self.pages.group(self.parse(normalised).fingerprint)
        except BadUrl:
            return None
        return None if group is None else Known(0, "", "", "", 0, None, group)


class _Reader(NamedTuple):
    """Pages as they are stored."""

    log: StoreLog
    process: Callable[[URLMessage, Fetched], Document]
    parse: Callable[[str], Url]
    rows: PageRows | None
    """They know which pages were cut, and by what."""

    def visit(self, entry: StoreEntry, known: Known) -> Visit | None:
        """The page of a row, read again; None for an address that this larm does not take."""
        try:
            url = self.parse(entry.url)
        except BadUrl:
            return None
        body, headers = self.log.body(entry), {"content-type": entry.mime}
        if entry.size and not body:
            document = Document(
                entry.mime, entry.title, known.text, description=known.description, archive=False, fields=known.own
            )
        else:
            document = self.process(URLMessage(url), Fetched(entry.status, headers, body, Timing()))
        document = msgspec.structs.replace(
            document,
            language=document.language or known.language,
            modified=document.modified or known.modified,
            snippet=known.quote if document.snippet is None else document.snippet,
        )
        row = self.rows.find(url.fingerprint) if self.rows is not None else None
        return Visit(
            url.access,
            url=url,
            status=entry.status,
            headers=headers,
            body=body,
            document=document,
            group=known.group,
            cuts=row.cuts if row is not None else {},
            restricted=row.known.restricted if row is not None else UNKNOWN,
        )


def _fill(storage: IndexStorage, moment: _Moment, reader: _Reader, previous: _Committed | _Removed) -> Reindexed:
    pages = bodiless = left_out = 0
    for entry in reader.log.latest():
        known = previous.find(entry.normalised)
        visit = None if known is None else reader.visit(entry, known)
        if known is None or visit is None:
            left_out += 1
            continue
        moment.now = float(known.fetched)
        storage.store([visit])
        pages += 1
        bodiless += bool(entry.size and not visit.body)
    return Reindexed(pages, bodiless, left_out)
