"""CurlFetcher: the `Fetcher` of the seams, on libcurl: keep-alive, HTTP/2, all content encodings, nothing followed by itself.

Made by the wiring, one for each fetcher thread, and driven by that thread alone; only `wake` is for others.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
import pycurl

from larm.config import FetchSettings
from larm.fetch.classify import one_line
from larm.fetch.look_ups import CONNECT, Found, LookUp, name_in
from larm.fetch.multi_loop import MultiLoop
from larm.fetch.recorder import Connections
from larm.fetch.terms import FetchTerms
from larm.fetch.transfer import Transfer
from larm.kit.processes.open_files import files_allowed
from larm.model.lease import Lease
from larm.model.outcome import Failed, FailReason, Fetched, Outcome, Timing
from larm.seams import Clock

_LOOK_UP = 60.0  # seconds that a look-up may go on after we gave it up; resolvers try some servers, 5 s and twice each
_AT_A_TIME = 16_000_000
"""Bytes of decoded bodies that `wait` returns, of all fetchers together, and one body each: many bombs may end at once."""
_AWAY = 0.25  # seconds between two calls of `wait` from which our absence counts; a batch of pages takes some hundredths
_EXCUSED = 0.25  # share of a request's time that was lost to it by our fault, from which its time-out is not the host's
_PERHAPS_MOVED = (FailReason.CONNECT, FailReason.TIMEOUT)
_LOOK = 1.0  # seconds after which look-ups under way are looked at again
_TIDY = 5.0  # seconds after which libcurl's addresses are looked through again; of 20,000 hosts, that takes a millisecond
_MOST_CONNECTIONS = 256  # kept open by a thread; one with TLS costs some 50 KB


class CurlFetcher:
    """Implements `larm.seams.Fetcher`.

    ``start`` takes any number of leases; that no more than ``fetch.transfers`` are under way is the caller's care.
    """

    def __init__(self, terms: FetchTerms, clock: Clock, *, exchanges: bool = False) -> None:
        """``exchanges``: outcomes have them."""
        # constant after construction
        self._terms = terms
        self._clock = clock
        self._at_a_time = _AT_A_TIME // terms.settings.threads
        self._loop = MultiLoop(clock, connections_kept(terms.settings), fence=terms.fence)
        self._connections: Connections | None = {} if exchanges else None
        # only the fetcher thread
        self._looking: dict[str, tuple[LookUp, list[Lease]]] = {}  # who waits for the address of a host
        self._ready: deque[tuple[Lease, Sequence[str]]] = deque()  # who has it, and waits for a place
        self._active: dict[Any, Transfer] = {}  # by easy handle
        self._idle: list[Transfer] = []
        self._done: deque[tuple[Any, int, str]] = deque()  # of the active ones, those that libcurl is done with
        self._ended: list[tuple[Lease, Outcome]] = []  # for the next `wait`
        self._lost = 0.0  # seconds in which nobody turned here
        self._left = clock.monotonic()  # when `wait` ended last
        self._resolver_busy_until: float | None = None
        self._tidied = -_TIDY  # when
        # single operations
        self._found: deque[tuple[LookUp, Found]] = deque()  # any thread adds, the fetcher's takes

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        host = name_in(lease.message.url.access)
        if not host or self._has_proxy(lease):
            self._begin(lease, ())
        elif (found := self._terms.names.known(host)) is not None:
            self._begin(lease, found.addresses)
        elif host in self._looking:
            self._looking[host][1].append(lease)
        else:
            self._looking[host] = self._terms.names.ask(host, self._take), [lease]

    def _begin(self, lease: Lease, addresses: Sequence[str]) -> None:
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        now = self._clock.monotonic()
        tidying = now - self._tidied >= _TIDY
        if tidying:
            self._tidied = now
        wall = 0.0 if self._connections is None else self._clock.wall()
        failed = transfer.begin(lease, wall, addresses, tidying=tidying)
        if failed:
            self._idle.append(transfer)
            self._ended.append((lease, failed))
            return
        transfer.held_up = self._lost
        self._active[transfer.handle] = transfer
        self._loop.add(transfer.handle)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """See `larm.seams.Fetcher`."""
        now = self._clock.monotonic
        began = now()
        if began - self._left > _AWAY:
            self._lost += began - self._left
        self._follow_look_ups(began)
        deadline = began + (min(seconds, _LOOK) if self._looking else seconds)
        left = 0.0 if self._ended or self._done else deadline - began
        for transfer in [each for each in self._active.values() if each.paused]:
            if not transfer.resume():
                break
        while True:
            done, woken = self._loop.turn(left)
            self._done += done
            if self._done:
                self._finish()
            left = deadline - now()
            if self._ended or woken or left <= 0:
                break
        ended, self._ended = self._ended, []
        self._left = now()
        return ended

    def wake(self) -> None:
        """See `larm.seams.Fetcher`. Any thread."""
        self._loop.wake()

    @property
    def in_flight(self) -> int:
        """See `larm.seams.Fetcher`."""
        looking = sum(len(leases) for _, leases in self._looking.values())
        return looking + len(self._ready) + len(self._active) + len(self._ended)

    @property
    def aside(self) -> int:
        """See `larm.seams.Fetcher`. One for each name that is being looked up; not those that wait for a thread to do so."""
        return sum(asked.since is not None for asked, _ in self._looking.values())

    def abandon(self) -> list[Lease]:
        """See `larm.seams.Fetcher`. Outcomes that `wait` has not returned yet are thrown away with the others."""
        leases = [lease for lease, _ in (*self._ended, *self._ready)]
        leases += [lease for _, waiting in self._looking.values() for lease in waiting]
        for each in (self._ended, self._ready, self._looking, self._found):
            each.clear()
        out = {handle for handle, _, _ in self._done}
        self._done.clear()
        for handle, transfer in self._active.items():
            if handle not in out:
                if transfer.is_resolving():
                    self._note_busy_resolver()
                self._loop.remove(handle)
            leases.append(transfer.cut())
            self._idle.append(transfer)
        self._active.clear()
        return leases

    def close(self) -> None:
        """Abandon what is under way and close all connections. May be called twice."""
        self.abandon()
        for transfer in self._idle:
            transfer.close()
        self._idle.clear()
        busy = self._resolver_busy_until
        self._loop.close(leave_resolver=busy is not None and self._clock.monotonic() < busy)

    def __repr__(self) -> str:
        looking = f"{len(self._looking)} names looked up, {len(self._ready)} ready"
        return f"<CurlFetcher: {looking}, {len(self._active)} under way, {len(self._ended)} ended>"

    def _has_proxy(self, lease: Lease) -> bool:
        """Whose name libcurl looks up, and that of the host where it is to."""
        access = self._terms.sites.of_url(lease.message.url) if self._terms.sites else None
        return bool(access and access.proxy)

    def _take(self, asked: LookUp, found: Found) -> None:
        """The answer of a look-up, on its thread."""
        self._found.append((asked, found))
        self.wake()

    def _follow_look_ups(self, now: float) -> None:
        """Requests of which the host was found begin, as many as may be under way; others have failed."""
        while self._found:
            asked, found = self._found.popleft()
            if self._looking.get(asked.host, (None,))[0] is not asked:  # it was given up
                continue
            _, leases = self._looking.pop(asked.host)
            if found.addresses:
                self._ready += [(lease, found.addresses) for lease in leases]
            else:
                self._fail(leases, found.reason, found.detail, now - (asked.since or now))
        longest = CONNECT
        late = [asked for asked, _ in self._looking.values() if asked.since is not None and now - asked.since > longest]
        for asked in late:
            _, leases = self._looking.pop(asked.host)
            self._fail(leases, FailReason.TIMEOUT, f"the look-up of {asked.host} in DNS took more than {longest:g} s", longest)
        while self._ready and len(self._active) < self._terms.settings.transfers:
            self._begin(*self._ready.popleft())

    def _fail(self, leases: Sequence[Lease], reason: FailReason, detail: str, seconds: float) -> None:
        outcome = Failed(reason, one_line(detail), Timing(seconds))
        self._ended += [(lease, outcome) for lease in leases]

    def _new_transfer(self) -> Transfer:
        return Transfer(self._terms, self._connections)

    def _finish(self) -> None:
        """Outcomes of what libcurl is done with, till their bodies are much; the rest follows at the next `wait`."""
        wall, size = self._clock.wall(), 0
        while self._done and size <= self._at_a_time:
            handle, error, message = self._done.popleft()
            transfer = self._active.pop(handle)
            lease = transfer.lease
            ours = error == pycurl.E_OPERATION_TIMEDOUT and self._held_up(transfer)
            outcome = transfer.end(error, message, wall)
            if ours and isinstance(outcome, Failed):
                detail = f"larm was busy, or had no room for it: {outcome.detail}"
                outcome = msgspec.structs.replace(outcome, reason=FailReason.BUSY, detail=detail)
            if isinstance(outcome, Fetched):
                size += len(outcome.body)
            elif isinstance(outcome, Failed) and outcome.reason in _PERHAPS_MOVED:
                self._terms.names.forget(name_in(lease.message.url.access))
            self._ended.append((lease, outcome))
            self._idle.append(transfer)
            if error == pycurl.E_OPERATION_TIMEDOUT and message.startswith("Resolving"):
                self._note_busy_resolver()

    def _held_up(self, transfer: Transfer) -> bool:
        """Whether we kept it from going on: its answer may have come, and nobody looked."""
        elapsed = transfer.handle.getinfo(pycurl.TOTAL_TIME)
        return transfer.was_paused or self._lost - transfer.held_up > _EXCUSED * elapsed

    def _note_busy_resolver(self) -> None:
        self._resolver_busy_until = self._clock.monotonic() + _LOOK_UP


def libcurl() -> str:
    """Which one it is, and the libraries that are in it, with their versions."""
    return str(pycurl.version).partition(" ")[2]


def connections_kept(settings: FetchSettings) -> int:
    """Connections that one thread keeps open: all threads together take half of the descriptors that the process may have."""
    return max(settings.transfers, min(_MOST_CONNECTIONS, files_allowed() // 2 // settings.threads))
