"""Turns: where each host stands, the totals of all hosts, and the wake-up of fetchers when these change.

Used by leases (`larm.frontier.queues`), robots.txt (`larm.frontier.robots.desk`), changes from outside
(`larm.frontier.changes`) and the start of a run (`larm.frontier.resumption`), on any thread. A caller that has changed a host
under the lock of the `HostBook` says so here before it releases the lock, and calls `announce` afterwards. No call costs more
in a larger crawl.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from larm.config import FrontierSettings
from larm.frontier.host import NEVER, Host
from larm.frontier.hosts import HostBook
from larm.frontier.places import Places
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.threads.tally import Tally
from larm.seams import Clock, CrawlOrder


class Figures(NamedTuple):
    """Hosts by what they wait for."""

    hosts: int
    ready: int
    waiting: int
    """For their next time."""
    blocked: int
    """Asked to be left alone (429, 503)."""
    given_up: int
    shut: int
    """Blocked by somebody (`larm.frontier.changes.HostChanges.block`)."""
    uncounted: int
    """URLs that wait at hosts that were given up, or are blocked."""
    in_flight: int
    in_line: int
    """Of those that wait, for other hosts of their address."""
    slowed: int
    """Asked less often, as they answer nearly nothing but errors."""
    next_in: float
    """Seconds until the next one may be asked; 0: one may, or none will."""


class Sums(NamedTuple):
    """What a host adds."""

    counted: int = 0
    """Messages that keep the crawl going."""
    uncounted: int = 0
    queued: int = 0
    given_up: bool = False
    blocked: bool = False
    shut: bool = False


def sums_of(host: Host) -> Sums:
    """As it is now."""
    waiting, counts = host.waiting, host.counts
    return Sums(waiting * counts, waiting * (not counts), len(host.queue), host.dormant, host.backoffs > 0, host.blocked)


class Totals(msgspec.Struct, array_like=True):
    """The totals of one crawl. Guarded by the lock of the `HostBook`."""

    queued: int = 0
    uncounted: int = 0
    blocked: int = 0
    given_up: int = 0
    shut: int = 0
    slowed: set[str] = set()
    in_flight: int = 0
    put_off: int = 0
    """Leases (`larm.frontier.queues.HostQueues.put_off`)."""

    def settle(self, before: Sums, after: Sums) -> int:
        """A host was changed; by how many messages the tally has to rise, or to fall, as a negative number."""
        self.uncounted += after.uncounted - before.uncounted
        self.queued += after.queued - before.queued
        self.given_up += after.given_up - before.given_up
        self.blocked += after.blocked - before.blocked
        self.shut += after.shut - before.shut
        return after.counted - before.counted

    def __repr__(self) -> str:
        return f"<Totals: {self.queued} queued, {self.in_flight} in flight, {self.uncounted} that do not count>"


class Turns:
    """Of all hosts of one crawl. A host stands in one place (`larm.frontier.places`), or nowhere: it has nothing to do, is at
    its limit of requests, given up, or blocked."""

    def __init__(
        self,
        book: HostBook,
        settings: FrontierSettings,
        clock: Clock,
        tally: Tally,
        on_ready: Callable[[], None],
        *,
        on_rest: Callable[[Sequence[str]], None] = lambda _: None,
        on_served: Callable[[str], None] = lambda _: None,
        order: CrawlOrder | None = None,
        addresses: SharedAddresses | None = None,
    ) -> None:
        """All three are called without the lock. ``on_ready``: a host became ready, or will be. ``on_rest``: hosts have nothing
        else to do than to decide what they hold back. ``on_served``: a host came into the memory with URLs to be judged.
        """
        # constant after construction
        self.book = book
        self.clock = clock
        self.tally = tally
        self.addresses = addresses or SharedAddresses(clock, settings)
        self.ordered = order is not None
        self._on_ready = on_ready
        self._on_rest = on_rest
        self._on_served = on_served
        # guarded by book.lock; replaced as a whole, so that one look needs no lock
        self.settings = settings
        # guarded by book.lock
        self.places = Places(fair=order is not None and order.fair)
        self.totals = Totals()
        self.news = False
        """A fetcher has to be woken."""
        self._at_rest: list[str] = []

    def schedule_locked(self, host: Host) -> None:
        """The host has something new to do, and its record is another one."""
        self.book.changed_locked(host)
        self.place_locked(host, self.clock.monotonic())

    def place_locked(self, host: Host, now: float, *, quiet: bool = False) -> None:
        """Put the host where it belongs, unless it stands there, or earlier, or has nothing to do, or is at its limit.

        ``quiet``: nobody needs to be woken because it is ready.
        """
        at = host.ready_at()
        if at == NEVER and host.undecided:
            self._at_rest.append(host.key)
        if at == NEVER or self.places.stands_at(host.key, at) or host.is_full(self.settings):
            if self.ordered:
                self.places.move_up(host.key, host.band)
        elif at <= now:
            self.places.ready(host.key, host.band)
            self.news |= not quiet
        else:  # who waits for the next host waits too long now
            self.news |= self.places.wait(host.key, at, host.band)

    def wake_due_locked(self, now: float) -> None:
        """Hosts whose time has come, or whose turn it is among those of their address, may be asked."""
        self.places.wake_due(now)
        for key in self.addresses.due():
            if self.places.is_in_line(key):
                self.places.ready(key, self.book.get_locked(key).band if self.ordered else 0)
            else:  # it has gone to another crawl
                self.addresses.after(key)

    def settle_locked(self, before: Sums, after: Sums) -> int:
        """A host was changed; by how many messages the tally has to fall afterwards, without the lock."""
        more = self.totals.settle(before, after)
        if more > 0:
            self.tally.rise(more)
        return max(-more, 0)

    def note_slowed_locked(self, host: Host) -> None:
        """Whether it is asked less often may have changed."""
        (self.totals.slowed.add if host.is_slowed() else self.totals.slowed.discard)(host.key)

    def announce(self) -> None:
        """Wake a fetcher if a host is ready, or will be sooner than it knows; called without the lock."""
        if self._at_rest:
            with self.book.lock:
                keys, self._at_rest = self._at_rest, []
            self._on_rest(keys)
        for key in self.book.served():
            self._on_served(key)
        if self.news:  # a stale look costs a needless wake-up: who sets it looks here afterwards
            self.news = False
            self._on_ready()

    def change(self, settings: FrontierSettings) -> None:
        """Other delays, another number of requests at a time. A host that has been told its next time keeps that one."""
        with self.book.lock:
            self.settings = settings
            self.addresses.change(settings)
            self.news |= self.addresses.in_line > 0
        self.announce()

    def figures(self) -> Figures:
        """For the monitor; costs nothing that grows with the crawl."""
        with self.book.lock:
            next_in = self.places.next_time() - self.clock.monotonic()
            due = int(next_in <= 0)  # the next tells enough
            return Figures(
                hosts=len(self.book),
                ready=self.places.in_ring + due,
                waiting=self.places.on_heap - due + self.addresses.in_line,
                blocked=self.totals.blocked,
                given_up=self.totals.given_up,
                shut=self.totals.shut,
                slowed=len(self.totals.slowed),
                uncounted=self.totals.uncounted,
                in_flight=self.totals.in_flight,
                in_line=self.addresses.in_line,
                next_in=next_in if 0 < next_in < NEVER else 0.0,
            )

    def __repr__(self) -> str:
        return f"<Turns: {self.places}, {self.totals}>"
