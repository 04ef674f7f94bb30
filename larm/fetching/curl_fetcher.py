"""CurlFetcher: the `Fetcher` of the seams, on libcurl: keep-alive, HTTP/2, all content encodings, nothing followed by itself.

Made by the wiring, one for each fetcher thread, and driven by that thread alone; only `wake` is for others.
"""

from __future__ import annotations

import sys
from typing import Any

import pycurl

from larm.config import Fetch, Robots
from larm.fetching.addresses import AddressRule
from larm.fetching.multi_loop import MultiLoop
from larm.fetching.transfer import Transfer
from larm.model.lease import Lease
from larm.model.outcome import Outcome
from larm.seams import Clock

_LOOK_UP = 60.0  # seconds that a look-up may go on after we gave it up; resolvers try some servers, 5 s and twice each
_MOST_CONNECTIONS = 256  # kept open by a thread; one with TLS costs some 50 KB


class CurlFetcher:
    """Implements `larm.seams.Fetcher`.

    ``start`` takes any number of leases; that no more than ``fetch.transfers`` are under way is the caller's care.
    """

    def __init__(self, settings: Fetch, robots: Robots, user_agent: str, addresses: AddressRule, clock: Clock) -> None:
        # constant after construction
        self._settings = settings
        self._robots = robots
        self._user_agent = user_agent
        self._addresses = addresses
        self._clock = clock
        self._loop = MultiLoop(clock, connections_kept(settings))
        # only the fetcher thread
        self._active: dict[Any, Transfer] = {}  # by easy handle
        self._idle: list[Transfer] = []
        self._ended: list[tuple[Lease, Outcome]] = []  # for the next `wait`
        self._resolver_busy_until: float | None = None

    def start(self, lease: Lease) -> None:
        """See `larm.seams.Fetcher`."""
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        failed = transfer.begin(lease)
        if failed:
            self._idle.append(transfer)
            self._ended.append((lease, failed))
            return
        self._active[transfer.handle] = transfer
        self._loop.add(transfer.handle)

    def wait(self, seconds: float) -> list[tuple[Lease, Outcome]]:
        """See `larm.seams.Fetcher`."""
        now = self._clock.monotonic
        deadline = now() + seconds
        left = 0.0 if self._ended else seconds
        while True:
            done, woken = self._loop.turn(left)
            if done:
                self._finish(done)
            left = deadline - now()
            if self._ended or woken or left <= 0:
                break
        ended, self._ended = self._ended, []
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
        for handle, transfer in self._active.items():
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
        return Transfer(self._settings, self._robots, self._user_agent, self._addresses)

    def _finish(self, done: list[tuple[Any, int, str]]) -> None:
        wall = self._clock.wall()
        for handle, error, message in done:
            transfer = self._active.pop(handle)
            lease = transfer.lease
            self._ended.append((lease, transfer.end(error, message, wall)))
            self._idle.append(transfer)
            if error == pycurl.E_OPERATION_TIMEDOUT and message.startswith("Resolving"):
                self._note_busy_resolver()

    def _note_busy_resolver(self) -> None:
        self._resolver_busy_until = self._clock.monotonic() + _LOOK_UP


def connections_kept(settings: Fetch) -> int:
    """Connections that one thread keeps open: all threads together take half of the descriptors that the process may have."""
    descriptors = 1024
    if sys.platform != "win32":
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        descriptors = soft if soft != resource.RLIM_INFINITY else sys.maxsize
    return max(settings.transfers, min(_MOST_CONNECTIONS, descriptors // 2 // settings.threads))
