"""The hot path stage by stage: what a page costs, in CPU time.

``python -m benchmarks.hot_path [--set NAME] [--news FOLDER] [--rounds 3]`` crawls sets of pages from a server of its own, and
prints what each stage takes beside its budget (`benchmarks.budget`). The sets: ``manual`` (postgresql-doc-15), ``javadoc``
(openjdk-17-doc), ``large`` (pages of it over 1 MB), and ``news``, saved pages in FOLDER.

``python -m benchmarks.hot_path DIRECTORY [--pages 2000] [--only NAME]`` measures the stages without network and other threads.
DIRECTORY is that of a crawl of yours: its pages are read again from the page files. Each stage gets all pages at once, three
times over; the best of the three is printed, in microseconds a page.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.budget import print_table, site_of
from larm.building.named_parts import storages
from larm.config import Config
from larm.filters.chain import FilterChain
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter
from larm.filters.visited import VisitedFilter
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.garbage import collect_rarely
from larm.kit.logs.log_book import LogBook
from larm.model.document import Document, Visit
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.outcome import Fetched, Timing
from larm.model.url import URLNormalizer
from larm.parse.by_mime import ByMime, processors
from larm.store.reader import StoreLog
from larm.store.store_log import format_links

REPEATS = 3
SETS = ("manual", "javadoc", "large")
"""Sets that need nothing of yours."""
Stage = Callable[[Path], object]


class Material(NamedTuple):
    """Pages, and what larm makes of them."""

    pages: Sequence[tuple[URLMessage, Fetched]]
    documents: Sequence[Document]
    links: Sequence[Sequence[URLMessage]]
    """Of each page."""

    @property
    def visits(self) -> list[Visit]:
        """As the storages get them."""
        return [
            Visit(
                page=message.url.access,
                links=document.links,
                url=message.url,
                status=200,
                headers=fetched.headers,
                body=fetched.body,
                document=document,
            )
            for (message, fetched), document in zip(self.pages, self.documents, strict=True)
        ]


def main() -> None:
    """Measure what the command line asks for."""
    options = _options()
    if options.directory is None:
        for name in options.set or (*SETS, *(["news"] if options.news else [])):
            with tempfile.TemporaryDirectory(prefix="larm-hot-path-") as folder:
                site = site_of(name, options.news, Path(folder))
                for index in (False, True):
                    print_table(name, site, options.rounds, index=index)
        return
    collect_rarely()
    normalizer = URLNormalizer()
    material = _material(options.directory, options.pages, normalizer)
    links = sum(map(len, material.links)) / len(material.pages)
    size = sum(len(fetched.body) for _, fetched in material.pages) / len(material.pages)
    print(f"{len(material.pages)} pages of {size / 1000:.1f} KB and {links:.0f} links on average; microseconds a page:\n")
    for name, stage in _stages(material, normalizer).items():
        if options.only is None or options.only in name:
            print(f"{name:42} {_best(stage) / len(material.pages) * 1e6:9.1f}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hot_path", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, nargs="?", help="of a crawl; default: crawl the sets")
    parser.add_argument("--set", action="append", choices=(*SETS, "news"), help="only this set (may be repeated)")
    parser.add_argument("--news", type=Path, metavar="FOLDER", help="of saved pages, for the set news")
    parser.add_argument("--rounds", type=int, default=3, help="crawls of each set")
    parser.add_argument("--pages", type=int, default=2_000, help="the first so many pages of HTML")
    parser.add_argument("--only", metavar="NAME", help="stages with this in their name")
    return parser.parse_args()


def _material(directory: Path, number: int, normalizer: URLNormalizer) -> Material:
    log = StoreLog(directory)
    entries = islice((entry for entry in log if entry.mime == "text/html" and entry.file), number)
    pages = []
    for entry in entries:
        body = log.body(entry)
        fetched = Fetched(200, {"content-type": "text/html; charset=utf-8"}, body, Timing(0.01, len(body)))
        pages.append((URLMessage(normalizer.parse(entry.url)), fetched))
    read = _processors(normalizer)
    documents = [read.process(message, fetched) for message, fetched in pages]
    links = [
        [URLMessage(link.url, message.url.access) for link in document.links if link.follow]
        for (message, _), document in zip(pages, documents, strict=True)
    ]
    return Material(pages, documents, links)


def _processors(normalizer: URLNormalizer, *, text: bool = True) -> ByMime:
    return processors(LinkMemo(normalizer), Config().processing, text=text)


def _stages(material: Material, normalizer: URLNormalizer) -> dict[str, Stage]:
    hrefs = [message.url.access for links in material.links for message in links]
    visits = material.visits
    return {
        "fetcher: read, with text": lambda _: _read(material, normalizer, text=True),
        "fetcher: read, links alone": lambda _: _read(material, normalizer, text=False),
        "normaliser: plain addresses of its links": lambda _: [normalizer.canonical(href) for href in hrefs],
        "normaliser: the same through the parser": lambda _: [normalizer.join("http://elsewhere/", href) for href in hrefs],
        "handler: filter chain": lambda folder: _filter(material, folder),
        "handler: visited set": lambda folder: _visited(material, folder),
        "queue: put, and take": lambda folder: _queue(material, folder),
        "log: lines of links.log": lambda _: [format_links(visit.page, visit.links) for visit in visits],
        **{f"storage: {name}": _storing(name, visits) for name in ("log", "index", "graph")},
    }


def _best(stage: Stage) -> float:
    """Seconds of processor time of this thread."""
    times = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(prefix="larm-hot-path-") as folder:
            began = time.thread_time()
            stage(Path(folder))
            times.append(time.thread_time() - began)
    return min(times)


def _read(material: Material, normalizer: URLNormalizer, *, text: bool) -> None:
    read = _processors(normalizer, text=text)
    for message, fetched in material.pages:
        read.process(message, fetched)


def _filter(material: Material, folder: Path) -> None:
    seen = DiskSeenSet(folder / "visited.db", 1_000_000)
    logs = LogBook(folder)
    settings = Config().filters
    chain = FilterChain(
        [
            LengthFilter(settings.length.max),
            KnownPathsFilter(settings.known_paths),
            ScopeFilter(r"https?://.*"),
            VisitedFilter(seen),
        ],
        logs.open,
        lambda _name, _n: None,
    )
    for links in material.links:
        chain.run(links)
    logs.close()
    seen.close()


def _visited(material: Material, folder: Path) -> None:
    seen = DiskSeenSet(folder / "visited.db", 1_000_000)
    for links in material.links:
        seen.add_new([message.url.fingerprint for message in links])
    seen.close()


def _queue(material: Material, folder: Path) -> None:
    store = BlockStore(folder / "queue")
    queue = CachingQueue("q", 1_000, store, encode_messages, decode_messages)
    for links in material.links:
        queue.put_many(links)
    while queue:
        queue.take(1_000)
    store.close()


def _storing(name: str, visits: Sequence[Visit]) -> Stage:
    def stage(folder: Path) -> None:
        (folder / "cachingqueue").mkdir()
        [storage] = [each for each in storages(Config(), folder) if each.name == name]
        storage.open(None)
        for begin in range(0, len(visits), 50):
            storage.store(visits[begin : begin + 50])
        storage.commit()
        storage.close()

    return stage


if __name__ == "__main__":
    main()
