"""CurlFetcher: the `Fetcher` of the seams, on libcurl: keep-alive, HTTP/2, all content encodings, nothing followed by itself.

Made by the wiring, one for each fetcher thread, and driven by that thread alone; only `wake` is for others.
"""

import sys
from collections import deque
from typing import Any

import msgspec
import pycurl

from larm.config import Fetch
from larm.fetching.multi_loop import MultiLoop
from larm.fetching.recorder import Connections
from larm.fetching.terms import FetchTerms
from larm.fetching.transfer import Transfer
from larm.model.lease import Lease
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from larm.seams import Clock

_LOOK_UP = 60.0  # seconds that a look-up may go on after we gave it up; resolvers try some servers, 5 s and twice each
_AT_A_TIME = 16_000_000  # bytes of decoded bodies that `wait` returns, and one more: many may end at once, each a bomb
_AWAY = 0.25  # seconds between two calls of `wait` from which our absence counts; a batch of pages takes some hundredths
_EXCUSED = 0.25  # share of a request's time that was lost to it by our fault, from which its time-out is not the host's
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
        self._loop = MultiLoop(clock, connections_kept(terms.settings))
        self._connections: Connections | None = {} if exchanges else None
        # only the fetcher thread
        self._active: dict[Any, Transfer] = {}  # by easy handle
        self._idle: list[Transfer] = []
        self._done: deque[tuple[Any, int, str]] = deque()  # of the active ones, those that libcurl is done with
        self._ended: list[tuple[Lease, Outcome]] = []  # for the next `wait`
        self._lost = 0.0  # seconds in which nobody turned here
        self._left = clock.monotonic()  # when `wait` ended last
        self._resolver_busy_until: float | None = None
        self._tidied = -_TIDY  # when

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        now = self._clock.monotonic()
        tidying = now - self._tidied >= min(_TIDY, self._terms.settings.dns_ttl)
        if tidying:
            self._tidied = now
        failed = transfer.begin(lease, 0.0 if self._connections is None else self._clock.wall(), tidying=tidying)
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
        deadline = began + seconds
        left = 0.0 if self._ended or self._done else seconds
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
        return len(self._active) + len(self._ended)

    def abandon(self) -> list[Lease]:
        """See `larm.seams.Fetcher`. Outcomes that `wait` has not returned yet are thrown away with the others."""
        leases = [lease for lease, _ in self._ended]
        self._ended.clear()
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
        return f"<CurlFetcher: {len(self._active)} under way, {len(self._ended)} ended>"

    def _new_transfer(self) -> Transfer:
        return Transfer(self._terms, self._connections)

    def _finish(self) -> None:
        """Outcomes of what libcurl is done with, till their bodies are much; the rest follows at the next `wait`."""
        wall, size = self._clock.wall(), 0
        while self._done and size <= _AT_A_TIME:
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


def connections_kept(settings: Fetch) -> int:
    """Connections that one thread keeps open: all threads together take half of the descriptors that the process may have."""
    descriptors = 1024
    if sys.platform != "win32":
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        descriptors = soft if soft != resource.RLIM_INFINITY else sys.maxsize
    return max(settings.transfers, min(_MOST_CONNECTIONS, descriptors // 2 // settings.threads))
