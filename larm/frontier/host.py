"""Host: everything larm knows of one host (LARM-62): queue, robots.txt, health, and when it may be asked again.

Guarded by the lock of the `HostBook` that holds it. Times are `Clock.monotonic` seconds, except where it says wall time.
"""

from __future__ import annotations

import msgspec

from larm.config import FrontierSettings, Site
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.request_count import RequestCount, limits_of
from larm.frontier.robots.rules import RobotsRules
from larm.frontier.traps.host_traps import HostTraps
from larm.kit.disk.caching_queue import CachingQueue
from larm.model.file_url import FILES
from larm.model.message import URLMessage

NEVER = float("inf")
LONGEST_WAIT = 86_400.0
"""Seconds: the longest back-off from a host, also by its Retry-After."""
ERRORS = 50
"""Errors (400 or more, not 404 and 410) minus other responses beyond which a host is slowed down (YIOOP-6)."""
_ANY = 1_000_000  # there are not so many transfers
_UNREAD = 32
"""Pages of a host that may be a trap that are asked for before the first of them is read: of others there may be 1,500, and
when it is known what they are worth, as many have been asked for in vain. What reads them is given as many at a time."""


class OriginRobots(msgspec.Struct, frozen=True):
    """robots.txt of one scheme of a host: http and https have one each (RFC 9309 2.3)."""

    rules: RobotsRules | None = None
    """None: not known yet."""
    expires: float = 0.0
    """Until when they hold. On disk, wall time."""
    loading: bool = False
    """A task for it waits or runs; messages are parked meanwhile."""
    silent: bool = False
    """Nothing answers there, so the rules of the other scheme hold: that costs its own URLs, and not the whole host."""


class Delayed(msgspec.Struct, frozen=True, order=True):
    """A message that may not be leased before a time: a retry."""

    not_before: float
    number: int
    message: URLMessage = msgspec.field()


class HostState(msgspec.Struct, array_like=True):
    """What a checkpoint, and a move to another crawl, keeps of a host as it is."""

    health: int
    """Falls with time-outs; at 0 the host is given up (LARM-63)."""
    errors: int = 0
    """Errors minus other responses of late (`politeness.Decision.errors`)."""
    backoffs: int = 0
    """Times in a row that the host asked to back off: once for all requests that were in flight when it did."""
    dormant: bool = False
    """Given up: its messages do not keep the crawl going (LARM-65)."""
    dormancies: int = 0
    blocked: bool = False
    """A user wants no requests to it: its messages wait, and do not keep the crawl going either."""
    frozen: bool = False
    """On its way to another crawl, or from one: it gives no leases, but its messages keep the crawl going."""
    address: str = ""
    """IP address of its last connection; empty: there was none, or it is no host of the network."""

    def kept(self) -> HostState:
        """Return a copy of this part alone."""
        return HostState(*msgspec.structs.astuple(self)[: len(HostState.__struct_fields__)])


class Host(HostState, kw_only=True, eq=False):
    """The record of one host. Plain state; what may be done with it stands in `HostQueues` and `RobotsDesk`."""

    key: str
    queue: CachingQueue[URLMessage] | BandedQueue
    """Banded only where the crawl has an order."""
    parked: CachingQueue[URLMessage]
    """Waiting for robots.txt (LARM-53)."""
    robots: dict[str, OriginRobots] = {}
    """By scheme."""
    robots_tasks: list[URLMessage] = []
    """robots.txt to fetch, before anything else."""
    arriving: dict[str, URLMessage] = {}
    """By scheme: the task whose answer is on its way to the handler. Till it is there, a checkpoint knows only the task."""
    delayed: list[Delayed] = []
    """A heap of retries."""
    running: dict[int, tuple[URLMessage, bool]] = {}
    """Requests that are out: number of the lease -> (message, is it for robots.txt)."""
    pending: dict[int, tuple[URLMessage, bool]] = {}
    """Leases that are out without a request: their pages wait to be read, or they for all else to be done."""
    unread: int = 0
    """Of these, so many were answered."""
    next_start: float = 0.0
    """No lease before this time."""
    resting: int = 0
    """Leases with a smaller number were out when it asked last."""
    made: RequestCount | None = None
    """What it had of this minute and this hour; None: nobody limits that, or there was nothing."""
    traps: HostTraps | None = None
    """What its addresses are worth; None: none has come in yet."""
    pace: Site | None = None
    """What config.yaml says of this host."""

    def is_silent(self, address: str) -> bool:
        """Nothing answers at the scheme of this URL, but at the other one."""
        origin = self.robots.get(address.partition(":")[0])
        return origin is not None and origin.silent

    def is_slowed(self) -> bool:
        """There are nearly only errors to be had."""
        return self.errors > ERRORS

    def delay(self, settings: FrontierSettings) -> float:
        """Seconds between two requests, more of them where it is slowed; a disk needs no rest."""
        times = settings.error_delay if self.is_slowed() else 1.0
        if self.pace is not None and self.pace.delay is not None:
            return self.pace.delay * times
        return 0.0 if self.key == FILES else settings.delay * times

    def most_requests(self, settings: FrontierSettings) -> int:
        """At a time. On trial it is one URL (LARM-65); a disk may be asked by all threads."""
        if self.dormancies:
            return 1
        if self.pace is not None and self.pace.per_host is not None:
            return self.pace.per_host
        return _ANY if self.key == FILES else settings.per_host

    def is_full(self, settings: FrontierSettings) -> bool:
        """No more may be asked for before something of it has come back."""
        if self.requests >= self.most_requests(settings):
            return True
        return self.unread >= _UNREAD and self.traps is not None and self.traps.wary

    def free_at(self, settings: FrontierSettings, now: float) -> float:
        """When the next request is within the limits of `limits_of`; ``now``: at once."""
        return now if self.made is None or self.key == FILES else self.made.free_at(limits_of(settings), now)

    @property
    def waiting(self) -> int:
        """Messages that wait here, in whatever way; what is held back as a trap counts as one, while it is to be decided."""
        return len(self.queue) + len(self.parked) + len(self.delayed) + bool(self.traps and self.traps.counted)

    @property
    def counts(self) -> bool:
        """What waits here keeps the crawl going."""
        return not (self.dormant or self.blocked)

    @property
    def undecided(self) -> bool:
        """It has nothing else to do than to find out whether what it holds back is a trap."""
        if self.traps is None or not self.traps.counted or not self.counts or self.frozen:
            return False
        return not (self.waiting > 1 or self.robots_tasks or self.running or self.pending or self.arriving)

    @property
    def band(self) -> int:
        """Where it stands among hosts that are ready; see `larm.frontier.places`."""
        queue = self.queue
        return 0 if self.robots_tasks or not isinstance(queue, BandedQueue) else queue.band

    @property
    def requests(self) -> int:
        """That are out now."""
        return len(self.running)

    @property
    def busy(self) -> bool:
        """Something of it is in the air or on its way to the handler: a record read back would do that again."""
        unjudged = self.parked and not self.robots_tasks
        return bool(self.running or self.pending or self.arriving or unjudged)

    @property
    def in_memory(self) -> int:
        """Messages that its queues hold in memory."""
        held = self.queue.in_memory + self.parked.in_memory  # asked of each host again and again
        return held if self.traps is None else held + sum([queue.in_memory for queue in self.traps.queues()])

    def queues(self) -> list[CachingQueue[URLMessage] | BandedQueue]:
        """All of its queues."""
        return [self.queue, self.parked, *(self.traps.queues() if self.traps is not None else ())]

    @property
    def crawl_delay(self) -> float:
        """Seconds between two requests that its robots.txt asks for, the longer of both schemes'."""
        longest = 0.0
        for each in self.robots.values():  # a loop, as it is asked twice a page: a generator takes four times as long
            if each.rules is not None and each.rules.crawl_delay:
                longest = max(longest, each.rules.crawl_delay)
        return longest

    def ready_at(self) -> float:
        """When the next lease may be given out, as far as this host is concerned; NEVER if there is nothing to lease."""
        if self.blocked or self.frozen:
            return NEVER
        if self.robots_tasks or len(self.queue):
            return self.next_start
        return max(self.next_start, self.delayed[0].not_before) if self.delayed else NEVER

    def __repr__(self) -> str:
        state = (
            "blocked" if self.blocked else "frozen" if self.frozen else "dormant" if self.dormant else f"health {self.health}"
        )
        return f"<Host {self.key}: {len(self.queue)} queued, {len(self.parked)} parked, {len(self.running)} running, {state}>"
