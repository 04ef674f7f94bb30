"""The parts of the river, grouped: as the wiring makes them, and as crawl, unloader, checkpointer and probe take them.

What flows between these groups, and on which thread, says `larm.engine.crawl`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from larm.engine.fetcher_record import FetcherRecord
from larm.engine.figures.reporter import Reporter
from larm.engine.figures.snapshot import Snapshot
from larm.engine.recent import Recent
from larm.engine.starts import StartWatch
from larm.engine.watchdog import Watchdog
from larm.errors import LarmError
from larm.filters.away import AwayHosts
from larm.filters.chain import FilterChain
from larm.filters.spellings import Spellings
from larm.frontier.changes import HostChanges
from larm.frontier.guard import Guard
from larm.frontier.handler import MessageHandler
from larm.frontier.hosts import HostBook
from larm.frontier.queues import HostQueues
from larm.frontier.robots.landing import RobotsLander
from larm.frontier.shared_addresses import SharedAddresses
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.turns import Turns
from larm.kit.counters import Counters
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.thread_cpu import ThreadCpu
from larm.kit.threads.ticker import Ticker
from larm.model.message import URLMessage
from larm.seams import Clock, CrawlOrder

FINISHED = "finished"
"""Rung when nothing is left, and the reason of a run that ends as nothing will come."""


class Shared(NamedTuple):
    """What all threads of a crawl have in common, whatever they do."""

    clock: Clock
    counters: Counters
    gate: Gate
    tally: Tally
    bell: Bell[str | LarmError]
    """Why the crawl shall end."""
    ticker: Ticker
    cpu: ThreadCpu
    addresses: SharedAddresses
    """Which hosts stand in line for each other."""


class Frontier(NamedTuple):
    """The way of a URL from a link to a lease."""

    incoming: CachingQueue[URLMessage]
    seen: DiskSeenSet
    """The visited set."""
    spellings: Spellings | None
    """Of visited pages; None: the visited filter is not in the chain."""
    away: AwayHosts
    """Of the chain: where messages of hosts wait that move."""
    chain: FilterChain
    handler: MessageHandler
    book: HostBook
    turns: Turns
    queues: HostQueues
    order: CrawlOrder | None
    """None: breadth-first."""
    changes: HostChanges
    robots: RobotsLander
    traps: TrapDesk
    guard: Guard
    rules: int = 0
    """See `larm.frontier.resumption.Standing.rules`."""


class Logbook(NamedTuple):
    """Who writes down what became of each fetch."""

    records: Sequence[FetcherRecord]
    """One for each thread that fetches or reads, in the order of their numbers."""
    watch: StartWatch
    recent: Recent


class Door(Protocol):
    """Where a running crawl is talked to: `larm.ops.control.server`."""

    def open(self) -> None:
        """Main thread, before there is any other. Raises StorageError."""

    def run(self) -> None:
        """The body of ``larm-control``, until `stop`."""

    def tell(self, waits: tuple[str, ...]) -> None:
        """The crawl ends, and waits for these."""

    def stop(self) -> None:
        """Returns at once; any thread."""


class Member(Protocol):
    """How a crawl is one of several that do the same one: `larm.cluster.node`."""

    goodbye: float
    """Seconds that `run` may take to end."""

    def run(self) -> None:
        """The body of ``larm-agents``, until `stop`, and until all others know that the crawl is over."""

    def gives_up(self) -> bool:
        """It hangs, and ends: the bell has been rung. Asked about once a second by the main thread, too."""

    def ending(self, reason: str) -> None:
        """The crawl begins to end. Returns at once; main thread."""

    def stop(self) -> None:
        """Returns at once; any thread."""


class Observers(NamedTuple):
    """Who looks at a running crawl, and tells of it."""

    snapshot: Callable[[], Snapshot]
    """All figures of this moment; any thread."""
    reporter: Reporter
    watchdog: Watchdog
    door: Door
    notes: list[str]
    """What a person should know before it starts; at the end there may be more."""
