"""Service: a node on real wires, for ``larm serve --network``. Made on the main thread; its threads end with the process.

``larm-network`` keeps up the acquaintance with others, ``larm-network-share`` makes items of new pages and brings all items to
their owners, ``larm-network-samples`` compares pages of others with their sites. Where they are wanted, ``larm-network-jobs``
crawls for others, and ``larm-proxy`` is a browser's proxy. If one of them fails, as on a broken disk, that is reported, and the
peer keeps quiet from then on; the server goes on.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple

from larm.config import Config, NetworkSettings, SearchSettings
from larm.errors import StorageError
from larm.fetch.http_client import HttpClient
from larm.kit.clock import SystemClock
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.threads.ticker import Ticker
from larm.kit.threads.workers import Workers
from larm.peers.addresses import host_of, kinds_of
from larm.peers.channel import Channel
from larm.peers.door import Door
from larm.peers.identity import Identity, is_signed
from larm.peers.stranger_fetch import StrangerFetch
from larm.peers.yacy.asking import NetworkSearcher
from larm.peers.yacy.crawl_jobs import CrawlJobs
from larm.peers.yacy.desk import Desk
from larm.peers.yacy.greeting import Greeting
from larm.peers.yacy.learned import Learned
from larm.peers.yacy.library import Library, Vocabulary
from larm.peers.yacy.node import Node
from larm.peers.yacy.order_book import OrderBook, OrderDesk
from larm.peers.yacy.page import TEXT
from larm.peers.yacy.profile import Mode, Profile, birth_of, pin_of
from larm.peers.yacy.proxy import Proxy
from larm.peers.yacy.publishing import Publishing
from larm.peers.yacy.samples import Samples
from larm.peers.yacy.seed_lists import Principal, SeedLists
from larm.peers.yacy.shelf import Shelf
from larm.peers.yacy.spreading import Spreading
from larm.peers.yacy.state import State, state_of
from larm.peers.yacy.text_lists import TextLists
from larm.peers.yacy.together import together
from larm.peers.yacy.trust import Trust, Vote
from larm.seams import Searcher

_TICK = 1.0
REDUNDANCY = 3
"""Number of peers that keep an item (YACY-27): two may be lost at once."""
PING = 30.0
"""Seconds between two pings (YACY-21). A repair begins when a ping finds nobody."""


class Crawls(NamedTuple):
    """The means of a peer to crawl."""

    settings: Config
    """Settings with its pace and contact."""
    run: Callable[[Path], None]
    """Begins the crawl of a directory. Raises UsageError, StorageError."""


class Service:
    """A peer of one network; ``folder`` has its key, hash and shelf."""

    def __init__(
        self,
        folder: Path,
        settings: NetworkSettings,
        search: SearchSettings,
        directories: Callable[[], Sequence[Path]],
        *,
        address: tuple[str, int],
        say: Callable[[str], object],
        certificate: Path | None = None,
        private: bool = False,
        crawls: Crawls | None = None,
    ) -> None:
        """``address``: where the server listens; ``certificate``: a PEM file, by which it answers over TLS.

        ``private``: pages of private addresses are shared, too.

        Raises StorageError, UsageError.
        """
        # constant after construction
        clock, random = SystemClock(), SystemRandom()
        host, port = address
        anywhere = host in {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not listened at
        identity = Identity.opened(folder / "key")
        http = HttpClient("" if anywhere else host)
        self._settings = settings
        self._say = say
        texts = TextLists(http, say)
        lists = SeedLists(settings.bootstrap, texts).load
        birth = birth_of(folder / "peer.json", identity, lists, random, int(clock.wall()))
        vocabulary = Vocabulary(settings.stop_words)
        profile = Profile(
            hash=birth.hash, born=birth.born, network=settings.name, ip="" if anywhere else host, port=port,
            pin=pin_of(certificate),
            mode=Mode(settings.mode), tags=settings.tags, cluster=settings.members, redundancy=REDUNDANCY,
            ping=PING, young=float(settings.young),
            kinds=kinds_of(["" if anywhere else host, *map(host_of, settings.bootstrap)]),
            crawls=bool(settings.crawl_for_others), publishes=bool(settings.publish),
        )  # fmt: skip
        self.trust = Trust(folder / "trust.json")
        self.orders = OrderBook(folder / "orders.db")
        self.trust.configure(settings.denied)
        shelf = Shelf(folder / "shelf.db", settings.quota, is_signed, float(settings.young))
        searching = HttpClient("" if anywhere else host)  # connections on which no key of this peer was ever seen
        self.node = Node(
            profile, identity, is_signed, shelf, asker=Channel(identity, http, clock),
            private_asker=Channel(identity, searching, clock, private=True), clock=clock, random=random,
            together=together, trust=self.trust, orders=lambda: self.orders.open,
        )  # fmt: skip
        self.greeting = Greeting(self.node, lists, texts.lines)
        sampling = StrangerFetch(HttpClient("" if anywhere else host), clock, profile.kinds)
        self._samples = Samples(self.node, sampling, vocabulary.words, say)
        desk = Desk(self.node, self.greeting)
        questions = [*desk.questions, *OrderDesk(self.node, desk, self.orders).questions]
        self.door = Door(identity, questions, clock, denied=self.trust)
        self._learned = Learned(
            folder / "learned", search, settings.learn, self.trust, shows=self.node.shows, name=settings.name
        )
        self.searcher = NetworkSearcher(
            self.node,
            desk,
            is_signed,
            understand=vocabulary.understand,
            learned=self._learned,
            clock=clock,
        )
        self._library = Library(directories, private=private)
        self._publishing = Publishing(
            shelf, self.node.lock, identity, words=vocabulary.words, stems=vocabulary.stems, is_common=vocabulary.is_common
        )
        self._spreading = Spreading(self.node, self.greeting)
        self._principal = Principal(self.node, Path(settings.publish)) if settings.publish else None
        self.jobs = None
        if crawls is not None and (settings.crawl_for_others or settings.proxy):
            self.jobs = CrawlJobs(folder, self.node, *crawls, say)
        self.proxy = None
        if self.jobs is not None and settings.proxy:
            self.proxy = Proxy(settings.proxy, self.jobs.seen, queries=settings.proxy_queries, private=private)
        self._tickers: list[Ticker] = []
        self._workers = Workers(self._died)
        self._failed = False

    def start(self) -> None:
        """Start the threads."""
        self._say(f"network {self.node.network}: this peer is {self.node.hash}")
        self._start("larm-network", self._tick)
        self._start("larm-network-share", self.share)
        self._start("larm-network-samples", self._samples.tick)
        if self.jobs is not None:
            self._start("larm-network-jobs", self.jobs.tick)
        if self.proxy is not None:
            self._say(
                f"network {self.node.network}: http://127.0.0.1:{self.proxy.port}/ is the proxy for plain HTTP and for https"
            )
            self._workers.start("larm-proxy", self.proxy.run)

    def stop(self) -> None:
        """End the threads after their present step. Written data is safe at any moment."""
        for each in self._tickers:
            each.stop()

    @property
    def searchers(self) -> Sequence[Searcher]:
        """The network, and the documents that it has brought before."""
        return [self.searcher, self._learned.searcher] if self._settings.learn else [self.searcher]

    @property
    def learned(self) -> int:
        """Number of kept pages that searches have brought."""
        return self._learned.pages

    # -- for the page of `larm serve`, on any thread

    def state(self) -> State:
        """Return the state of now."""
        return state_of(self.node, self.greeting.refusal, self._settings.quota)

    def vote(self, key: str, vote: Vote) -> None:
        """Save the user's vote on a peer. The items of a denied peer are dropped at once. Raises StorageError."""
        if key != self.node.key:
            self.trust.vote(key, vote)
            if vote is Vote.TRUSTED:
                with self.node.lock:
                    self.node.shelf.authors.acquit(key)
            self.greeting.denying.drop()

    def follow(self, key: str, *, follow: bool) -> None:
        """Follow the deny list of another peer, or stop following it. Raises StorageError."""
        self.trust.follow(key, follow=follow)
        self.greeting.denying.hear()

    def forget(self) -> None:
        """Drop the documents that searches have brought."""
        self._learned.forget()

    def order(self, url: str, depth: int) -> bool:
        """Order a crawl by others. Return False for an invalid address. Raises StorageError."""
        return self.orders.add(url.strip(), depth, self.node.now())

    def hide(self, *, hidden: bool) -> None:
        """Enter or leave stealth mode: no dealings with other peers (YACY-50)."""
        if not self._failed:
            self.node.stealthy = hidden

    def _start(self, thread: str, tick: Callable[[], None]) -> None:
        """Start a thread that does this each second."""
        ticker = Ticker(_TICK)
        self._tickers.append(ticker)

        def run() -> None:
            while ticker.wait():
                tick()

        self._workers.start(thread, run)

    def _tick(self) -> None:
        self.greeting.tick()
        if self._principal is not None:
            self._principal.tick()

    def share(self) -> None:
        """Publish what is due, and do the next transfers."""
        if not self.node.stealthy and self._library.is_due(self.node.now()):
            self._publish()
        self._spreading.tick()
        self._learned.tick(self.node.now())

    def _publish(self) -> None:
        shelved = self._library.shelved(self.node.now())
        done = self._publishing.publish(shelved.sources, len(self.node.ring()), self.node.now())
        why = "left out, as strangers could not have had them ('larm search open:no', 'open:private')"
        left = f"; {shelved.left_out:,} are {why}" if shelved.left_out else ""
        left += f"; of {done.truncated:,} others find the first {TEXT:,} characters" if done.truncated else ""
        self._say(
            f"network {self.node.network}: {done.pages:,} pages are shared: {done.new:,} new items, {done.renewed:,} renewed, "
            f"{done.withdrawn:,} withdrawn{left}"
        )
        self._spreading.hurry()

    def _died(self, thread: str, error: BaseException) -> None:
        self.node.stealthy = self._failed = True
        self._say(f"{thread} has failed: {error}; this peer keeps quiet until larm serve is started again")


def folder_of(base: Path, name: str) -> Path:
    """Return the folder of a network's files, below a served directory. Raises StorageError."""
    folder = base / "network" / name
    with disk_failures(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise StorageError(f"{folder}: can't be written to; choose another folder with --network-dir")
    return folder
