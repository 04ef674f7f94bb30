"""reindex_pages: a new index from the stored pages, for ``larm reindex``. On the main thread; no crawl may be running.

The pages are those that the old index has: what asked not to be indexed, is gone or is the alias of another page stays out,
even where only a header said so, which is not stored. What else headers say (language, date, how much may be quoted) is taken
over from the old index, and so is the text of a page of which no copy is kept. Which pages say nearly the same stays as it
was. Where the old index was removed, the page book and the table of aliases say what was in it. The new index is made beside
the old one and takes its place at the end.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from larm.config import Config
from larm.crawldir.marker import permit
from larm.crawldir.state import ALIASES, QUEUES, Undo, closing_all, open_state
from larm.errors import UsageError
from larm.index.duplicates.lookup import Leads
from larm.index.kept import go_back
from larm.index.own_fields import read_stored
from larm.index.page import Page
from larm.index.previous import Known, PreviousIndex
from larm.index.schema import index_exists
from larm.index.swap import INDEX, OLD, STAGE, swap
from larm.kit.disk.disk_failure import disk_failure
from larm.kit.disk.lock import DirectoryLock
from larm.model.document import Visit
from larm.model.restriction import UNKNOWN
from larm.model.url import BadUrl
from larm.ops.stored_pages import StoredPage, StoredPages
from larm.store.index import IndexStorage
from larm.store.pending import Told, read_pending
from larm.store.reader import LeftOut
from larm.store.store_log import StoreEntry

if TYPE_CHECKING:
    from larm.index.duplicates.aliases import Aliases


class Reindexed(NamedTuple):
    """How it went."""

    pages: int
    """In the new index."""
    bodiless: int
    """Of these, pages of which no copy is kept: what the old index had stored of them, title and main text, is all there is."""
    left_out: int
    """Pages of the log that the old index has not."""
    damaged: LeftOut
    """Pages that can't be read."""


class _Moment:
    """A clock that stands where a page was fetched."""

    now = 0.0

    def wall(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return 0.0


def reindex_pages(settings: Config, directory: Path) -> Reindexed:
    """Make the index anew from the pages up to the last checkpoint. Raises UsageError, ConfigError, StorageError.

    What came later, the crawl adds again.
    """
    with closing_all() as undo:
        permit(directory)
        undo.append(DirectoryLock(directory).close)
        header = open_state(directory, undo).header if (directory / QUEUES).is_dir() else None
        noted = header.storages if header else {}
        pages = StoredPages(settings, directory, noted.get("log", {}).get("store"))
        undo.append(pages.close)
        return make_index(settings, directory, pages, _previous(directory, noted.get("index", {}), pages, undo))[0]


def _previous(directory: Path, noted: Mapping[str, Any], pages: StoredPages, undo: Undo) -> _Committed | Booked:
    """What is known of the old index; ``noted``: its position at the checkpoint. Raises UsageError where there was none."""
    generation, aliases = noted.get("generation"), noted.get("aliases")
    old = next((path for path in (directory / INDEX, directory / OLD) if index_exists(path)), None)
    if old is not None:
        if generation is not None:
            go_back(old, generation)
        waits = read_pending(directory / QUEUES, generation or 0, noted.get("pending", 0))
        told = {each if isinstance(each, str) else each.url.normalised: each for each in waits}
        return _Committed(PreviousIndex(old), told)
    if old is None and generation is None:
        raise UsageError(f"no index in {directory}: 'larm crawl URL' makes one; --dir names another directory")
    if aliases and (directory / QUEUES / ALIASES).exists():
        leads = Leads(directory / QUEUES / ALIASES, aliases["generation"])
        undo.append(leads.close)
        return Booked(pages, leads)
    return Booked(pages, None)


def make_index(
    settings: Config,
    directory: Path,
    pages: StoredPages,
    previous: _Committed | Booked,
    aliases: Callable[[], Aliases] | None = None,
) -> tuple[Reindexed, Mapping[str, Any]]:
    """Fill an index beside the old one, and put it into its place; also the position that it has then.

    ``aliases`` makes a table of them, which is to be filled, too.
    """
    moment, stage = _Moment(), directory / STAGE
    storage = IndexStorage(stage, settings.storage.index, moment, aliases)
    try:
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir()
        storage.open(None)
        found = _fill(storage, moment, pages, previous)
        position = storage.commit()
        storage.close()
        swap(directory)
    except OSError as error:
        raise disk_failure(stage, error) from error
    finally:
        storage.close()
        shutil.rmtree(stage, ignore_errors=True)
    return found, position


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


class Booked(NamedTuple):
    """Stands for an index that is not there any more: what the page book says of its pages."""

    pages: StoredPages
    leads: Leads | None
    """Those that were no aliases; None: not known."""

    def find(self, normalised: str) -> Known | None:
        """As `PreviousIndex.find`."""
        try:
            url = self.pages.normalizer.parse(normalised)
        except BadUrl:
            return None
        row, group = self.pages.row(url), 0 if self.leads is None else self.leads.group(url.fingerprint)
        if group is None or row is None or not (row.stored and row.index):
            return None
        return Known(row.came or row.fetched, "", "", "", 0, None, group)


def _fill(storage: IndexStorage, moment: _Moment, pages: StoredPages, previous: _Committed | Booked) -> Reindexed:
    indexed = bodiless = left_out = 0
    for entry in pages.log.latest():
        known = previous.find(entry.normalised)
        damaged = len(pages.left_out)
        visit = None if known is None else pages.left_out.read(entry.url, partial(_visit, pages, entry, known))
        if len(pages.left_out) > damaged:
            continue
        if known is None or visit is None:
            left_out += 1
            continue
        moment.now = float(known.fetched)
        storage.store([visit])
        indexed += 1
        bodiless += bool(entry.size and not visit.body)
    return Reindexed(indexed, bodiless, left_out, pages.left_out)


def _visit(pages: StoredPages, entry: StoreEntry, known: Known) -> Visit | None:
    """The page of a row, read again; None for an address that this larm does not take."""
    try:
        url = pages.normalizer.parse(entry.url)
    except BadUrl:
        return None
    row = pages.row(url)
    page = StoredPage(entry, url, row)
    body = pages.body(page)
    document = pages.read(page, body)
    if entry.size and not body:
        document = msgspec.structs.replace(document, raw_text=known.text, description=known.description, fields=known.own)
    document = msgspec.structs.replace(
        document,
        language=document.language or known.language,
        modified=document.modified or known.modified,
        snippet=known.quote if document.snippet is None else document.snippet,
    )
    return Visit(
        url.access,
        url=url,
        status=entry.status,
        headers={"content-type": entry.mime},
        body=body,
        document=document,
        group=known.group,
        cuts=row.cuts if row is not None else {},
        restricted=row.known.restricted if row is not None else UNKNOWN,
    )
