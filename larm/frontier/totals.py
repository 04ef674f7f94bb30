"""Totals: what all hosts come to together. Guarded by the lock of the `HostBook`; costs nothing that grows with the crawl.

Whoever changes a host otherwise than by a lease says what it came to before and after (`Totals.settle`).
"""

from typing import NamedTuple

from larm.frontier.host import Host


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


class Totals:
    """Of one crawl."""

    def __init__(self) -> None:
        self.queued = 0
        self.in_flight = 0
        self.blocked = 0
        self.given_up = 0
        self.shut = 0
        self.slowed = set[str]()
        self.uncounted = 0
        self.put_off = 0
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
