"""Crawls run in this process, and what they left in their directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from larm.config import Config, load
from larm.engine.ending import Ending
from larm.engine.figures.snapshot import Snapshot
from larm.index import fields, schema
from larm.index.duplicates.row import decode_row
from larm.kit.disk.table import Table
from larm.ops.observers import build_crawl
from larm.seams import Filter
from larm.store.body_frames import read_frame, room_at
from larm.store.page_file import PLAIN, page_file
from larm.store.reader import StoreLog
from larm.store.store_log import StoreEntry
from larm.testing.request_log import Request, RequestLog
from larm.testing.web import SyntheticWeb
from tests.support.bad_replies import stall
from tests.support.random_web import RandomWeb

ALL_HOSTS = {"crawl.restrict_to": r"http://h\d\d\.localhost:\d+/.*"}
"""The scope of a crawl of a RandomWeb."""
SILENCE = replace(stall(), status=0)
"""Not a byte, for ever."""


class Run(NamedTuple):
    """One run that has ended."""

    ending: Ending
    last: Snapshot
    notes: list[str]
    own: Sequence[Filter]
    """The user's filters."""

    @property
    def counters(self) -> dict[str, int]:
        return self.last.counters

    @property
    def reason(self) -> str:
        return self.ending.reason


def config_of(starts: str | Iterable[str], settings: Mapping[str, object] | None = None) -> Config:
    """Delay 0 and short waits, so that a story takes a moment; ``settings``: dotted keys."""
    quick: dict[str, object] = {
        "crawl.start": [starts] if isinstance(starts, str) else list(starts),
        "agent.contact": "mailto:tests@example.org",
        "frontier.delay": 0,
        "frontier.retry_wait": "20ms",
        "frontier.backoff": "20ms",
        "fetch.threads": 2,
        "fetch.ip": "4",
    }
    return load(None, (), quick | dict(settings or {}))


def run_crawl(directory: Path, starts: str | Iterable[str], settings: Mapping[str, object] | None = None, **how: bool) -> Run:
    """Crawl to the end, in this process; ``how``: as `build_crawl` has it."""
    crawl = build_crawl(config_of(starts, settings), directory, **how)
    ending = crawl.run()
    return Run(ending, crawl.snapshot(), crawl.notes, crawl.own_filters)


# -- what is on the disk


def rows(directory: Path) -> list[StoreEntry]:
    """store.log."""
    return list(StoreLog(directory))


def stored(directory: Path) -> Counter[str]:
    """How often each URL is in store.log."""
    return Counter(row.url for row in rows(directory))


def indexed(directory: Path) -> Counter[str]:
    """How often each URL is in the index, itself or as the alias of another."""
    index = schema.open_index(directory / "index")
    index.reload()
    searcher = index.searcher()
    if not searcher.num_docs:
        return aliases(directory)
    hits = searcher.search(tantivy.Query.all_query(), limit=searcher.num_docs).hits
    return Counter(str(searcher.doc(address).get_first(fields.URL)) for _, address in hits) + aliases(directory)


def aliases(directory: Path) -> Counter[str]:
    """URLs of which the index has another with the same text."""
    path = directory / "cachingqueue" / "aliases.db"
    if not path.exists():
        return Counter()
    with closing(Table(path, read_only=True)) as table:
        followers = [each for lead in table.parents(limit=100_000) for each in table.children(lead, limit=100_000)]
    return Counter(decode_row(each.data).access for each in followers)


def lines(directory: Path, name: str) -> list[str]:
    """A log, without line ends; [] where there is none. Every line of it is whole."""
    path = directory / "logs" / f"{name}.log"
    text = path.read_bytes().decode() if path.exists() else ""
    assert text == "" or text.endswith("\n"), f"{path} ends within a line"
    return text.split("\n")[:-1]


def check_stored(directory: Path, web: SyntheticWeb, *, pages: Iterable[str] | None = None) -> None:
    """The web's 200 answers, store.log, the page files and the index tell the same story, each page once.

    ``pages``: instead of the 200 answers, as ``host/path``.
    """
    keys = set(web.fetched()) if pages is None else pages
    urls = Counter(f"http://{key.replace('/', f':{web.port}/', 1)}" for key in keys)
    found = rows(directory)
    assert Counter(row.url for row in found) == urls
    assert indexed(directory) == urls
    check_page_files(directory, found)


def check_page_files(directory: Path, found: Iterable[StoreEntry]) -> None:
    """Bodies follow each other, in the order in which they were written, with no gap and no overlap, up to the end."""
    log, logs = StoreLog(directory), directory / "logs"
    ends: dict[Path, int] = {}
    frames: dict[tuple[Path, int], int] = {}
    for row in found:
        if not row.size:
            continue
        assert len(log.body(row)) == row.size
        path = page_file(logs, row.file, packed=row.place != PLAIN)
        if row.place == PLAIN:
            assert row.offset == ends.get(path, 0), f"{row.url}: a gap or an overlap in {path}"
            ends[path] = row.offset + row.size
            continue
        if (path, row.offset) not in frames:
            assert row.offset == ends.get(path, 0), f"{row.url}: a gap or an overlap in {path}"
            with path.open("rb") as file:
                size = read_frame(file, row.offset, path)[1]
                ends[path] = row.offset + size + room_at(file, row.offset + size)
        assert row.place == frames.get((path, row.offset), 0), f"{row.url}: a gap or an overlap in a frame of {path}"
        frames[path, row.offset] = row.place + row.size
    for (path, offset), size in frames.items():
        with path.open("rb") as file:
            assert len(read_frame(file, offset, path)[0]) == size
    files = {path: path.stat().st_size for path in logs.glob("pagefile_*")}
    assert {path: size for path, size in files.items() if size} == ends


# -- what the web saw


class WatchedLog(RequestLog):
    """Does something when the n-th request comes in, before it is answered; on the server's thread."""

    def __init__(self) -> None:
        super().__init__()
        self._plans: list[tuple[Callable[[Request], bool], Callable[[], Any]]] = []

    def at(self, count: int, action: Callable[[], Any]) -> None:
        """When so many requests have come, robots.txt included."""
        self.when(lambda _: len(self) >= count, action)

    def when(self, condition: Callable[[Request], bool], action: Callable[[], Any]) -> None:
        """At the first request for which ``condition`` holds."""
        self._plans.append((condition, action))

    def append(self, request: Request) -> None:
        super().append(request)
        due = [plan for plan in self._plans if plan[0](request)]
        for plan in due:
            self._plans.remove(plan)
            plan[1]()


def watch(web: SyntheticWeb) -> WatchedLog:
    """Give the web a log that can be waited for; before the first request."""
    web.log = log = WatchedLog()
    return log


def asked(web: SyntheticWeb, *, robots: bool = False) -> Counter[str]:
    """How often each ``host/path`` was asked for, whatever the answer."""
    return Counter(request.key for request in web.requests if robots or request.path != "/robots.txt")


def once(*keys: str) -> Counter[str]:
    """Each of them once."""
    return Counter(keys)


# -- crawls that were interrupted


def reference_links(web: RandomWeb, directory: Path) -> list[str]:
    """The lines of links.log that a crawl without interruption writes, sorted; the web's log is cleared afterwards."""
    run_crawl(directory, web.start_urls, ALL_HOSTS)
    web.log.clear()
    return sorted(lines(directory, "links"))


def check_complete(directory: Path, web: RandomWeb, links: Sequence[str]) -> None:
    """All pages and all links are there, each once, however often the crawl was interrupted."""
    check_stored(directory, web, pages=web.expected())
    assert sorted(lines(directory, "links")) == links
