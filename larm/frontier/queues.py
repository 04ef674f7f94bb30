"""HostQueues: who may be asked next. Leases go round robin over the hosts that are ready (LARM-72, LARM-75).

The only way to a host is `lease`; each lease is given back once, by `release`, `retry` or `give_back`, and the next time of the
host is set before anybody can see the host again. A host stands in one of `larm.frontier.places`, or nowhere (nothing to do, at
its limit of requests, given up, or blocked). Whether anything may be asked at all is a question that each lease asks first
(`larm.river.steering`).

Called by the handler thread (`add`), the fetcher threads (all others), and by who steers the crawl or moves hosts (`block`,
`unblock`, `freeze`, `thaw`, `alter`, `forget`, `change`, in a step of the gate), under the lock of the `HostBook`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count, groupby
from typing import NamedTuple, TypeVar

import msgspec

from larm.config import Frontier as Settings
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.guard import PASSED_OVER, Guard, pass_over_locked, take_locked
from larm.frontier.host import NEVER, Delayed, Host
from larm.frontier.hosts import HostBook
from larm.frontier.places import Places
from larm.frontier.politeness import NOTHING, Decision, dormancy, errors_after, health_after, next_start
from larm.frontier.saved_host import LONGEST_WAIT
from larm.frontier.shared_addresses import SharedAddresses
from larm.frontier.standing import Standing
from larm.frontier.totals import Figures, Sums, Totals, sums_of
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.threads.tally import Tally
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.seams import Clock, CrawlOrder

T = TypeVar("T")
_APART = 1e-7
"""Seconds between hosts that are ready at the start, so that their order stays."""
ENOUGH = 256
"""URLs: some four for each transfer, as the defaults are."""


class Waiting(NamedTuple):
    """A host that nobody may ask for a while."""

    host: str
    seconds: float
    urls: int
    """That wait there."""


class HostQueues:
    """Turns over the host records. ``on_ready`` is called, without the lock, when a host became ready, or will be."""

    def __init__(
        self,
        book: HostBook,
        settings: Settings,
        clock: Clock,
        tally: Tally,
        on_ready: Callable[[], None],
        *,
        guard: Guard | None = None,
        on_rest: Callable[[Sequence[str]], None] = lambda _: None,
        on_served: Callable[[str], None] = lambda _: None,
        order: CrawlOrder | None = None,
        may_lease: Callable[[], bool] = lambda: True,
        addresses: SharedAddresses | None = None,
    ) -> None:
        """``may_lease`` is asked before each lease, without the lock. When it says yes again, the fetchers have to be woken.

        ``on_served`` is told, without the lock, of hosts that came into the memory with URLs that have to be judged.
        """
        # constant after construction
        self._book = book
        self._may_lease = may_lease
        self._addresses = addresses or SharedAddresses(clock, settings)
        self._clock = clock
        self._tally = tally
        self._on_ready = on_ready
        self._guard = guard
        self._on_rest = on_rest
        self._on_served = on_served
        """Told, without the lock, of hosts that have nothing else to do than to decide what they hold back."""
        self.on_back_off: Callable[[str, float], object] = lambda host, seconds: None  # noqa: ARG005
        """Told, with the lock, of a host that asks for a rest of so many seconds. Replaced before any other thread runs."""
        self._ordered = order is not None
        self._numbers = count()
        # guarded by book.lock; replaced as a whole, so that one look needs no lock
        self._settings = settings
        # guarded by book.lock
        self._places = Places(fair=order is not None and order.fair)
        self._totals = Totals()
        self._news = False
        self._at_rest: list[str] = []
        self._off = 0  # leases that were put off

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
                self._schedule_locked(host, now)
            self._totals.uncounted += silent
            self._book.put_locked(len(batch))
        for queue, blocks in full:  # a checkpoint may keep the disk busy: nobody should wait for the lock meanwhile
            queue.write(blocks)
        if silent:
            self._tally.fall(silent)
        self.announce()
        self._book.relieve()

    # -- out

    def lease(self, limit: int) -> list[Lease]:
        """At most ``limit`` leases that may be used at once."""
        if not self._may_lease():
            return []
        leases: list[Lease] = []
        refused: list[URLMessage] = []
        with self._book.lock:
            self._wake_due_locked(self._clock.monotonic())
            next_keys = self._places.first(limit)
        self._book.warm(next_keys)
        with self._book.lock:
            now = self._clock.monotonic()
            while self._places.in_ring and len(leases) < limit and len(refused) < PASSED_OVER:
                key = self._places.take()
                host = self._book.get_locked(key)
                if host.ready_at() > now:  # it was put off while it stood in the ring
                    self._schedule_locked(host, now, quiet=True)
                    self._addresses.after(key)
                    continue
                if self._addresses.wait(key, host.address):
                    self._places.stand_in_line(key)
                    continue
                if host.dormant:
                    self._revive_locked(host)
                refused += self._pass_over_locked(host)
                if host.ready_at() <= now and len(refused) < PASSED_OVER:
                    leases.append(self._lease_locked(host, now))
                self._addresses.after(key)
                self._schedule_locked(host, now, quiet=True)
            self._news |= self._places.in_ring > 0  # one fetcher is woken at a time; it wakes the next if it leaves something
        if refused and self._guard is not None:
            self._guard.held(refused)
            self._tally.fall(len(refused))
        self.announce()
        self._book.relieve()
        return leases

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
        found: list[Waiting] = []
        with self._book.lock:
            now = self._clock.monotonic()
            if self._places.in_ring or self._addresses.in_line:
                return []
            for at, key in self._places.waiting():
                host = self._book.get_locked(key)
                if not host.counts:  # it keeps nothing going
                    continue
                if at <= now + longest:
                    return []
                found.append(Waiting(key, at - now, host.waiting))
        if not found or sum(each.urls for each in found) != self._tally.value:
            return []
        return sorted(found, key=lambda each: each.seconds)

    def slowest(self) -> float:
        """Seconds that the delay of one host alone takes for what waits there: the most of those in memory. For the end."""
        keys, settings = self._book.in_memory(), self._settings
        with self._book.lock:
            hosts = [host for key in keys if (host := self._book.peek_locked(key)) is not None and host.counts]
            return max((host.waiting * max(host.delay(settings), host.crawl_delay) for host in hosts), default=0.0)

    # -- back

    def release(self, lease: Lease, seconds: float, decide: Callable[[Host], Decision]) -> Decision:
        """The request has ended, ``seconds`` after it began; ``decide`` says, under the lock, what follows for URL and host."""
        with self._book.lock:
            host = self._book.get_locked(lease.host)
            answered = lease.number in host.pending
            self._end_locked(host, lease)
            now = self._clock.monotonic()
            decision = decide(host)
            if decision.unreachable:
                host.address = ""  # it may have others
            if decision.retry:
                again = msgspec.structs.replace(lease.message, tries=lease.message.tries + 1)
                heapq.heappush(host.delayed, Delayed(now + decision.wait, next(self._numbers), again))
            silent = 0 if answered else self._settle_locked(host, now, seconds, decision)
            self._schedule_locked(host, now, quiet=True)  # the caller has a transfer free, and will lease next
        if silent:
            self._tally.fall(silent)
        self.announce()
        return decision

    def answered(self, ended: Sequence[tuple[Lease, Fetched]]) -> None:
        """Pages that are read elsewhere, later: their hosts may be asked again meanwhile. `release` follows for each."""
        with self._book.lock:
            now = self._clock.monotonic()
            for lease, outcome in ended:
                host = self._pending_locked(lease)
                self._settle_locked(host, now, outcome.timing.seconds, NOTHING)
                self._schedule_locked(host, now, quiet=True)
        self.announce()

    def put_off(self, leases: Sequence[Lease]) -> None:
        """Requests that were not sent, and will not be for long: their hosts may be asked for others. `give_back` follows.

        They no longer keep the crawl going; a checkpoint saves them as being in the air.
        """
        with self._book.lock:
            now = self._clock.monotonic()
            for lease in leases:
                self._schedule_locked(self._pending_locked(lease), now, quiet=True)
            self._off += len(leases)
        self.announce()
        self._tally.fall(len(leases))

    def take_up(self, lease: Lease) -> None:
        """The inverse of `put_off`: it is the first of its host again."""
        with self._book.lock:
            self._off -= 1
        self._tally.rise(1)
        self.give_back([lease])
        self.announce()

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
                    host.next_start = max(host.next_start, now + host.delay(self._settings))
                elif not (host.running or host.backoffs):  # else it is the next time of another request
                    host.next_start = now
                self._schedule_locked(host, now)
            self._totals.uncounted += silent
        if silent:
            self._tally.fall(silent)
        if unsent:
            self.announce()

    # -- steering

    def block(self, key: str) -> None:
        """This host is not asked any more: what waits there stays, and keeps nothing going. What is in the air lands."""
        self.alter(key, lambda host: setattr(host, "blocked", True))

    def unblock(self, key: str) -> None:
        """The inverse of `block`."""
        self.alter(key, lambda host: setattr(host, "blocked", False))

    def alter(self, key: str, change: Callable[[Host], T]) -> T:
        """``change``, under the lock, does something to a host from outside; what that does to all counts is settled here."""
        with self._book.lock:
            host = self._book.get_locked(key)
            before = sums_of(host)
            found = change(host)
            more = self._settle_sums_locked(before, sums_of(host))
            self.schedule_locked(host)
        if more < 0:
            self._tally.fall(-more)
        self.announce()
        return found

    def back_off(self, key: str, seconds: float) -> None:
        """This host is not asked for so long at least: it has asked another crawl for a rest."""

        def change(host: Host) -> None:
            host.next_start = max(host.next_start, self._clock.monotonic() + seconds)
            self._book.changed_locked(host)

        self.alter(key, change)

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
        with self._book.lock:
            host = self._book.find_locked(key)
            if host is None:
                return
            more = self._settle_sums_locked(sums_of(host), Sums())
            self._places.remove(key)
            self._addresses.after(key)
            if self._guard is not None:
                self._guard.left_locked(host)
            self._book.forget_locked(host)
            self._totals.slowed.discard(key)
        self._tally.fall(-more)

    def busy(self, key: str) -> bool:
        """Something of this host is in the air, or on its way to the handler."""
        with self._book.lock:
            host = self._book.find_locked(key)
            return host is not None and host.busy

    def change(self, settings: Settings) -> None:
        """Other delays, another number of requests at a time. A host that has been told its next time keeps that one."""
        with self._book.lock:
            self._settings = settings
            self._addresses.change(settings)
            self._news |= self._addresses.in_line > 0
        self.announce()

    # -- at start

    def load(self, keys: Iterable[str], *, revive: bool = False) -> int:
        """Put all hosts of the last checkpoint in their places; returns the messages that keep the crawl going.

        ``revive``: a revisit begins, and hosts that were given up get another chance.
        """
        waiting = 0
        with self._book.lock:
            now = self._clock.monotonic()
            for host in self._book.load(keys):
                if host.dormant and revive:
                    host.dormant, host.next_start = False, 0.0
                    self._book.changed_locked(host)
                if self._guard is not None:
                    self._guard.resume_locked(host)
                self._schedule_locked(host, now)
                self._totals.blocked += host.backoffs > 0
                self._totals.given_up += host.dormant
                self._totals.shut += host.blocked
                self._note_slowed_locked(host)
                self._totals.queued += len(host.queue)
                self._book.keep_locked(host)
                if host.counts:
                    waiting += host.waiting
                else:
                    self._totals.uncounted += host.waiting
            return waiting + self._book.mail.waiting

    def standing(self, rules: int, waiting: int) -> Standing | None:
        """At the end: where all hosts stand; None where that can't be said without looking at all. ``waiting``: at hosts."""
        with self._book.lock:
            busy = self._book.busy_locked()
            if self._ordered or not all(host.counts for host in busy):
                return None
            special = {host.key for host in busy}.union(self._guard.special_locked() if self._guard is not None else ())
            again = sum(not robots for host in busy for _, robots in (*host.running.values(), *host.pending.values()))
            now = self._clock.monotonic()
            return Standing(
                rules=rules,
                known=len(self._book),
                counted=waiting + self._off,  # the next run asks for these, too
                queued=self._totals.queued + again,
                uncounted=self._totals.uncounted,
                blocked=self._totals.blocked,
                given_up=self._totals.given_up,
                ready=self._places.ready_hosts(),
                later=[(self._book.wall(at), key) for at, key in self._places.waiting()],
                slowed=sorted(self._totals.slowed),
                shut=self._book.shut_locked(),
                special=sorted(special),
                saved=self._book.wall(now),
                closed=self._totals.shut,
            )

    def go_on(self, standing: Standing) -> int:
        """In place of `load`, with what `standing` said at the end of the last run. Before any other thread runs.

        The last process may have asked any host just before its end, so none is asked before its delay is over.
        """
        with self._book.lock:
            self._book.go_on_locked(standing.known, standing.shut)
            totals = self._totals
            totals.queued, totals.uncounted = standing.queued, standing.uncounted
            totals.blocked, totals.given_up, totals.shut = standing.blocked, standing.given_up, standing.closed
            totals.slowed = set(standing.slowed)
            now = self._clock.monotonic()
            wall = max(self._book.wall(now), standing.saved)
            first = now + self._settings.delay
            if first == now:
                for key in standing.ready:
                    self._places.ready(key, 0)
            ready = ((first - place * _APART, key) for place, key in enumerate(reversed(standing.ready)) if first > now)
            later = ((max(now + min(at - wall, LONGEST_WAIT), first), key) for at, key in standing.later)
            self._places.restore(chain(ready, later))
            waiting = standing.counted
            for key in standing.special:
                host = self._book.get_locked(key)
                before = sums_of(host)
                if self._guard is not None:
                    self._guard.resume_locked(host)
                waiting += totals.settle(before, sums_of(host))
                self._schedule_locked(host, now)
            return waiting

    def schedule_locked(self, host: Host) -> None:
        """The host has something new to do; the book's lock is held."""
        self._book.changed_locked(host)
        self._schedule_locked(host, self._clock.monotonic())

    def stands_locked(self, key: str) -> bool:
        """This host has its turn some time, whatever comes of it; the book's lock is held."""
        return self._places.stands(key)

    def uncounted_locked(self, messages: int) -> None:
        """More messages wait at a host that was given up or blocked; the book's lock is held."""
        self._totals.uncounted += messages

    def announce(self) -> None:
        """Wake a fetcher if a host is ready, or will be sooner than it knows; called without the lock."""
        if self._at_rest:
            with self._book.lock:
                keys, self._at_rest = self._at_rest, []
            self._on_rest(keys)
        for key in self._book.served():
            self._on_served(key)
        if self._news:  # a stale look costs a needless wake-up: who sets it looks here afterwards
            self._news = False
            self._on_ready()

    # -- figures

    def figures(self) -> Figures:
        """For the monitor; costs nothing that grows with the crawl."""
        with self._book.lock:
            next_in = self._places.next_time() - self._clock.monotonic()
            due = int(next_in <= 0)  # the next tells enough
            return Figures(
                hosts=len(self._book),
                ready=self._places.in_ring + due,
                waiting=self._places.on_heap - due + self._addresses.in_line,
                blocked=self._totals.blocked,
                given_up=self._totals.given_up,
                shut=self._totals.shut,
                slowed=len(self._totals.slowed),
                uncounted=self._totals.uncounted,
                in_flight=self._totals.in_flight,
                in_line=self._addresses.in_line,
                next_in=next_in if 0 < next_in < NEVER else 0.0,
            )

    # -- under the lock

    def _settle_sums_locked(self, before: Sums, after: Sums) -> int:
        """A host was changed; by how many messages the tally has to fall afterwards, as a negative number."""
        more = self._totals.settle(before, after)
        if more > 0:
            self._tally.rise(more)
        return min(more, 0)

    def _pass_over_locked(self, host: Host) -> list[URLMessage]:
        refused = pass_over_locked(self._guard, self._book, host) if self._guard is not None else []
        self._totals.queued -= len(refused)
        return refused

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
        host.next_start = max(host.next_start, next_start(now, host.delay(self._settings), host.crawl_delay, 0.0, 0.0))
        self._totals.in_flight += 1
        self._addresses.take(number, host.address)
        self._book.changed_locked(host)
        return Lease(number, host.key, message, robots)

    def _pending_locked(self, lease: Lease) -> Host:
        """The request is over, or will not be sent; the lease is still out."""
        host = self._book.get_locked(lease.host)
        host.pending[lease.number] = host.running.pop(lease.number)
        self._landed_locked(host, lease)
        self._book.changed_locked(host)
        return host

    def _landed_locked(self, host: Host, lease: Lease) -> None:
        self._totals.in_flight -= 1
        address, turn = self._addresses.end(lease.number)
        host.address = address or host.address
        self._news |= turn

    def _end_locked(self, host: Host, lease: Lease) -> None:
        if host.pending.pop(lease.number, None) is None:
            del host.running[lease.number]
            self._landed_locked(host, lease)
        self._book.changed_locked(host)

    def _settle_locked(self, host: Host, now: float, seconds: float, decision: Decision) -> int:
        """Next time and health; returns the messages that stop counting because the host was given up, or is blocked."""
        settings = self._settings
        host.errors = errors_after(host.errors, decision, settings)
        self._note_slowed_locked(host)
        polite = next_start(now, host.delay(settings), host.crawl_delay, settings.delay_factor, seconds)
        if seconds * settings.delay_factor > settings.delay:
            self._addresses.slow(host.address, seconds * settings.delay_factor)
        host.next_start = max(host.next_start, polite, now + decision.host_wait)
        if decision.host_wait:
            self.on_back_off(host.key, decision.host_wait)
        self._totals.blocked += (decision.host_wait > 0) - (host.backoffs > 0)
        host.backoffs = host.backoffs + 1 if decision.host_wait > 0 else 0
        host.health = health_after(host.health, decision, settings, on_trial=host.dormancies > 0)
        silent = int(decision.retry) if not host.counts else 0  # given up or blocked while this request was in the air
        if not host.dormant and host.health > 0:
            if not decision.host_wait:  # to be asked to come later is no good answer: it stays on trial
                host.dormancies = 0
        elif not host.dormant:
            silent = host.waiting if host.counts else silent
            host.dormant = True
            host.next_start = max(host.next_start, now + dormancy(host.dormancies, settings))
            host.dormancies += 1
            self._totals.given_up += 1
        self._totals.uncounted += silent
        return silent

    def _note_slowed_locked(self, host: Host) -> None:
        (self._totals.slowed.add if host.is_slowed(self._settings) else self._totals.slowed.discard)(host.key)

    def _revive_locked(self, host: Host) -> None:
        """One more chance for a host that was given up (LARM-65): one good answer makes it well again."""
        host.dormant = False
        self._totals.given_up -= 1
        self._totals.uncounted -= host.waiting
        self._tally.rise(host.waiting)

    def _wake_due_locked(self, now: float) -> None:
        self._places.wake_due(now)
        for key in self._addresses.due():
            if self._places.is_in_line(key):
                self._places.ready(key, self._book.get_locked(key).band if self._ordered else 0)
            else:  # it has gone to another crawl
                self._addresses.after(key)

    def _schedule_locked(self, host: Host, now: float, *, quiet: bool = False) -> None:
        """Put the host where it belongs, unless it stands there, or earlier, or has nothing to do, or is at its limit.

        ``quiet``: nobody needs to be woken because it is ready.
        """
        at = host.ready_at()
        if at == NEVER and host.undecided:
            self._at_rest.append(host.key)
        if at == NEVER or self._places.stands_at(host.key, at) or host.requests >= host.most_requests(self._settings):
            if self._ordered:
                self._places.move_up(host.key, host.band)
        elif at <= now:
            self._places.ready(host.key, host.band)
            self._news |= not quiet
        else:  # who waits for the next host waits too long now
            self._news |= self._places.wait(host.key, at, host.band)
