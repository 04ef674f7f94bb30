"""HostLister: the hosts of a running crawl as a table, sorted and in pages. On the control thread only.

The records are looked at a few at a time under their lock, as the river needs that lock for each lease; and once a second at
most, however often somebody asks, unless something was ordered. They are those in memory; of the others, which were not used
for long, the first `_MOST` that have a text that is asked for; how many there are besides is said.
"""

from collections.abc import Callable

import msgspec

from larm.config import FrontierSettings
from larm.errors import UsageError
from larm.frontier.host import NEVER, Host
from larm.frontier.hosts import HostBook
from larm.frontier.shared_addresses import SharedAddresses
from larm.model.left import HostLeft
from larm.ops.control.requests import HostLine, Hosts, HostTable
from larm.seams import Clock

_AT_A_TIME = 100
"""Hosts: half a millisecond of the lock."""
_FRESH = 1.0
"""Seconds."""
_MOST = 1_000
"""Hosts of a page."""
_FIELDS = {field.name: field.type for field in msgspec.structs.fields(HostLine) if field.name != "closed"}


class HostLister:
    """`table` answers."""

    def __init__(
        self, book: HostBook, settings: Callable[[], FrontierSettings], clock: Clock, addresses: SharedAddresses
    ) -> None:
        # constant after construction
        self._book = book
        self._settings = settings
        self._clock = clock
        self._addresses = addresses
        # only the control thread
        self._lines: list[HostLine] = []
        self._looked = -_FRESH

    def table(self, asked: Hosts) -> HostTable:
        """Raises UsageError for what can't be sorted by, and for a page that can't be."""
        if asked.sort not in _FIELDS:
            raise UsageError(f"hosts can't be sorted by {asked.sort}, but by {', '.join(_FIELDS)}")
        if asked.page < 1 or not 1 <= asked.size <= _MOST:
            raise UsageError(f"pages are counted from 1, and have 1 to {_MOST:,} hosts")
        named: list[str] = []
        if asked.having and not self._book.is_whole:
            named = self._book.resting(asked.having)
            self._book.warm(named[:_MOST])
            self.forget()
        looked = self._look()
        lines = [line for line in looked if asked.having in line.host]
        lines.sort(key=lambda line: line.host)
        if asked.sort != "host":
            lines.sort(key=lambda line: getattr(line, asked.sort), reverse=_FIELDS[asked.sort] is not str)
        first = (asked.page - 1) * asked.size
        pages = -(-len(lines) // asked.size)
        resting = max(len(named[_MOST:]) if asked.having else len(self._book) - len(looked), 0)
        return HostTable(len(self._book), len(lines), asked.page, pages, tuple(lines[first : first + asked.size]), resting)

    def forget(self) -> None:
        """Something was ordered: look again."""
        self._looked = -_FRESH

    def _look(self) -> list[HostLine]:
        if self._clock.monotonic() < self._looked + _FRESH:
            return self._lines
        lines: list[HostLine] = []
        keys = self._book.in_memory()
        for first in range(0, len(keys), _AT_A_TIME):
            with self._book.lock:
                now = self._clock.monotonic()
                some = map(self._book.peek_locked, keys[first : first + _AT_A_TIME])
                lines += [self._line(host, now) for host in some if host is not None]
        self._lines, self._looked = lines, self._clock.monotonic()
        return lines

    def _line(self, host: Host, now: float) -> HostLine:
        settings = self._settings()
        left = host.traps.left(host.key) if host.traps is not None else HostLeft(host.key)
        ready = host.ready_at()
        return HostLine(
            host=host.key,
            state=_state(host, settings, now, self._addresses),
            queued=host.waiting,
            in_flight=host.requests,
            next=0.0 if ready == NEVER else round(max(ready - now, 0.0), 3),
            delay=max(float(host.delay(settings)), host.crawl_delay),
            health=host.health,
            backoffs=host.backoffs,
            robots=_robots(host),
            held=left.urls,
            closed=tuple(each.pattern for each in left.patterns),
            address=host.address,
        )


def _state(host: Host, settings: FrontierSettings, now: float, addresses: SharedAddresses) -> str:
    ready = host.ready_at()
    rows = (
        (host.blocked, "blocked"),
        (host.frozen, "moving"),
        (host.dormant, "given up"),
        (host.is_full(settings), "fetching"),
        (host.backoffs and ready > now, "left alone"),
        (host.is_slowed() and ready > now, "errors"),
        (host.robots_tasks or (host.parked and not len(host.queue)), "robots.txt"),
        (ready == NEVER, "fetching" if host.requests else "done"),
        (host.free_at(settings, now) > now, "at its limit"),
        (ready > now, "waiting"),
        (addresses.place_of(host.key, host.address)[0], "in line"),
    )
    return next((state for holds, state in rows if holds), "ready")


def _robots(host: Host) -> str:
    if not host.robots:
        return "not known yet"
    if any(each.rules is not None for each in host.robots.values()):
        return "known"
    return "loading"
