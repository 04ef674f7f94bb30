"""Orders of a crawl, compared: a page is fetched when it is taken, one at a time, on one host, with queues on the disk."""

from __future__ import annotations

import lzma
import random
import tempfile
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.config import FrontierSettings
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host_budget import ROWS as DOMAINS
from larm.frontier.host_budget import HostBudgetOrder
from larm.frontier.opic import ROWS, OpicOrder
from larm.frontier.page_rank import PageRankOrder
from larm.graph.reader import open_graph
from larm.graph.refresh import Iteration, LinkRows
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.kit.disk.number_table import NumberTable
from larm.model.document import Document, Visit
from larm.model.domain import site_of
from larm.model.links import Link, Links
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.url import Url, URLNormalizer
from larm.seams import CrawlOrder
from larm.store.graph import GraphStorage
from larm.testing.clock import FakeClock

MOMENTS = (0.1, 0.25, 0.5)
SPEED = 100.0
"""Pages a second of the crawl that is played: so often does a graph storage commit."""


class Web(NamedTuple):
    """A graph."""

    name: str
    links: list[list[int]]
    rank: list[float]


def wikispeedia(folder: Path) -> Web:
    """Articles of Wikipedia; the PageRank is computed here."""
    with lzma.open(folder / "webgraph-wikispeedia" / "given" / "links.tsv.xz", "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
    links: list[list[int]] = [[] for _ in numbers]
    for source, target in pairs:
        links[numbers[source]].append(numbers[target])
    return Web("wikispeedia", links, page_rank(links))


def page_rank(links: Sequence[Sequence[int]]) -> list[float]:
    """As the graph storage does it, to the end."""
    pages = [page for page, out in enumerate(links) if out]
    counts = [len(links[page]) for page in pages]
    targets = [target for page in pages for target in links[page]]
    part = LinkRows(*(memoryview(array("I", each)) for each in (pages, counts, targets)))
    iteration = Iteration(len(links), lambda: [part])
    while iteration.moved > 1e-12:
        for _ in iteration.sweep():
            pass
    return iteration.rank.tolist()


def good_seeds(web: Web, count: int) -> list[int]:
    """Pages, by chance, from which at least half of the web is reached."""
    choose, found = random.Random(1), []
    while len(found) < count:
        seed = choose.randrange(len(web.links))
        seen, waiting = {seed}, deque([seed])
        while waiting:
            new = [target for target in web.links[waiting.popleft()] if target not in seen]
            seen.update(new)
            waiting.extend(new)
        if len(seen) > len(web.links) / 2:
            found.append(seed)
    return found


def crawl(web: Web, order: str, seed: int) -> Iterator[int]:
    """Numbers of the pages, as they are fetched."""
    with tempfile.TemporaryDirectory() as folder:
        clock, store = FakeClock(), BlockStore(Path(folder) / "queues")
        graph = GraphStorage(Path(folder), clock) if order == "pagerank" else None
        try:
            yield from _Player(web, store, _order(order, Path(folder), clock), graph, clock).play(seed)
        finally:
            store.close()


def _order(name: str, folder: Path, clock: FakeClock) -> CrawlOrder | None:
    orders: dict[str, Callable[[], CrawlOrder | None]] = {
        "breadth-first": lambda: None,
        "opic": lambda: OpicOrder(NumberTable(None, ROWS), 1),
        "host-budget": lambda: HostBudgetOrder(NumberTable(None, DOMAINS, 3), site_of),
        "pagerank": lambda: PageRankOrder(lambda: open_graph(folder / "graph"), clock),
    }
    return orders[name]()


class _Player:
    """A crawl without network, of one host."""

    def __init__(
        self, web: Web, store: BlockStore, order: CrawlOrder | None, graph: GraphStorage | None, clock: FakeClock
    ) -> None:
        self._web = web
        self._order = order
        self._graph = graph
        self._clock = clock
        size = FrontierSettings().host_block

        def make(band: int, number: int) -> CachingQueue[URLMessage]:
            state: QueueState[URLMessage] = QueueState([], b"", [], number)
            return CachingQueue.restore(state, f"band{band}", size, store, encode_messages, decode_messages)

        self._queue = make(0, 0) if order is None else BandedQueue(make, order)
        self._urls: dict[int, Url] = {}
        self._parse = URLNormalizer().parse

    def play(self, seed: int) -> Iterator[int]:
        """Fetch all that there is."""
        seen, pages, queue = {seed}, 0, self._queue
        if self._graph is not None:
            self._graph.open(None)
        queue.write(queue.append([URLMessage(self._url(seed))]))
        while queue:
            message = queue.take(1)[0]
            page = int(message.url.access.rpartition("/")[2])
            yield page
            pages += 1
            targets = self._web.links[page]
            links: Sequence[URLMessage] = [URLMessage(self._url(target), message.url.access) for target in targets]
            if self._order is not None:
                links = self._order.found(message, links)
            if self._graph is not None:
                self._note(self._graph, message.url, links, pages)
            new = [link for target, link in zip(targets, links, strict=True) if target not in seen and not seen.add(target)]  # type: ignore[func-returns-value]
            queue.write(queue.append(new))
        if self._graph is not None:
            self._graph.close()

    def _note(self, graph: GraphStorage, url: Url, links: Sequence[URLMessage], pages: int) -> None:
        found = Links.of(Link(link.url, 0, "") for link in links)
        graph.store([Visit(url.access, found, url, document=Document("text/html", links=found))])
        if pages % int(SPEED * 5) == 0:
            self._clock.advance(5.0)
            graph.commit()

    def _url(self, number: int) -> Url:
        url = self._urls.get(number)
        if url is None:
            url = self._urls[number] = self._parse(f"http://web.test/{number}")
        return url
