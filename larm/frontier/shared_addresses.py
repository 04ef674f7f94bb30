"""SharedAddresses: hosts that share an IP address share a delay and a number of requests (LARM-105).

A thousand blogs may be one machine, which bears no more than a few of them. What address a host has is known from its last
connection. Before the first one nobody knows, so each connection that is about to be opened asks as well; one that comes too
early is not opened, and its host, whose address is known then, stands in line like the others.

An address gives its hosts a turn one after the other, in the order of its line. Whoever had it says so (`after`), and the next
one's time is set. `admit` is called by any thread, within libcurl; all else under the lock of the `HostBook`.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable

import msgspec

from larm.config import FrontierSettings
from larm.frontier.host import NEVER
from larm.frontier.request_count import RequestCount, limits_of
from larm.seams import Clock

_SWEEP = 10_000
"""Addresses from which those are looked for of which nothing is left to know."""
_WAITS, _EARLY = "politeness/address_waits", "politeness/address_found_busy"
"""Counters: leases that were put off for other hosts of the same address, and connections that were not opened for them."""


class _Address(msgspec.Struct, eq=False):
    next_start: float = 0.0
    out: int = 0
    """Requests that are out."""
    made: RequestCount | None = None
    """What it had of this minute and this hour, where that is limited."""
    line: deque[str] = msgspec.field(default_factory=deque)
    """Keys of hosts."""
    turn_at: float = NEVER
    """When the first of the line has its turn; `NEVER`: somebody has it, or all requests are out."""

    def is_idle(self, now: float) -> bool:
        """There is nothing left to know."""
        busy = self.out or self.line or self.next_start > now
        return not busy and (self.made is None or self.made.is_over(now))


class _Lease(msgspec.Struct, eq=False):
    charged: list[str] = msgspec.field(default_factory=list)
    """Addresses at which it counts."""
    met: str = ""
    """That of the last connection, or of the one that was not opened."""
    tried: bool = False
    """A connection was opened for it."""
    refused: bool = False


class SharedAddresses:
    """Implements `larm.seams.AddressGate`. With a ``delay`` of 0 nobody waits, unless the limits of `limits_of` say so."""

    def __init__(
        self, clock: Clock, settings: FrontierSettings, count: Callable[[str, int], object] = lambda _name, _n: None
    ) -> None:
        """``count`` is that of the crawl."""
        # constant after construction
        self._clock = clock
        self._count = count
        self._lock = threading.Lock()
        # guarded by self._lock
        self._settings = settings
        self._addresses: dict[str, _Address] = {}
        self._sweep = _SWEEP
        self._leases: dict[int, _Lease] = {}  # by number
        self._turns: list[tuple[float, str]] = []  # a heap; old entries stay till their time comes
        self._having_turn: dict[str, str] = {}  # by the key of the host: of which address
        self._in_line = 0

    def change(self, settings: FrontierSettings) -> None:
        """Other delays, another number of requests."""
        with self._lock:
            self._settings = settings
            now = self._clock.monotonic()
            for ip, address in self._addresses.items():
                if address.line:
                    self._set_turn(ip, address, now)

    # -- before a connection

    def admit(self, number: int, ip: str) -> bool:
        """See `larm.seams.AddressGate`. A host with several addresses is asked at the one that is known, or was free first."""
        if not self._limited:
            return True
        with self._lock:
            now = self._clock.monotonic()
            lease = self._leases.setdefault(number, _Lease())
            if ip in lease.charged:
                lease.met, lease.tried = ip, True
                return True
            if lease.charged and not lease.tried:  # another one is known, and its turn is ours
                lease.met = ip
                return False
            if not lease.refused:
                lease.met = ip
                if self._free_at(ip, now) <= now:
                    lease.tried = True
                    self._charge(lease, ip, now)
                    return True
                lease.refused = True
        self._count(_EARLY, 1)
        return False

    # -- leases

    def take(self, number: int, ip: str) -> None:
        """A lease for a host with this address (empty: nobody knows) was given out."""
        if not (ip and self._limited):
            return
        with self._lock:
            lease = self._leases[number] = _Lease()
            lease.met = ip
            self._charge(lease, ip, self._clock.monotonic())

    def end(self, number: int, received: int = 0) -> tuple[str, bool]:
        """Its request has ended: its address, empty where none was met; and whether another host may have its turn for that.

        ``received``: bytes. What comes later for the same lease means nothing.
        """
        if number not in self._leases:
            return "", False
        with self._lock:
            lease = self._leases.pop(number)
            now, waited = self._clock.monotonic(), False
            for ip in lease.charged:
                address = self._address(ip, now)
                address.out -= 1
                if address.made is not None:
                    address.made.receive(received if ip == lease.met else 0)
                if address.line and address.turn_at == NEVER:
                    self._set_turn(ip, address, now)
                    waited = True
            return lease.met, waited

    def slow(self, ip: str, wait: float) -> None:
        """One of its hosts shall be left alone for so many seconds, as it answers slowly; all of them for their part of it."""
        with self._lock:
            found = self._addresses.get(ip)
            if found is not None and self._limited:
                at = self._clock.monotonic() + wait / self._settings.per_address
                found.next_start = max(found.next_start, at)

    # -- the lines

    def wait(self, key: str, ip: str) -> bool:
        """Whether this host has to wait for others of its address; if so, it stands in line now."""
        if not (ip and self._limited):
            return False
        with self._lock:
            now = self._clock.monotonic()
            if self._free_at(ip, now) <= now:
                return False
            address = self._address(ip, now)
            if self._having_turn.get(key) == ip:  # somebody was faster
                del self._having_turn[key]
                address.line.appendleft(key)
            else:
                address.line.append(key)
            self._in_line += 1
            if address.turn_at == NEVER:
                self._set_turn(ip, address, now)
        self._count(_WAITS, 1)
        return True

    def due(self) -> list[str]:
        """Hosts whose turn it is, one for each address; each is followed by `after`, or by `wait`."""
        keys: list[str] = []
        if not self._turns:
            return keys
        with self._lock:
            now = self._clock.monotonic()
            while self._turns and self._turns[0][0] <= now:
                at, ip = heapq.heappop(self._turns)
                address = self._addresses.get(ip)
                if address is None or address.turn_at != at or not address.line:
                    continue
                address.turn_at = NEVER
                key = address.line.popleft()
                self._in_line -= 1
                self._having_turn[key] = ip
                keys.append(key)
        return keys

    def after(self, key: str) -> None:
        """If this host had its turn, it is over now, whatever it made of it."""
        if key not in self._having_turn:
            return
        with self._lock:
            ip = self._having_turn.pop(key)
            address = self._addresses.get(ip)
            if address is not None and address.line and address.turn_at == NEVER:
                self._set_turn(ip, address, self._clock.monotonic())

    def next_turn(self) -> float:
        """When a host has its turn that stands in line; `NEVER` if none does, or all wait for requests to end."""
        if not self._turns:
            return NEVER
        with self._lock:
            while self._turns and not self._stands(*self._turns[0]):
                heapq.heappop(self._turns)
            return self._turns[0][0] if self._turns else NEVER

    @property
    def in_line(self) -> int:
        """Hosts that stand in line."""
        return self._in_line

    def place_of(self, key: str, ip: str) -> tuple[int, int]:
        """Where this host stands in the line of its address, from 1, and how many do; (0, 0): it does not."""
        with self._lock:
            address = self._addresses.get(ip)
            line = address.line if address is not None else ()
            return (line.index(key) + 1, len(line)) if key in line else (0, 0)

    # -- with the lock

    @property
    def _limited(self) -> bool:
        return self._settings.per_address > 0 and (self._settings.delay > 0 or any(limits_of(self._settings)))

    def _stands(self, at: float, ip: str) -> bool:
        address = self._addresses.get(ip)
        return address is not None and address.turn_at == at

    def _free_at(self, ip: str, now: float) -> float:
        """When the next request may start; `NEVER`: when one that is out has ended."""
        address = self._addresses.get(ip)
        if address is None or not self._limited:
            return now
        if address.out >= self._settings.per_address * self._settings.per_host:
            return NEVER
        limits = [most * self._settings.per_address for most in limits_of(self._settings)]
        return max(address.next_start, now if address.made is None else address.made.free_at(limits, now))

    def _charge(self, lease: _Lease, ip: str, now: float) -> None:
        address = self._address(ip, now)
        address.out += 1
        address.next_start = max(address.next_start, now + self._settings.delay / self._settings.per_address)
        if any(limits_of(self._settings)):
            address.made = address.made or RequestCount()
            address.made.add(now)
        lease.charged.append(ip)

    def _set_turn(self, ip: str, address: _Address, now: float) -> None:
        at = self._free_at(ip, now)
        address.turn_at = at
        if at != NEVER:
            heapq.heappush(self._turns, (at, ip))

    def _address(self, ip: str, now: float) -> _Address:
        found = self._addresses.get(ip)
        if found is None:
            if len(self._addresses) >= self._sweep:
                busy = {ip: each for ip, each in self._addresses.items() if not each.is_idle(now)}
                self._addresses, self._sweep = busy, max(_SWEEP, 2 * len(busy))
            found = self._addresses[ip] = _Address()
        return found

    def __repr__(self) -> str:
        return f"<SharedAddresses: {len(self._addresses)} known, {self._in_line} hosts in line>"
