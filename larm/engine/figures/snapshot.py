"""Snapshot: every figure of a running crawl at one moment (LARM-78, LARM-112). Plain values, no behaviour but sums.

Made by `larm.engine.probe` on whatever thread asks (the tick thread, the main thread), read by the reporter, the display and
``larm stats``. All immutable, and every field has a default: a part that does not count something leaves it at 0.
"""

import msgspec

from larm.model.left import HostLeft


class ThreadFigures(msgspec.Struct, frozen=True, gc=False):
    """One crawling thread, readable without stopping it (LARM-20)."""

    name: str
    state: str = "idle"
    """One of LARM-20: idle, getting, scanning, storing, ..."""
    since: float = 0.0
    """Seconds in that state."""
    info: str = ""
    """What it is busy with, one line."""
    received: int = 0
    """Body bytes."""
    tasks: int = 0
    """Fetches that have ended."""


class Stalled(msgspec.Struct, frozen=True, gc=False):
    """A thread that has something to do and makes no progress."""

    thread: str
    doing: str
    seconds: float
    """For so long."""


class StorageFigures(msgspec.Struct, frozen=True, gc=False):
    """The queue in front of one storage."""

    name: str
    queued: int = 0
    """Bytes that wait, as `Visit.cost` counts them."""
    limit: int = 0
    """Bytes at which the fetchers have to wait."""


class AgentLine(msgspec.Struct, frozen=True):
    """An agent of a crawl that several do."""

    name: str
    address: str
    weight: float
    state: str
    """working, paused, silent (nothing is sent to it), stopped, leaving, waiting (to be let in), or gone."""
    silent: float
    """Seconds since it was heard; less than 0: never."""
    waits: int
    """URLs that wait for it here."""
    pages: int = 0
    """It has stored, as it said last."""
    queued: int = 0
    """URLs that wait at it."""
    serve: str = ""
    """Where its ``larm serve`` is."""
    directory: str = ""
    """Of its crawl, on its machine."""
    work: dict[str, int] = {}
    """Fetches of its run, by thread."""
    age: float = -1.0
    """Age of its figures in seconds; less than 0: they are its last ones, or of now."""


class ClusterFigures(msgspec.Struct, frozen=True, gc=False):
    """Of all agents of a crawl that several do, as one of them knows them (UBI-22)."""

    agents: int
    working: int
    """Of these, those that are heard."""
    paused: int
    pages: int
    """Stored by all, in all runs."""
    waiting: int
    """URLs that are not done, and wait at their agents."""
    coverage: float
    """Of the URLs that belong to the crawl, as far as they were found, the share that is done with."""
    overlap: float
    """Pages that were fetched once too often, by all pages; from samples."""
    sent_per_page: float
    """URLs of other agents' hosts that a page had, and that were sent there."""
    holds: str = ""
    """Why this agent asks nobody for anything, where that is for the others; a phrase."""
    recovered: int = 0
    """Pages that were not fetched again, as an agent had them (UBI-21)."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The figures of a crawl. Counts are of this run where nothing else is said."""

    elapsed: float = 0.0
    """Seconds since this run began."""
    idle: bool = False
    """Nothing keeps it going: what waits, waits at hosts that were given up or are blocked."""
    paused: bool = False
    """Nothing is asked for, as somebody wants it so."""
    pages: int = 0
    """That the crawl of this directory has, of all runs."""
    pages_run: int = 0
    """Documents stored in this run."""
    requests: int = 0
    """Requests sent, robots.txt included."""
    received: int = 0
    """Body bytes received, as they came over the wire."""

    incoming: int = 0
    """Messages that wait for the handler."""
    handler_busy: bool = False
    """The handler has a batch in hand."""
    held_up: bool = False
    """Nothing is asked for until the handler has looked at some of what waits for it."""
    filtered: dict[str, int] = {}
    """Messages dropped, by the name of the filter."""
    visited: int = 0
    """Entries of the visited set."""
    visited_bytes: int = 0
    """Bytes that the visited set takes."""

    waiting: int = 0
    """URLs in the queues of the hosts, and pages that wait for another process to read them."""
    in_flight: int = 0
    """Requests in the air."""
    transfers: int = 0
    """Requests that can be in the air at a time."""
    look_ups: int = 0
    """Names that DNS is asked for; their requests are in the air as well, and take no place of others."""
    look_ups_waiting: int = 0
    """Names that wait for that, as there are so many."""
    hosts_known: int = 0
    hosts_queued: int = 0
    """Hosts with URLs in their queue; each is in one of the next three, or has all its requests in the air."""
    hosts_ready: int = 0
    """Could send a request now."""
    hosts_waiting: int = 0
    """Inside their delay (politeness)."""
    hosts_in_line: int = 0
    """Of these, for other hosts of the same IP address."""
    hosts_blocked: int = 0
    """Left alone for a while: they answered 429 or 503, or failed."""
    hosts_given_up: int = 0
    """Hosts that did not answer any more."""
    hosts_shut: int = 0
    """Blocked by somebody: ``larm ctl block``."""
    next_in: float = 0.0
    """Seconds until the next host may be asked; 0: one may, or none will."""
    hosts_slowed: int = 0
    """Asked less often, as they answer nearly nothing but errors."""
    held_back: int = 0
    """URLs that are not asked for, as their hosts seem to go on without end."""
    left: tuple[HostLeft, ...] = ()
    """The hosts that hold back most of them."""
    growing: tuple[str, ...] = ()
    """Start hosts that have brought very many pages, and grow as fast as ever."""
    errors: int = 0
    """Fetches that failed, and answers of 400 and more."""

    storages: tuple[StorageFigures, ...] = ()
    threads: tuple[ThreadFigures, ...] = ()
    stalled: tuple[Stalled, ...] = ()
    """Threads that have something to do and make no progress; `larm.engine.watchdog`."""
    cpu: dict[str, float] = {}
    """Seconds of processor time by stage of the river; ``other`` is the rest of the process: libraries' own threads."""
    checkpoint_seconds: float = 0.0
    """What the last checkpoint took."""
    checkpoint_bytes: int = 0
    """What the last checkpoint wrote."""
    counters: dict[str, int] = {}
    """Anything else, under the names that Scrapy uses: ``downloader/response_status_count/200``."""
    totals: dict[str, int] = {}
    """The same, of all runs of this directory."""
    cluster: ClusterFigures | None = None
    """Of a crawl that several agents do."""

    @property
    def queued(self) -> int:
        """URLs that wait, wherever they are."""
        return self.incoming + self.waiting
