"""LookUps: addresses of host names, by threads of their own, so that names of which DNS says nothing hold up nobody else.

libcurl has twenty threads for that in each multi handle, and takes two for a name: ten names that hang would hold up all
others, which time out meanwhile. One for a crawl; any fetcher thread asks, and is answered on a thread ``larm-dns-<n>``.
"""

from __future__ import annotations

import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from larm.fetch.ip_address import address_of
from larm.kit.processes.open_files import files_allowed
from larm.kit.threads.workers import Workers
from larm.model.outcome import FailReason
from larm.model.url import MAX_CHARACTERS
from larm.seams import Clock

_MOST = 256
"""At a time: a name that hangs has a thread for as long as the system's resolver takes, some ten to thirty seconds."""
_IDLE = 5.0
"""Seconds after which a thread with nothing to do ends."""
_REMEMBERED = 20_000
"""Hosts that were looked up last: some 8 MB. Others are asked for again."""
CONNECT = 20.0
"""Seconds for a connection, and before that for the look-up: a dead host would hold a transfer for the whole time-out."""
DNS_TTL = 3_600.0
"""Seconds that addresses hold (LARM-126), as the answers of the system's resolver do not say it."""
_NAMED = re.compile(r"https?://([a-z0-9._-]{1,253})(?::[0-9]{1,5})?/", re.IGNORECASE)
_WITHOUT_DNS = (".localhost", ".onion")
FAMILIES = {"any": socket.AF_UNSPEC, "4": socket.AF_INET, "6": socket.AF_INET6}
"""Of the addresses that are asked for, by ``fetch.ip``."""


class Found(msgspec.Struct, frozen=True):
    """What became of a look-up."""

    addresses: tuple[str, ...] = ()
    reason: FailReason = FailReason.UNRESOLVED
    """Why there are none."""
    detail: str = ""


class LookUp:
    """One that somebody waits for."""

    __slots__ = ("answer", "host", "since")

    def __init__(self, host: str, answer: Callable[[LookUp, Found], object]) -> None:
        # constant after construction
        self.host = host
        self.answer = answer
        # written by its thread
        self.since: float | None = None
        """When it began, of the monotonic clock; None: it waits for a thread."""


def addresses_of(host: str, family: int = socket.AF_UNSPEC) -> list[str]:
    """As the system's resolver says, the best first; blocks. Raises OSError, UnicodeError."""
    entries = socket.getaddrinfo(host.encode("ascii"), None, family, socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def name_in(url: str) -> str:
    """The host name in an address that DNS must be asked for; empty: it is an IP address, or nonsense that libcurl refuses, or
    libcurl knows it without DNS (RFC 6761 6.3), or refuses it, as DNS must not be asked for it (RFC 7686 2)."""
    found = _NAMED.match(url) if len(url) <= MAX_CHARACTERS and "\0" not in url else None
    host = found[1].rstrip(".") if found else ""
    known = f".{host}".lower().endswith(_WITHOUT_DNS) or (host[-1:].isdigit() and address_of(host) is not None)
    return "" if known else host


class LookUps:
    """``ask`` starts one; ``known`` is what was found lately. Failures are not remembered: each try asks again."""

    def __init__(
        self,
        clock: Clock,
        ip: str = "any",
        most: int = _MOST,
        resolve: Callable[[str, int], Sequence[str]] = addresses_of,
    ) -> None:
        """``ip``: as ``fetch.ip``. Of the files that may be open, ``most`` look-ups at a time have an eighth: what could open
        none would be taken for a name that there is not."""
        # constant after construction
        self._clock = clock
        self._family = FAMILIES[ip]
        self._most = max(1, min(most, files_allowed() // 8))
        self._resolve = resolve
        self._workers = Workers(lambda _, __: None)  # what a look-up raises is its answer
        self._bell = threading.Condition()
        # guarded by self._bell
        self._waiting: deque[LookUp] = deque()
        self._threads = self._idle = 0
        self._known: dict[str, tuple[float, Found]] = {}  # until when, the first one first
        self._closed = False

    def known(self, host: str) -> Found | None:
        """Where it is, if it was looked up lately."""
        with self._bell:
            until, found = self._known.get(host, (0.0, None))
            return found if self._clock.monotonic() < until else None

    def forget(self, host: str) -> None:
        """Nothing answers there, so it may have moved: whoever comes next asks again."""
        with self._bell:
            self._known.pop(host, None)

    def ask(self, host: str, answer: Callable[[LookUp, Found], object]) -> LookUp:
        """Returns at once; ``answer`` is called on another thread, on this one only where none may be started."""
        asked = LookUp(host, answer)
        with self._bell:
            self._waiting.append(asked)
            if len(self._waiting) <= self._idle:
                self._bell.notify()
            elif self._threads < self._most and not self._begin_locked() and not self._threads:
                self._waiting.remove(asked)
                answer(asked, Found((), FailReason.DROPPED, f"{host} could not be looked up: no thread may be started"))
        return asked

    @property
    def under_way(self) -> int:
        """Threads that look something up, also what nobody waits for any more."""
        return self._threads - self._idle

    @property
    def waiting(self) -> int:
        """Names that wait for a thread, as all look up something else."""
        return len(self._waiting)

    def close(self) -> None:
        """Nobody is waited for: what hangs ends with the process at the latest."""
        with self._bell:
            self._closed = True
            self._waiting.clear()
            self._bell.notify_all()

    def _begin_locked(self) -> bool:
        """One more thread; False: the system allows none, so those there are do the work."""
        try:
            self._workers.start(f"larm-dns-{self._threads + 1}", self._work)
        except RuntimeError:
            return False
        self._threads += 1
        return True

    def _work(self) -> None:
        while (asked := self._next()) is not None:
            try:
                found = Found(tuple(self._resolve(asked.host, self._family)))
            except socket.gaierror as error:
                found = Found((), FailReason.UNRESOLVED, f"Could not resolve host: {asked.host} ({error.strerror})")
            except Exception as error:  # noqa: BLE001  whatever it is, somebody waits for an answer
                found = Found((), FailReason.DROPPED, f"{asked.host} could not be looked up: {error}")
            self._note(asked.host, found)
            asked.answer(asked, found)

    def _next(self) -> LookUp | None:
        with self._bell:
            while not self._waiting:
                self._idle += 1
                rung = not self._closed and self._bell.wait(_IDLE)
                self._idle -= 1
                if not (rung or self._waiting):
                    self._threads -= 1
                    return None
            asked = self._waiting.popleft()
            asked.since = self._clock.monotonic()
            return asked

    def _note(self, host: str, found: Found) -> None:
        now = self._clock.monotonic()
        with self._bell:
            self._known.pop(host, None)
            while self._known and (len(self._known) >= _REMEMBERED or next(iter(self._known.values()))[0] <= now):
                del self._known[next(iter(self._known))]
            if found.addresses:
                self._known[host] = now + DNS_TTL, found

    def __repr__(self) -> str:
        return f"<LookUps: {self.under_way} under way, {self.waiting} waiting, {len(self._known):,} known>"
