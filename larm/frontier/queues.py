"""HostQueues: who may be asked next. Leases go round robin over the hosts that are ready (LARM-72, LARM-75).

The only way to a host is `lease`; each lease is given back once, by `release`, `retry` or `give_back`, and the next time of the
host is set before anybody can see the host again. A host stands in the ring (ready now), the heap (ready at a known time), the
line of its address (`larm.frontier.shared_addresses`) or nowhere (nothing to do, at its limit of requests, given up, or
blocked). Whether anything may be asked at all is a question that each lease asks first (`larm.river.steering`).

Called by the handler thread (`add`), the fetcher threads (all others), and by who steers the crawl or moves hosts (`block`,
`unblock`, `freeze`, `thaw`, `alter`, `forget`, `change`, in a step of the gate), under the lock of the `HostBook`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import count, groupby
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from larm.config import Frontier as Settings
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import NEVER, Delayed, Host
from larm.frontier.hosts import HostBook
from larm.frontier.politeness import NOTHING, Decision, dormancy, health_after, next_start
from larm.frontier.ring import Ring
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.threads.tally import Tally
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.seams import Clock, CrawlOrder

T = TypeVar("T")
_Place = tuple[float, int, str, int]
"""(time, number, key of the host, its band): an entry of the heap; the time of one in the ring is -NEVER."""
_IN_LINE: _Place = (-NEVER, -1, "", 0)
"""Of a host that waits for others of its address."""


ENOUGH = 256
"""URLs: some four for each transfer, as the defaults are."""
PASSED_OVER = 500
"""URLs that are passed over in one go: some milliseconds of the lock. Who leases next goes on."""


class Guard(Protocol):
    """Whom a lease asks whether an address that waited is still worth while; `larm.frontier.traps.desk`."""

    def looks_locked(self, host: Host) -> bool:
        """Whether it has anything to say of this host; the book's lock is held."""
        ...

    def hold_locked(self, host: Host, message: URLMessage) -> bool:
        """True: it is held back, elsewhere, and not asked for now; the book's lock is held."""
        ...

    def held(self, messages: Sequence[URLMessage]) -> None:
        """These were held back; called without the lock."""
        ...

    def resume_locked(self, host: Host) -> None:
        """A host of an earlier run, or of another crawl; the book's lock is held."""
        ...

    def left_locked(self, host: Host) -> None:
        """A host that goes to another crawl; the book's lock is held."""
        ...


class Figures(NamedTuple):
    """Hosts by what they wait for."""

    hosts: int
    ready: int
    waiting: int
    """For their next time."""
    blocked: int
    """Asked to be left alone (429, 503)."""
    given_up: int
    uncounted: int
    """URLs that wait at hosts that were given up, or are blocked."""
    in_flight: int
    in_line: int
    """Of those that wait, for other hosts of their address."""


class _Sums(NamedTuple):
    """What a host adds to the sums of all hosts."""

    counted: int = 0
    """Messages that keep the crawl going."""
    uncounted: int = 0
    queued: int = 0
    given_up: bool = False
    blocked: bool = False


def _sums_of(host: Host) -> _Sums:
    waiting, counts = host.waiting, host.counts
    return _Sums(waiting * counts, waiting * (not counts), len(host.queue), host.dormant, host.backoffs > 0)


class Waiting(NamedTuple):
    """A host that nobody may ask for a while."""

    host: str
    seconds: float
    urls: int
    """That wait there."""


class HostQueues:
    """Ring and heap over the host records. ``on_ready`` is called, without the lock, when a host became ready, or will be."""

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
        order: CrawlOrder | None = None,
        may_lease: Callable[[], bool] = lambda: True,
        addresses: SharedAddresses | None = None,
    ) -> None:
        """``may_lease`` is asked before each lease, without the lock. When it says yes again, the fetchers have to be woken."""
        # constant after construction
        self._book = book
        self._may_lease = may_lease
        self._addresses = addresses or SharedAddresses(clock, settings)
        self._clock = clock
        self._tally = tally
        self._on_ready = on_ready
        self._guard = guard
        self._on_rest = on_rest
        """Told, without the lock, of hosts that have nothing else to do than to decide what they hold back."""
        self._ordered = order is not None
        self._numbers = count()
        # guarded by book.lock; replaced as a whole, so that one look needs no lock
        self._settings = settings
        # guarded by book.lock
        self._ring = Ring(order is not None and order.fair)
        self._heap: list[_Place] = []
        self._places: dict[str, _Place] = {}  # where each host stands that stands anywhere
        self._news = False
        self._at_rest: list[str] = []
        self._queued = 0
        self._in_flight = 0
        self._blocked = 0
        self._given_up = 0
        self._uncounted = 0

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
                self._queued += len(messages)
                silent += 0 if host.counts else len(messages)
                self._book.changed_locked(host)
                self._schedule_locked(host, now)
            self._uncounted += silent
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
            next_keys = self._ring.first(limit)
        self._book.warm(next_keys)
        with self._book.lock:
            now = self._clock.monotonic()
            while self._ring and len(leases) < limit and len(refused) < PASSED_OVER:
                key = self._ring.take()
                del self._places[key]
                host = self._book.get_locked(key)
                if host.ready_at() > now:  # it was put off while it stood in the ring
                    self._schedule_locked(host, now, quiet=True)
                    self._addresses.after(key)
                    continue
                if self._addresses.wait(key, host.address):
                    self._places[key] = _IN_LINE
                    continue
                if host.dormant:
                    self._revive_locked(host)
                refused += self._pass_over_locked(host)
                if host.ready_at() <= now and len(refused) < PASSED_OVER:
                    leases.append(self._lease_locked(host, now))
                self._addresses.after(key)
                self._schedule_locked(host, now, quiet=True)
            self._news |= bool(self._ring)  # one fetcher is woken at a time; it wakes the next if it leaves something
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
            if self._ring:
                return 0.0
            at = min(self._heap[0][0] if self._heap else NEVER, self._addresses.next_turn())
            return at if at == NEVER else max(at - self._clock.monotonic(), 0.0)

    def enough(self) -> bool:
        """So many URLs wait in the queues that nobody starves for the next few milliseconds."""
        return self._queued >= ENOUGH

    def far_off(self, longest: float) -> list[Waiting]:
        """Where all that is left waits for longer than ``longest`` seconds: those hosts, the next one first.

        Nothing: something can be done sooner, or is under way. Counted: what waits there is all that keeps the crawl going.
        """
        found: list[Waiting] = []
        with self._book.lock:
            now = self._clock.monotonic()
            if self._ring or self._addresses.in_line:
                return []
            for place in self._heap:
                at, _, key, _ = place
                if self._places.get(key) is not place:
                    continue
                host = self._book.get_locked(key)
                if not host.counts:  # it keeps nothing going
                    continue
                if at <= now + longest:
                    return []
                found.append(Waiting(key, at - now, host.waiting))
        if not found or sum(each.urls for each in found) != self._tally.value:
            return []
        return sorted(found, key=lambda each: each.seconds)

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
        self.announce()
        self._tally.fall(len(leases))

    def take_up(self, lease: Lease) -> None:
        """The inverse of `put_off`: it is the first of its host again."""
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
                    self._queued += 1
                    silent += not host.counts
                if not unsent:
                    host.next_start = max(host.next_start, now + host.delay(self._settings))
                elif not (host.running or host.backoffs):  # else it is the next time of another request
                    host.next_start = now
                self._schedule_locked(host, now)
            self._uncounted += silent
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
            before = _sums_of(host)
            found = change(host)
            more = self._settle_sums_locked(before, _sums_of(host))
            self.schedule_locked(host)
        if more < 0:
            self._tally.fall(-more)
        self.announce()
        return found

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
            more = self._settle_sums_locked(_sums_of(host), _Sums())
            self._ring.remove(key)
            self._places.pop(key, None)
            self._addresses.after(key)
            if self._guard is not None:
                self._guard.left_locked(host)
            self._book.forget_locked(host)
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
                self._blocked += host.backoffs > 0
                self._given_up += host.dormant
                self._queued += len(host.queue)
                if host.counts:
                    waiting += host.waiting
                else:
                    self._uncounted += host.waiting
        return waiting

    def schedule_locked(self, host: Host) -> None:
        """The host has something new to do; the book's lock is held."""
        self._book.changed_locked(host)
        self._schedule_locked(host, self._clock.monotonic())

    def uncounted_locked(self, messages: int) -> None:
        """More messages wait at a host that was given up or blocked; the book's lock is held."""
        self._uncounted += messages

    def announce(self) -> None:
        """Wake a fetcher if a host is ready, or will be sooner than it knows; called without the lock."""
        if self._at_rest:
            with self._book.lock:
                keys, self._at_rest = self._at_rest, []
            self._on_rest(keys)
        if self._news:  # a stale look costs a needless wake-up: who sets it looks here afterwards
            self._news = False
            self._on_ready()

    # -- figures

    def figures(self) -> Figures:
        """For the monitor; costs nothing that grows with the crawl."""
        with self._book.lock:
            now = self._clock.monotonic()
            due = sum(place[0] <= now for place in self._heap[:1])  # the next tells enough
            return Figures(
                hosts=len(self._book),
                ready=len(self._ring) + due,
                waiting=len(self._heap) - due + self._addresses.in_line,
                blocked=self._blocked,
                given_up=self._given_up,
                uncounted=self._uncounted,
                in_flight=self._in_flight,
                in_line=self._addresses.in_line,
            )

    # -- under the lock

    def _settle_sums_locked(self, before: _Sums, after: _Sums) -> int:
        """A host was changed; by how many messages the tally has to fall afterwards, as a negative number."""
        self._uncounted += after.uncounted - before.uncounted
        self._queued += after.queued - before.queued
        self._given_up += after.given_up - before.given_up
        self._blocked += after.blocked - before.blocked
        more = after.counted - before.counted
        if more > 0:
            self._tally.rise(more)
        return min(more, 0)

    def _pass_over_locked(self, host: Host) -> list[URLMessage]:
        """Take from the queue what its guard holds back, until it lets one through, or has had enough for once."""
        refused: list[URLMessage] = []
        if self._guard is None or not self._guard.looks_locked(host):
            return refused
        while len(host.queue) and len(refused) < PASSED_OVER:
            held = host.queue.in_memory
            message = host.queue.take(1)[0]
            self._book.put_locked(max(host.queue.in_memory - held, 0))  # a block was read
            if not self._guard.hold_locked(host, message):
                host.queue.put_front([message])
                break
            refused.append(message)
        if refused:
            self._queued -= len(refused)
            self._book.changed_locked(host)
        return refused

    def _lease_locked(self, host: Host, now: float) -> Lease:
        robots = bool(host.robots_tasks)
        if robots:
            message = host.robots_tasks.pop(0)
        elif host.delayed and host.delayed[0].not_before <= now:
            message = heapq.heappop(host.delayed).message
        else:
            held = host.queue.in_memory
            message = host.queue.take(1)[0]
            self._book.put_locked(max(host.queue.in_memory - held, 0))  # a block was read
            self._queued -= 1
        number = next(self._numbers)
        host.running[number] = (message, robots)
        host.next_start = max(host.next_start, next_start(now, host.delay(self._settings), host.crawl_delay, 0.0, 0.0))
        self._in_flight += 1
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
        self._in_flight -= 1
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
        polite = next_start(now, host.delay(settings), host.crawl_delay, settings.delay_factor, seconds)
        if seconds * settings.delay_factor > settings.delay:
            self._addresses.slow(host.address, seconds * settings.delay_factor)
        host.next_start = max(host.next_start, polite, now + decision.host_wait)
        self._blocked += (decision.host_wait > 0) - (host.backoffs > 0)
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
            self._given_up += 1
        self._uncounted += silent
        return silent

    def _revive_locked(self, host: Host) -> None:
        """One more chance for a host that was given up (LARM-65): one good answer makes it well again."""
        host.dormant = False
        self._given_up -= 1
        self._uncounted -= host.waiting
        self._tally.rise(host.waiting)

    def _wake_due_locked(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            place = heapq.heappop(self._heap)
            key = place[2]
            if self._places.get(key) is place:  # else it had something to do before that
                self._enter_ring_locked(key, place[3])
        for key in self._addresses.due():
            if self._places.get(key) is _IN_LINE:
                self._enter_ring_locked(key, self._book.get_locked(key).band if self._ordered else 0)
            else:  # it has gone to another crawl
                self._addresses.after(key)

    def _enter_ring_locked(self, key: str, band: int) -> None:
        self._places[key] = (-NEVER, 0, key, band)
        self._ring.put(key, band)

    def _schedule_locked(self, host: Host, now: float, *, quiet: bool = False) -> None:
        """Put the host where it belongs, unless it stands there, or earlier, or has nothing to do, or is at its limit.

        ``quiet``: nobody needs to be woken because it is ready.
        """
        at = host.ready_at()
        if at == NEVER and host.undecided:
            self._at_rest.append(host.key)
        place = self._places.get(host.key)
        if at == NEVER or (place is not None and at >= place[0]) or host.requests >= host.most_requests(self._settings):
            if self._ordered and place is not None and place[0] == -NEVER and place is not _IN_LINE:
                self._ring.put(host.key, host.band)  # it may have got something better
            return
        if at <= now:
            self._enter_ring_locked(host.key, host.band)
            self._news |= not quiet
        else:
            place = self._places[host.key] = (at, next(self._numbers), host.key, host.band)
            heapq.heappush(self._heap, place)
            self._news |= self._heap[0] is place  # who waits for the next host waits too long now
