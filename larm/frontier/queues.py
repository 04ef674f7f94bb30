"""HostQueues: who may be asked next. Leases go round robin over the hosts that are ready (LARM-72, LARM-75).

The only way to a host is `lease`; each lease is given back once, by `release`, `retry` or `give_back`, and the next time of the
host is set before anybody can see the host again (`larm.frontier.turns`). Whether anything may be asked at all is a question
that each lease asks first (`larm.engine.steering`).

Called by the handler thread (`add`) and the fetcher threads (all others); takes the lock of the `HostBook`.
"""

import heapq
import itertools
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from larm.frontier.banded_queue import BandedQueue
from larm.frontier.guard import PASSED_OVER, Guard, pass_over_locked, take_locked
from larm.frontier.host import NEVER, Delayed, Host
from larm.frontier.politeness import NOTHING, Decision, dormancy, errors_after, health_after, next_start
from larm.frontier.request_count import RequestCount, limits_of
from larm.frontier.turns import Turns
from larm.kit.disk.caching_queue import CachingQueue
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Outcome

_LIMITED = "politeness/limit_waits"
"""Counter: leases that were put off as their host has had all requests of its minute or its hour, or all bytes."""
ENOUGH = 256
"""URLs: one for each transfer, as the defaults are."""


Decide = Callable[[Lease, Outcome, Host], Decision]


class Waiting(NamedTuple):
    """A host that nobody may ask for a while."""

    host: str
    seconds: float
    urls: int
    """That wait there."""


class HostQueues:
    """Turns over the host records."""

    def __init__(
        self,
        turns: Turns,
        *,
        guard: Guard | None = None,
        count: Callable[[str, int], object] = lambda _name, _n: None,
    ) -> None:
        """``count``: that of the crawl."""
        # constant after construction
        self._turns = turns
        self._book = turns.book
        self._clock = turns.clock
        self._tally = turns.tally
        self._addresses = turns.addresses
        self._guard = guard
        self._count = count
        self._numbers = itertools.count()
        self.brakes: list[Callable[[], bool]] = []
        """Leases are given while all of them return True. They are called without the lock; when one that returned False would
        return True again, its owner must wake the fetchers. Added to before any other thread runs."""
        self.on_back_off: Callable[[str, float], object] = lambda host, seconds: None  # noqa: ARG005
        """Told, with the lock, of a host that asks for a rest of so many seconds. Replaced before any other thread runs."""
        # guarded by book.lock
        self._places = turns.places
        self._totals = turns.totals

    # -- in

    def add(self, batch: Sequence[URLMessage]) -> None:
        """Queue messages at their hosts, in order. Those of a host that was given up or blocked stop counting for the end."""
        silent = 0
        full: list[tuple[CachingQueue[URLMessage] | BandedQueue, list[int]]] = []
        self._book.warm(message.url.host for message in batch)
        with self._book.lock:
            now = self._clock.monotonic()
            for key, group in groupby(batch, lambda message: message.url.host):
                host = self._book.get_locked(key)
                messages = list(group)
                full.append((host.queue, host.queue.append(messages)))
                self._totals.queued += len(messages)
                silent += 0 if host.counts else len(messages)
                self._book.changed_locked(host)
                self._turns.place_locked(host, now)
            self._totals.uncounted += silent
            self._book.put_locked(len(batch))
        for queue, blocks in full:  # a checkpoint may keep the disk busy: nobody should wait for the lock meanwhile
            queue.write(blocks)
        if silent:
            self._tally.fall(silent)
        self._turns.announce()
        self._book.relieve()

    # -- out

    def lease(self, limit: int) -> list[Lease]:
        """At most ``limit`` leases that may be used at once."""
        if not self._may_lease():
            self._book.relieve()  # it may be for what waits for a checkpoint
            return []
        leases: list[Lease] = []
        refused: list[URLMessage] = []
        with self._book.lock:
            self._turns.wake_due_locked(self._clock.monotonic())
            next_keys = self._places.first(limit)
        self._book.warm(next_keys)
        with self._book.lock:
            now = self._clock.monotonic()
            while self._places.in_ring and len(leases) < limit and len(refused) < PASSED_OVER:
                key = self._places.take()
                host = self._book.get_locked(key)
                if (free_at := host.free_at(self._turns.settings, now)) > now:
                    host.next_start = max(host.next_start, free_at)
                    self._book.changed_locked(host)
                    self._count(_LIMITED, 1)
                if host.ready_at() > now:  # it was put off while it stood in the ring
                    self._turns.place_locked(host, now, quiet=True)
                    self._addresses.after(key)
                    continue
                if self._addresses.wait(key, host.address):
                    self._places.stand_in_line(key)
                    continue
                if host.dormant:
                    self._revive_locked(host)
                if self._guard is not None and self._guard.looks_locked(host):
                    passed = pass_over_locked(self._guard, self._book, host)
                    self._totals.queued -= len(passed)
                    refused += passed
                if host.ready_at() <= now and len(refused) < PASSED_OVER:
                    leases.append(self._lease_locked(host, now))
                self._addresses.after(key)
                self._turns.place_locked(host, now, quiet=True)
            self._turns.news |= (
                self._places.in_ring > 0
            )  # one fetcher is woken at a time; it wakes the next if it leaves something
        if refused and self._guard is not None:
            self._guard.held(refused)
            self._tally.fall(len(refused))
        self._turns.announce()
        self._book.relieve()
        return leases

    def _may_lease(self) -> bool:
        for may_lease in self.brakes:  # noqa: SIM110  a generator takes twice the time
            if not may_lease():
                return False
        return True

    def seconds_to_next(self) -> float:
        """Until a host becomes ready; 0 if one is, `NEVER` if none will by itself, or none may be asked."""
        if not self._may_lease():
            return NEVER
        with self._book.lock:
            if self._places.in_ring:
                return 0.0
            at = min(self._places.next_time(), self._addresses.next_turn())
            return at if at == NEVER else max(at - self._clock.monotonic(), 0.0)

    def enough(self) -> bool:
        """So many URLs wait in the queues that nobody starves for the next few milliseconds."""
        return self._totals.queued >= ENOUGH

    def far_off(self, longest: float) -> list[Waiting]:
        """Where all that is left waits for longer than ``longest`` seconds: those hosts, the next one first.

        Nothing: something can be done sooner, or is under way. Counted: what waits there is all that keeps the crawl going.
        """
        with self._book.lock:
            now = self._clock.monotonic()
            if self._places.in_ring or self._addresses.in_line:
                return []
            times: dict[str, float] = {}
            for at, key in self._places.waiting():
                if self._book.counts_locked(key):
                    if at <= now + longest:
                        return []
                    times[key] = at
        self._book.warm(times)
        with self._book.lock:
            hosts = [host for key in times if (host := self._book.find_locked(key)) is not None]
            found = [Waiting(host.key, times[host.key] - now, host.waiting) for host in hosts]
        if not found or sum(each.urls for each in found) != self._tally.value:
            return []
        return sorted(found, key=lambda each: each.seconds)

    def slowest(self) -> float:
        """Seconds that one host alone takes for what waits there, by its delay or as it backs off: the most of those in memory.

        For the end.
        """
        keys, settings, now = self._book.in_memory(), self._turns.settings, self._clock.monotonic()
        with self._book.lock:
            hosts = [host for key in keys if (host := self._book.peek_locked(key)) is not None and host.counts]
            delays = [host.waiting * max(host.delay(settings), host.crawl_delay) for host in hosts]
            waits = [at - now for host in hosts if (at := host.ready_at()) < NEVER]
            return max([0.0, *delays, *waits])

    # -- back

    def release(self, ended: Sequence[tuple[Lease, Outcome]], decide: Decide) -> list[Decision]:
        """Requests have ended, all or none of them `answered`; ``decide`` says, under the lock, what follows for each."""
        decisions: list[Decision] = []
        hosts: dict[str, Host] = {}
        silent, answered = 0, False
        with self._book.lock:
            now = self._clock.monotonic()
            for lease, outcome in ended:
                host = hosts[lease.host] = self._book.get_locked(lease.host)
                answered = lease.number in host.pending
                host.unread -= answered
                self._end_locked(host, lease, outcome.timing.received)
                same = int(host.backoffs > 0 and lease.number < host.resting)  # the host's request for a rest as that before
                host.backoffs -= same
                decision = decide(lease, outcome, host)
                host.backoffs += same
                if decision.unreachable:
                    host.address = ""  # it may have others
                if decision.retry:
                    again = msgspec.structs.replace(lease.message, tries=lease.message.tries + 1)
                    heapq.heappush(host.delayed, Delayed(now + decision.wait, next(self._numbers), again))
                silent += 0 if answered else self._settle_locked(host, now, outcome.timing.seconds, decision, same)
                decisions.append(decision)
            for host in hosts.values():
                self._turns.place_locked(host, now, quiet=not answered)  # else the caller has a transfer free, and leases next
        if silent:
            self._tally.fall(silent)
        self._turns.announce()
        return decisions

    def answered(self, ended: Sequence[tuple[Lease, Fetched]]) -> None:
        """Pages that are read elsewhere, later: their hosts may be asked again meanwhile. `release` follows for each."""
        with self._book.lock:
            now = self._clock.monotonic()
            for _, group in groupby(ended, lambda each: each[0].host):
                pages = list(group)
                for lease, outcome in pages:
                    host = self._pending_locked(lease, outcome.timing.received)
                host.unread += len(pages)
                good = msgspec.structs.replace(NOTHING, errors=NOTHING.errors * len(pages))
                self._settle_locked(host, now, max(outcome.timing.seconds for _, outcome in pages), good)
                self._turns.place_locked(host, now, quiet=True)
        self._turns.announce()

    def put_off(self, leases: Sequence[Lease]) -> None:
        """Requests that were not sent, and will not be for long: their hosts may be asked for others. `give_back` follows.

        They no longer keep the crawl going; a checkpoint saves them as being in the air.
        """
        with self._book.lock:
            now = self._clock.monotonic()
            for lease in leases:
                self._turns.place_locked(self._pending_locked(lease), now, quiet=True)
            self._totals.put_off += len(leases)
        self._turns.announce()
        self._tally.fall(len(leases))

    def take_up(self, lease: Lease) -> None:
        """The inverse of `put_off`: it is the first of its host again."""
        with self._book.lock:
            self._totals.put_off -= 1
        self._tally.rise(1)
        self.give_back([lease])
        self._turns.announce()

    def give_back(self, leases: Sequence[Lease], *, unsent: bool = False) -> None:
        """Requests that were cut off because the crawl stops: their messages are the first of their hosts again.

        ``unsent``: other hosts of their addresses are being asked (`SharedAddresses.admit`); their own need no rest.
        """
        silent = 0
        with self._book.lock:
            now = self._clock.monotonic()
            for lease in reversed(leases):
                host = self._book.get_locked(lease.host)
                self._end_locked(host, lease)
                if lease.robots:
                    host.robots_tasks.insert(0, lease.message)
                else:
                    host.queue.put_front([lease.message])
                    self._totals.queued += 1
                    silent += not host.counts
                if not unsent:
                    host.next_start = max(host.next_start, now + host.delay(self._turns.settings))
                elif not (host.running or host.backoffs):  # else it is the next time of another request
                    host.next_start = now
                if unsent and host.made is not None:
                    host.made.take_back()
                self._turns.place_locked(host, now)
            self._totals.uncounted += silent
        if silent:
            self._tally.fall(silent)
        if unsent:
            self._turns.announce()

    # -- under the lock

    def _lease_locked(self, host: Host, now: float) -> Lease:
        robots = bool(host.robots_tasks)
        if robots:
            message = host.robots_tasks.pop(0)
        elif host.delayed and host.delayed[0].not_before <= now:
            message = heapq.heappop(host.delayed).message
        else:
            message = take_locked(self._book, host)
            self._totals.queued -= 1
        number = next(self._numbers)
        host.running[number] = (message, robots)
        host.next_start = max(host.next_start, next_start(now, host.delay(self._turns.settings), host.crawl_delay, 0.0, 0.0))
        self._totals.in_flight += 1
        self._addresses.take(number, host.address)
        if any(limits_of(self._turns.settings)):
            host.made = host.made or RequestCount()
            host.made.add(now)
        self._book.changed_locked(host)
        return Lease(number, host.key, message, robots)

    def _pending_locked(self, lease: Lease, received: int = 0) -> Host:
        """The request is over, or will not be sent; the lease is still out."""
        host = self._book.get_locked(lease.host)
        host.pending[lease.number] = host.running.pop(lease.number)
        self._landed_locked(host, lease, received)
        self._book.changed_locked(host)
        return host

    def _landed_locked(self, host: Host, lease: Lease, received: int) -> None:
        self._totals.in_flight -= 1
        if host.made is not None:
            host.made.receive(received)
        address, turn = self._addresses.end(lease.number, received)
        host.address = address or host.address
        self._turns.news |= turn

    def _end_locked(self, host: Host, lease: Lease, received: int = 0) -> None:
        if host.pending.pop(lease.number, None) is None:
            del host.running[lease.number]
            self._landed_locked(host, lease, received)
        self._book.changed_locked(host)

    def _settle_locked(self, host: Host, now: float, seconds: float, decision: Decision, same: int = 0) -> int:
        """Next time and health; returns the messages that stop counting because the host was given up, or is blocked."""
        settings = self._turns.settings
        host.errors = errors_after(host.errors, decision)
        self._turns.note_slowed_locked(host)
        polite = next_start(now, host.delay(settings), host.crawl_delay, settings.delay_factor, seconds)
        if seconds * settings.delay_factor > settings.delay:
            self._addresses.slow(host.address, seconds * settings.delay_factor)
        host.next_start = max(host.next_start, polite, now + decision.host_wait)
        if decision.host_wait:
            self.on_back_off(host.key, decision.host_wait)
        self._totals.blocked += (decision.host_wait > 0) - (host.backoffs > 0)
        host.backoffs = host.backoffs + 1 - same if decision.host_wait > 0 else 0
        if decision.host_wait and not same:
            host.resting = next(self._numbers)
        host.health = health_after(host.health, decision, settings, on_trial=host.dormancies > 0)
        silent = int(decision.retry) if not host.counts else 0  # given up or blocked while this request was in the air
        if not host.dormant and host.health > 0:
            if not decision.host_wait:  # to be asked to come later is no good answer: it stays on trial
                host.dormancies = 0
        elif not host.dormant:
            silent = host.waiting if host.counts else silent
            host.dormant = True
            host.next_start = max(host.next_start, now + dormancy(host.dormancies))
            host.dormancies += 1
            self._totals.given_up += 1
        self._totals.uncounted += silent
        return silent

    def _revive_locked(self, host: Host) -> None:
        """One more chance for a host that was given up (LARM-65): one good answer makes it well again."""
        host.dormant = False
        self._totals.given_up -= 1
        self._totals.uncounted -= host.waiting
        self._tally.rise(host.waiting)
