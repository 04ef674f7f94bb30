"""HostChanges: what is done to a host from outside, whatever its turn: blocked, frozen, told to rest, altered, forgotten.

Called by who steers the crawl, moves hosts, or hears of them from other crawls, in a step of the gate.
"""

from collections.abc import Callable
from typing import TypeVar

from larm.frontier.guard import Guard
from larm.frontier.host import Host
from larm.frontier.turns import Sums, Turns, sums_of

T = TypeVar("T")


class HostChanges:
    """Each is settled with all counts before the lock is free."""

    def __init__(self, turns: Turns, guard: Guard | None = None) -> None:
        # constant after construction
        self._turns = turns
        self._guard = guard

    def alter(self, key: str, change: Callable[[Host], T]) -> T:
        """``change`` does something to a host, under the lock; returns what it does."""
        turns = self._turns
        with turns.book.lock:
            host = turns.book.get_locked(key)
            before = sums_of(host)
            found = change(host)
            less = turns.settle_locked(before, sums_of(host))
            turns.schedule_locked(host)
        if less:
            turns.tally.fall(less)
        turns.announce()
        return found

    def block(self, key: str) -> None:
        """This host is not asked any more: what waits there stays, and keeps nothing going. What is in the air lands."""
        self.alter(key, lambda host: setattr(host, "blocked", True))

    def unblock(self, key: str) -> None:
        """The inverse of `block`."""
        self.alter(key, lambda host: setattr(host, "blocked", False))

    def back_off(self, key: str, seconds: float) -> None:
        """This host is not asked for so long at least: it has asked another crawl for a rest."""
        until = self._turns.clock.monotonic() + seconds
        self.alter(key, lambda host: setattr(host, "next_start", max(host.next_start, until)))

    def freeze(self, key: str) -> None:
        """This host is not asked till `thaw`; what waits there keeps the crawl going. What is in the air lands."""
        self.alter(key, lambda host: setattr(host, "frozen", True))

    def thaw(self, key: str) -> None:
        """The inverse of `freeze`, also for a host that has come from another crawl."""

        def change(host: Host) -> None:
            host.frozen = False
            if self._guard is not None:
                self._guard.resume_locked(host)

        self.alter(key, change)

    def forget(self, key: str) -> None:
        """A frozen host, of which nothing waits or is in the air any more, is not known any more."""
        turns = self._turns
        with turns.book.lock:
            host = turns.book.find_locked(key)
            if host is None:
                return
            less = turns.settle_locked(sums_of(host), Sums())
            turns.places.remove(key)
            turns.addresses.after(key)
            if self._guard is not None:
                self._guard.left_locked(host)
            turns.book.forget_locked(host)
            turns.totals.slowed.discard(key)
        turns.tally.fall(less)

    def busy(self, key: str) -> bool:
        """Something of this host is in the air, or on its way to the handler."""
        with self._turns.book.lock:
            host = self._turns.book.find_locked(key)
            return host is not None and host.busy
