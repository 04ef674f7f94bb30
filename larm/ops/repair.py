"""repair: what is damaged in a crawl's directory is dropped, what is derived is made anew, what is lost the next run fetches.

For ``larm repair``; main thread, and no crawl may be running. The order matters, as each step relies on those before it: the
tables of the crawl, its logs and page files, its archive, then index and link graph. The checkpoint says from the beginning
that a repair is going on, and at its end which pages are to be fetched; so it may be ended at any moment, and done again, and
no run begins before it is complete.
"""

from __future__ import annotations

import mimetypes
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from larm.building.readers import normalizer_of
from larm.config import Config
from larm.crawldir.marker import refuse_unsaved, set_marker
from larm.crawldir.mending import Memory, mend_memory
from larm.crawldir.sealing import Sealing
from larm.crawldir.state import (
    ALIASES,
    ANCHORS,
    GRAPH,
    LOGS,
    PAGES,
    QUEUES,
    REPAIR_PART,
    State,
    closing_all,
    last_header,
    open_state,
    recover,
)
from larm.engine.allowance import SPENT
from larm.engine.landed import start_visit
from larm.errors import StorageError
from larm.frontier.queue_row import QueueRow
from larm.index.duplicates.lookup import Leads
from larm.index.swap import put_back
from larm.kit.clock import SystemClock
from larm.kit.counted import counted
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.lock import DirectoryLock
from larm.kit.disk.seal import NO_SEAL
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.logs.columns import clean
from larm.kit.logs.log_file import LogFile
from larm.model.crawl_hash import digest
from larm.model.document import Visit
from larm.model.links import NONE as NO_LINKS
from larm.model.links import Link, Links
from larm.model.message import REDIRECT, SITEMAP, UNKNOWN, URLMessage, as_whole, pack_messages, unpack_messages
from larm.model.url import BadUrl, Url
from larm.ops.reindex import Booked, make_index
from larm.ops.state_check import Damage, find_damage
from larm.ops.stored_pages import StoredPage, StoredPages
from larm.store.archive.names import FOLDER as WARC
from larm.store.archive.names import PAYLOADS
from larm.store.graph import GraphStorage
from larm.store.log import LINKS_LOG, STORE_LOG, sums_of_logs
from larm.store.mending import mend_logs
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_row import Answer, PageRow
from larm.store.pages.page_rows import PageRows, page_rows
from larm.store.pending import drop_pending
from larm.store.reader import StoreLog
from larm.store.store_log import StoreEntry, format_links
from larm.version import VERSION

T = TypeVar("T")

LOG = "repair"
"""Names what the next run fetches, a line each."""
_DERIVED = frozenset({"index", "aliases", "graph", "snapshot", "anchors"})
_MADE_ANEW = frozenset({"stats.json", "suspects.json", "sealed.json", "larm.json"})
"""Small files that the next run makes, or that begin anew."""
_TYPES = frozenset(mimetypes.types_map.values())


class Repaired(msgspec.Struct):
    """What was done."""

    found: Sequence[Damage] = ()
    unfinished: bool = False
    """An earlier repair was ended before it was done."""
    notes: list[str] = []
    """A sentence for each thing that is not as it was."""
    lost: dict[str, str] = {}
    """What the next run fetches: address, and why."""
    versions: Sequence[str] = ()
    """What of the page files could not be kept: addresses, or places in store.log."""


def repair(settings: Config, directory: Path) -> Repaired:
    """Nothing is changed where nothing is damaged. Raises UsageError where a crawl runs or there is none, StorageError."""
    refuse_unsaved(directory)
    with closing_all() as undo:
        undo.append(DirectoryLock(directory).close)
        put_back(directory)
        done = Repaired(list(find_damage(directory)), notes=[], lost={})
        begun: Sequence[str] = ()
        with suppress(StorageError):
            header = last_header(directory)
            begun = header.parts.get(REPAIR_PART, ()) if header else ()
        done.unfinished = bool(begun)
        if done.found or begun:
            Sealing(directory)  # takes the seal away
            memory = _memory(directory, done, begun)
            state = open_state(directory, undo)
            recover(state, directory, NO_SEAL)
            _Repair(settings, directory, state, memory, done).run(begun)
        return done


def _memory(directory: Path, done: Repaired, begun: Sequence[str]) -> Memory:
    """Mend small files and tables; only then the checkpoint can be asked what all others have to be."""
    for each in done.found:
        if each.part == "other" and each.path.name in _MADE_ANEW:
            each.path.unlink(missing_ok=True)
    set_marker(directory, VERSION, saved=True)
    parts = {each.part for each in done.found}.union(begun)
    memory = mend_memory(directory, parts)
    if memory.hosts:
        done.notes.append(
            f"the records of {counted(memory.hosts, 'host')} were lost: their delays and robots.txt are learnt anew, and who of"
            " them was blocked is not any more ('larm ctl block' blocks a host)"
        )
    if memory.incomplete and memory.header.cycle and not memory.header.finished:
        done.notes.append("the revisit that was going on may end early: the next one asks for the pages that it leaves out")
    if memory.orders:
        done.notes.append("what was ordered and not carried out yet was lost: order it again ('larm ctl')")
    if "frontier" in parts:
        known = {each[:2] for each in done.found}
        done.found = [*done.found, *(each for each in find_damage(directory) if each[:2] not in known)]
    return memory


class _Repair:
    """One of them."""

    def __init__(self, settings: Config, directory: Path, state: State, memory: Memory, done: Repaired) -> None:
        # constant after construction
        self._settings = settings
        self._directory = directory
        self._queues = directory / QUEUES
        self._state = state
        self._done = done
        self._incomplete = memory.incomplete
        self._parse = normalizer_of(settings, directory, [*settings.crawl.start, *memory.header.start_urls]).parse
        # replaced with each change
        self._header = memory.header
        self._messages: dict[int, URLMessage] = {}
        """By fingerprint: what the next run is to fetch, and is not in the queue yet."""

    def run(self, begun: Sequence[str]) -> None:
        """All steps that are needed, and those that an earlier repair had ``begun``."""
        parts = {each.part for each in self._done.found}.union(begun)
        self._amend(parts=self._header.parts | {REPAIR_PART: sorted(parts)})
        storages = self._header.storages
        if "log" in storages and "log" in parts:
            self._mend_logs()
        if "log" in storages and "pages" in parts:
            self._book_again()
        if "warc" in storages and "archive" in parts:
            self._mend_archive()
        if not parts.isdisjoint(_DERIVED) or self._incomplete:
            self._derive(parts)
        self._fetch_again()
        self._amend(parts=self._header.parts | {REPAIR_PART: []})
        self._name_lost()

    # -- what is whole

    def _mend_logs(self) -> None:
        """Logs and page files; pages that have lost their last version, or links of it, are fetched again."""
        ranges: dict[Path, list[tuple[int, int]]] = {}
        for each in self._done.found:
            if each.part == "log" and each.end:
                ranges.setdefault(each.path, []).append((each.begin, each.end))
        noted = self._header.storages["log"]
        with disk_failures(self._directory / LOGS):
            (self._directory / LOGS).mkdir(exist_ok=True)
            for name in (STORE_LOG, LINKS_LOG):
                (self._directory / LOGS / name).touch()
        with StoredPages(self._settings, self._directory, noted["store"]) as pages:
            found = mend_logs(
                self._directory / LOGS, noted, self._settings.storage.log, ranges, _Pages(pages, self._queues / PAGES)
            )
        for key, row in page_rows(self._queues / PAGES):
            if row.stored and row.access not in found.whole:
                self._lose(row, key, "its stored copy was damaged")
            elif row.stored and row.access in found.linked:
                self._lose(row, key, "its lines in links.log were damaged")
        if versions := [each for each in found.versions if each not in self._done.lost]:
            self._done.notes.append(
                f"{counted(len(versions), 'stored version')} of pages could not be kept: {LOG}.log names them, too"
            )
            self._done.versions = versions
        sums = sums_of_logs(self._directory / LOGS, found.position)
        self._fetch_again(sums, f"{LOGS}/", storages=self._header.storages | {"log": dict(found.position)})

    def _book_again(self) -> None:
        """Pages that the book does not know any more are noted in it, and fetched again: their validators are lost."""
        position = self._header.storages["log"]
        log = StoreLog(self._directory, position["store"])
        with closing(PageBook(self._queues / PAGES)) as book, closing(PageRows(self._queues / PAGES)) as rows:
            book.open(self._header.storages[book.name])
            depths: dict[str, int] = {}
            for entry in log.latest():
                with suppress(BadUrl):
                    url = self._parse(entry.url)
                    row = rows.find(url.fingerprint)
                    if row is None:
                        depth = depths.get(entry.from_page, -1) + 1
                        where = url.access, url.normalised, url.host, entry.from_page, entry.link_type, depth
                        row = PageRow(*where, UNKNOWN, stored=True, last=Answer(entry.status))
                        book.amend(url.fingerprint, row)
                        self._lose(row, url.fingerprint, "its record was damaged")
                    depths[row.access] = row.depth
            storages = self._header.storages | {book.name: dict(book.commit())}
        self._fetch_again(storages=storages)

    def _mend_archive(self) -> None:
        """The records that are whole; pages whose capture was lost are fetched again."""
        from larm.store.archive.mending import mend_archive  # for who has one
        from larm.store.archive.storage import sums_of_files

        place, urls = mend_archive(
            self._directory / WARC,
            self._queues / PAYLOADS,
            self._header.storages["warc"]["place"],
            [each.path for each in self._done.found if each.part == "archive"],
        )
        with closing(PageRows(self._queues / PAGES)) as rows:
            for url in urls:
                if (row := self._row(rows, url)) is not None:
                    self._lose(row, self._parse(url).fingerprint, "its capture was damaged")
        if urls:
            self._done.notes.append(f"{counted(len(urls), 'capture')} of the archive could not be kept")
        warc = self._header.storages["warc"] | {"place": place}
        sums = sums_of_files(self._directory / WARC, warc)
        self._fetch_again(sums, f"{WARC}/", storages=self._header.storages | {"warc": warc})

    def _row(self, rows: PageRows, url: str) -> PageRow | None:
        """Of a page that is stored."""
        with suppress(BadUrl):
            row = rows.find(self._parse(url).fingerprint)
            return row if row is not None and row.stored else None
        return None

    # -- what is derived

    def _derive(self, parts: AbstractSet[str]) -> None:
        """Index and link graph from the stored pages; and the addresses on these that nobody has asked for."""
        storages = self._header.storages
        index = "index" in storages and not parts.isdisjoint({"index", "aliases"})
        graph = "graph" in storages and "graph" in parts
        if "log" not in storages:
            self._begin_anew([name for name, wrong in (("index", index), ("graph", graph)) if wrong])
        elif index or graph or self._incomplete:
            with StoredPages(self._settings, self._directory, storages["log"]["store"]) as pages:
                if index:
                    self._make_index(pages, anew="aliases" in parts)
                if graph or self._incomplete:
                    self._read_pages(pages, graph=graph)
                self._lose_unkept(pages)
        if "graph" in self._header.storages and not parts.isdisjoint({"snapshot", "anchors"}):
            shutil.rmtree(self._directory / ANCHORS, ignore_errors=True)
            self._end_graph(self._graph(self._header.storages["graph"]))

    def _begin_anew(self, names: Sequence[str]) -> None:
        """Storages of a crawl that keeps no copies of pages: the next revisit gives them all pages."""
        for name in names:
            for folder in (name, ANCHORS) if name == "graph" else (name,):
                shutil.rmtree(self._directory / folder, ignore_errors=True)
            self._done.notes.append(
                f"the {name} begins anew, as no copies of pages are kept: the next revisit fetches all pages whole"
            )
        storages = {name: position for name, position in self._header.storages.items() if name not in names}
        self._amend(storages=storages)

    def _make_index(self, pages: StoredPages, *, anew: bool) -> None:
        """``anew``: with the table of aliases, too."""
        from larm.index.duplicates.aliases import Aliases  # for who has an index

        path, merge = self._queues / ALIASES, self._settings.storage.index.merge_duplicates
        noted = self._header.storages["index"]
        known = noted.get("aliases")
        leads = Leads(path, known["generation"]) if known and not anew else None
        try:
            made = (lambda: Aliases(path, merge=merge)) if anew else None
            found, position = make_index(self._settings, self._directory, pages, Booked(pages, leads), made)
        finally:
            if leads is not None:
                leads.close()
        same = {} if anew or not known else {"aliases": known}
        self._amend(storages=self._header.storages | {"index": {**position, **same}})
        drop_pending(self._queues)
        self._done.notes.append(f"the index was made anew from the stored pages: {counted(found.pages, 'page')}")

    def _read_pages(self, pages: StoredPages, *, graph: bool) -> None:
        """All links of the stored pages, for the link graph, and for what of them is not known."""
        storage = self._graph(None) if graph else None
        seen = _Unseen(self._state.seen)
        for page in pages:
            document, row = pages.read(page), page.row
            if storage is not None:
                storage.store([Visit(page.url.access, links=document.links, url=page.url, document=document)])
            if self._incomplete and row is not None:
                followed = [link for link in document.links if link.follow]
                for link in seen.of(followed, lambda link: link.url.fingerprint):
                    message = URLMessage(link.url, page.url.access, link.link_type, row.depth + 1)
                    self._messages.setdefault(link.url.fingerprint, message)
        for _, row in page_rows(self._queues / PAGES):
            if row.last.moved:
                self._moved(row, storage, seen)
        if self._incomplete:
            starts = [self._parse(start) for start in self._header.start_urls]
            self._messages |= {url.fingerprint: URLMessage(url) for url in seen.of(starts, lambda url: url.fingerprint)}
        if storage is not None:
            self._end_graph(storage)
            self._done.notes.append("the link graph was made anew from the stored pages")

    def _moved(self, row: PageRow, storage: GraphStorage | None, seen: _Unseen) -> None:
        with suppress(BadUrl):
            page, there = self._parse(row.access), self._parse(row.last.moved)
            if storage is not None:
                storage.store([redirect_visit(page, there)])
            if self._incomplete and seen.of([there], lambda url: url.fingerprint):
                self._messages.setdefault(there.fingerprint, URLMessage(there, page.access, REDIRECT, row.depth))

    def _graph(self, position: Mapping[str, Any] | None) -> GraphStorage:
        if position is None:
            for folder in (GRAPH, ANCHORS):
                shutil.rmtree(self._directory / folder, ignore_errors=True)
        storage = GraphStorage(self._directory, SystemClock())
        storage.open(position)
        return storage

    def _end_graph(self, storage: GraphStorage) -> None:
        self._amend(storages=self._header.storages | {"graph": dict(storage.commit())})
        storage.close()

    def _lose_unkept(self, pages: StoredPages) -> None:
        """Pages of which no copy is kept can't be read again."""
        for page in pages:
            if page.entry.size and not page.entry.file and page.row is not None:
                self._lose(page.row, page.url.fingerprint, "no copy of it is kept")

    # -- what is lost

    def _lose(self, row: PageRow, key: int, why: str) -> None:
        """The next run fetches this page, whole."""
        known = as_whole(row.known)
        self._messages[key] = msgspec.structs.replace(row.message(key), known=known)
        self._done.lost[row.access] = why

    def _fetch_again(self, sums: Mapping[str, bytes] | None = None, folder: str = "", **changes: Any) -> None:
        """Put what is lost into the queue of the crawl, and the page book, in one change with ``changes`` of the header."""
        incoming = CachingQueue.restore(
            self._header.incoming.state(),
            "incoming",
            self._settings.frontier.message_block,
            self._state.store,
            pack_messages,
            unpack_messages,
        )
        there = {message.url.fingerprint for message in incoming}
        messages = [message for key, message in self._messages.items() if key not in there]
        storages = changes.pop("storages", self._header.storages)
        with closing(PageBook(self._queues / PAGES)) as book:
            book.open(storages[book.name])
            with closing(PageRows(self._queues / PAGES)) as rows:
                known = rows.kept([each.url.fingerprint for each in messages if each.known is not None], left=False)
            for key, row in known.items():
                book.amend(key, msgspec.structs.replace(row, known=as_whole(row.known), current=0))
            storages = storages | {book.name: dict(book.commit())}
        incoming.put_many(messages)
        counters = self._header.counters
        if SPENT in counters:
            counters = counters | {SPENT: max(counters[SPENT] - len(known), 0)}
        self._messages = {}
        waiting = QueueRow.of(incoming.snapshot())
        epoch = self._state.store.next_epoch()  # blocks of the queue were written in the one before
        self._amend(
            sums,
            folder,
            **changes,
            storages=storages,
            counters=counters,
            incoming=waiting,
            epoch=epoch,
            finished=self._header.finished and not messages,
        )
        self._state.seen.apply(b"", epoch)

    def _amend(self, sums: Mapping[str, bytes] | None = None, folder: str = "", **changes: Any) -> None:
        self._header = msgspec.structs.replace(self._header, **changes)
        self._state.file.amend(self._header, b"", {}, sums, folder)

    def _name_lost(self) -> None:
        if self._done.lost or self._done.versions:
            log = LogFile(self._directory / LOGS / f"{LOG}.log")
            log.lines([f"{url}\t{why}" for url, why in self._done.lost.items()])
            log.lines([f"{version}\ta version of it that was stored" for version in self._done.versions])
            log.sync()
            log.close()


class _Pages:
    """What the page book and the stored bytes say of lines of logs. Implements `larm.store.mending.Judge`."""

    def __init__(self, pages: StoredPages, book: Path) -> None:
        self._pages = pages
        self._book = book

    def is_last(self, entry: StoreEntry, body: bytes) -> bool:
        """See `Judge`."""
        page = self._page(entry)
        row = page.row if page else None
        return row is None or not (row.stored and body) or abs(row.known.digest) in {0, digest(body)}

    def confirms(self, entry: StoreEntry, body: bytes) -> bool:
        """See `Judge`. What the book does not have is read again from the page."""
        page = self._page(entry)
        if page is None or page.row is None or not body or entry.size != len(body) or entry.mime not in _TYPES:
            return False
        row, document = page.row, self._pages.read(page, body)
        same = (row.referrer, row.access, row.normalised, row.link_type & SITEMAP, document.title)
        written = (entry.from_page, entry.url, entry.normalised, entry.link_type, entry.title)
        return written == tuple(clean(each) if isinstance(each, str) else each for each in same) and (
            abs(row.known.digest) == digest(body) and entry.status in {row.last.status, 200}
        )

    def links(self, entry: StoreEntry, body: bytes) -> list[bytes]:
        """See `Judge`."""
        page = self._page(entry)
        links = self._pages.read(page, body).links if page and body else NO_LINKS
        return format_links(entry.url, links).splitlines(keepends=True)

    def redirects(self) -> list[bytes]:
        """See `Judge`."""
        parse = self._pages.normalizer.parse
        header = self._pages.header
        visits = [start_visit([URLMessage(parse(start)) for start in header.start_urls])] if header else []
        for _, row in page_rows(self._book):
            with suppress(BadUrl):
                visits += [redirect_visit(parse(row.access), parse(row.last.moved))] if row.last.moved else []
        return [line for visit in visits for line in format_links(visit.page, visit.links).splitlines(keepends=True)]

    def _page(self, entry: StoreEntry) -> StoredPage | None:
        with suppress(BadUrl):
            url = self._pages.normalizer.parse(entry.url)
            return StoredPage(entry, url, self._pages.row(url))
        return None


def redirect_visit(page: Url, there: Url) -> Visit:
    """What storages were told of a redirect."""
    return Visit(page.access, links=Links.of([Link(there, REDIRECT, "")]), url=page)


class _Unseen:
    """What nobody has seen, each once."""

    def __init__(self, seen: DiskSeenSet) -> None:
        self._seen = seen
        self._asked: set[int] = set()

    def of(self, items: Iterable[T], fingerprint: Callable[[T], int]) -> list[T]:
        """Those of the items."""
        new = {fingerprint(item): item for item in items if fingerprint(item) not in self._asked}
        self._asked.update(new)
        return [item for each, item in new.items() if each not in self._seen]
