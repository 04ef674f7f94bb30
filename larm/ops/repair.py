"""repair: drops damaged records of a crawl's directory, rebuilds derived data and queues lost pages for the next run.

Called by ``larm repair`` on the main thread; no crawl may be running. Each step relies on those before it: tables, logs and
page files, archive, index and link graph. The header names the damaged parts until the end, so a killed repair is repeated and
no run begins before. Lost pages enter the queue in the transaction that notes the files without them.
"""

from __future__ import annotations

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
from larm.crawldir.salvage_tables import Salvaged, salvage_memory
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
from larm.kit.logs.log_file import LogFile
from larm.model.document import Visit
from larm.model.message import REDIRECT, UNKNOWN, URLMessage, as_whole, pack_messages, unpack_messages
from larm.model.url import BadUrl
from larm.ops.reindex import Booked, make_index
from larm.ops.state_check import Damage, find_damage
from larm.ops.stored_lines import StoredLines, redirect_visit
from larm.ops.stored_pages import StoredPages
from larm.store.archive.names import FOLDER as WARC
from larm.store.archive.names import PAYLOADS
from larm.store.graph import GraphStorage
from larm.store.log import LINKS_LOG, STORE_LOG, Position, put_in_place, sums_of_logs
from larm.store.pages.page_book import PageBook
from larm.store.pages.page_row import Answer, PageRow
from larm.store.pages.page_rows import PageRows, page_rows
from larm.store.pending import drop_pending
from larm.store.reader import StoreLog
from larm.store.salvage_logs import salvage_logs
from larm.version import VERSION

T = TypeVar("T")

LOG = "repair"
"""Name of the log that lists the lost pages."""
_DERIVED = frozenset({"index", "aliases", "graph", "snapshot", "anchors"})
_MADE_ANEW = frozenset({"stats.json", "suspects.json", "sealed.json", "larm.json"})
"""Small files that the next run writes again."""


class Repaired(msgspec.Struct):
    """The result of `repair`."""

    found: Sequence[Damage] = ()
    unfinished: bool = False
    """True if it completed a killed repair."""
    notes: list[str] = []
    """Sentences for the user about everything that is not as before."""
    lost: dict[str, str] = {}
    """Lost pages, which the next run fetches: URL and reason."""
    versions: Sequence[str] = ()
    """Lost older versions of pages: URLs, or byte offsets in store.log."""


def repair(settings: Config, directory: Path) -> Repaired:
    """Repair a directory; change nothing if nothing is damaged.

    Raises UsageError if there is no crawl or one is running, StorageError.
    """
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


def _memory(directory: Path, done: Repaired, begun: Sequence[str]) -> Salvaged:
    """Salvage small files and tables. Only then the checkpoint can say how the other files should be."""
    for each in done.found:
        if each.part == "other" and each.path.name in _MADE_ANEW:
            each.path.unlink(missing_ok=True)
    set_marker(directory, VERSION, saved=True)
    parts = {each.part for each in done.found}.union(begun)
    memory = salvage_memory(directory, parts)
    if memory.hosts:
        done.notes.append(
            f"the records of {counted(memory.hosts, 'host')} were lost: their delays and robots.txt are learnt again."
            " Blocked hosts among them have to be blocked again with 'larm ctl block HOST'"
        )
    if memory.incomplete and memory.header.cycle and not memory.header.finished:
        done.notes.append("the revisit in progress may end early: the next one requests the pages that it leaves out")
    if memory.orders:
        done.notes.append("orders that had not taken effect were lost: give them again (larm ctl)")
    if not parts.isdisjoint({"frontier", "visited"}):  # by another header other files may be damaged
        known = {each[:2] for each in done.found}
        done.found = [*done.found, *(each for each in find_damage(directory) if each[:2] not in known)]
    return memory


class _Repair:
    """One repair, after the tables were salvaged."""

    def __init__(self, settings: Config, directory: Path, state: State, memory: Salvaged, done: Repaired) -> None:
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
        """Messages to be queued for the next run, by fingerprint."""

    def run(self, begun: Sequence[str]) -> None:
        """Run the steps for all damaged parts, and for the parts that a killed repair had ``begun``."""
        parts = {each.part for each in self._done.found}.union(begun)
        self._amend(parts=self._header.parts | {REPAIR_PART: sorted(parts)})
        storages = self._header.storages
        if "log" in storages and "log" in parts:
            self._salvage_logs()
        if "log" in storages and "pages" in parts:
            self._book_again()
        if "warc" in storages and "archive" in parts:
            self._salvage_archive()
        if not parts.isdisjoint(_DERIVED) or self._incomplete:
            self._derive(parts)
        self._fetch_again()
        self._amend(parts=self._header.parts | {REPAIR_PART: []})
        self._name_lost()

    # -- what is whole

    def _salvage_logs(self) -> None:
        """Salvage logs and page files; queue the pages whose last version or links are lost."""
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
            found = salvage_logs(
                self._directory / LOGS, noted, self._settings.storage.log, ranges, StoredLines(pages, self._queues / PAGES)
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
        put_in_place(self._directory / LOGS, Position.read(found.position))  # the steps below read them

    def _book_again(self) -> None:
        """Add the stored pages that the page book lost. Queue them, because their validators are lost."""
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

    def _salvage_archive(self) -> None:
        """Salvage the archive; queue the pages whose captures are lost."""
        from larm.store.archive.payload_book import forget_payloads  # FastWARC is optional
        from larm.store.archive.salvage_records import lost_captures, salvage_archive
        from larm.store.archive.storage import sums_of_files

        folder, place = self._directory / WARC, self._header.storages["warc"]["place"]
        damaged = [each.path for each in self._done.found if each.part == "archive"]
        urls = lost_captures(folder, place, damaged)
        with closing(PageRows(self._queues / PAGES)) as rows:
            for url in urls:
                if (row := self._row(rows, url)) is not None:
                    self._lose(row, self._parse(url).fingerprint, "its capture was damaged")
        if urls:
            self._done.notes.append(f"{counted(len(urls), 'capture')} of the archive could not be kept")
            forget_payloads(self._queues / PAYLOADS, urls.__contains__)  # or they would be archived as references
        self._fetch_again()  # before the old index is replaced
        warc = self._header.storages["warc"] | {"place": salvage_archive(folder, place, damaged)}
        self._amend(sums_of_files(folder, warc), f"{WARC}/", storages=self._header.storages | {"warc": warc})

    def _row(self, rows: PageRows, url: str) -> PageRow | None:
        """Return the row of a stored page."""
        with suppress(BadUrl):
            row = rows.find(self._parse(url).fingerprint)
            return row if row is not None and row.stored else None
        return None

    # -- what is derived

    def _derive(self, parts: AbstractSet[str]) -> None:
        """Rebuild index and link graph from the stored pages; queue unknown URLs on them."""
        storages = self._header.storages
        # the index may have pages that no other file knows any more, and would get them twice
        unknown = "pages" in parts and ("log" in parts or "log" not in storages)
        index = "index" in storages and (unknown or not parts.isdisjoint({"index", "aliases"}))
        graph = "graph" in storages and "graph" in parts
        if "log" not in storages:
            self._begin_anew([name for name, wrong in (("index", index), ("graph", graph)) if wrong])
        elif index or graph or self._incomplete:
            with StoredPages(self._settings, self._directory, storages["log"]["store"]) as pages:
                if index:
                    self._make_index(pages, anew=unknown or "aliases" in parts)
                if graph or self._incomplete:
                    self._read_pages(pages, graph=graph)
                self._lose_unkept(pages)
        if "graph" in self._header.storages and not parts.isdisjoint({"snapshot", "anchors"}):
            shutil.rmtree(self._directory / ANCHORS, ignore_errors=True)
            self._end_graph(self._graph(self._header.storages["graph"]))

    def _begin_anew(self, names: Sequence[str]) -> None:
        """Empty storages of a crawl that stores no bodies. The next revisit gives them all pages."""
        for name in names:
            for folder in (name, ANCHORS) if name == "graph" else (name,):
                shutil.rmtree(self._directory / folder, ignore_errors=True)
            self._done.notes.append(f"the {name} is empty, because no copies of pages are stored; the next revisit fills it")
        storages = {name: position for name, position in self._header.storages.items() if name not in names}
        self._amend(storages=storages)

    def _make_index(self, pages: StoredPages, *, anew: bool) -> None:
        """Rebuild the index. ``anew``: rebuild the table of aliases, too."""
        from larm.index.duplicates.aliases import Aliases

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
        self._done.notes.append(f"the index was rebuilt from the stored pages: {counted(found.pages, 'page')}")

    def _read_pages(self, pages: StoredPages, *, graph: bool) -> None:
        """Read the links of all stored pages: for the link graph, and to queue unknown URLs."""
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
            self._done.notes.append("the link graph was rebuilt from the stored pages")

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
        """Queue the pages without a stored body."""
        for page in pages:
            if page.entry.size and not page.entry.file and page.row is not None:
                self._lose(page.row, page.url.fingerprint, "no copy of it is stored")

    # -- what is lost

    def _lose(self, row: PageRow, key: int, why: str) -> None:
        """Note that the next run has to fetch this page unconditionally."""
        known = as_whole(row.known)
        self._messages[key] = msgspec.structs.replace(row.message(key), known=known)
        self._done.lost[row.access] = why

    def _fetch_again(self, sums: Mapping[str, bytes] | None = None, folder: str = "", **changes: Any) -> None:
        """Queue the lost pages, in one transaction with ``changes`` of the header."""
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


class _Unseen:
    """A filter of URLs that are not in the visited set, each once."""

    def __init__(self, seen: DiskSeenSet) -> None:
        self._seen = seen
        self._asked: set[int] = set()

    def of(self, items: Iterable[T], fingerprint: Callable[[T], int]) -> list[T]:
        """Return the new ones of the items."""
        new = {fingerprint(item): item for item in items if fingerprint(item) not in self._asked}
        self._asked.update(new)
        return [item for each, item in new.items() if each not in self._seen]
