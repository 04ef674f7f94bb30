"""SavedHost: a host record as the checkpoint keeps it (LARM-116).

A monotonic clock means nothing to the next process, so times are written as wall time; in a run, as the wall clock would
show it had nobody set it. A clock that was set back, or far ahead, between two runs must not stall a host: nobody waits longer
than was left at the cut, nor longer than `LONGEST_WAIT`.
"""

import msgspec

from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import LONGEST_WAIT, Delayed, Host, OriginRobots
from larm.frontier.queue_row import QueueRow
from larm.frontier.request_count import RequestCount
from larm.frontier.traps.saved import row_of
from larm.kit.disk.caching_queue import QueueState
from larm.model.message import URLMessage


class HostRow(msgspec.Struct, frozen=True, array_like=True):
    """The record without the queues."""

    robots: dict[str, OriginRobots]
    robots_tasks: list[URLMessage]
    delayed: list[tuple[float, URLMessage]]
    running: list[tuple[URLMessage, bool]]
    next_start: float
    health: int
    backoffs: int
    dormant: bool
    dormancies: int
    saved: float = 0.0
    """Wall time of the cut."""
    traps: bytes = b""
    """`larm.frontier.traps.saved.row_of`."""
    blocked: bool = False
    frozen: bool = False
    address: str = ""
    errors: int = 0
    made: list[tuple[float, int]] = []
    """`RequestCount.state`."""


class SavedHost(msgspec.Struct, frozen=True, array_like=True):
    """One row of the checkpoint."""

    key: str
    row: HostRow
    queue: QueueRow
    parked: QueueRow
    bands: dict[int, QueueRow] = {}
    """Of the queue but the first, where the crawl has an order."""


class HostCut(msgspec.Struct, frozen=True):
    """A host at the moment of the cut: copies only, so that they can be encoded while the crawl goes on."""

    key: str
    row: HostRow
    queue: QueueState[URLMessage]
    parked: QueueState[URLMessage]
    bands: dict[int, QueueState[URLMessage]]

    def encode(self) -> bytes:
        """The bytes of its row."""
        bands = {band: QueueRow.of(state) for band, state in self.bands.items()}
        return _encoder.encode(SavedHost(self.key, self.row, QueueRow.of(self.queue), QueueRow.of(self.parked), bands))


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SavedHost)


def decode_host(data: bytes) -> SavedHost:
    """Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage."""
    return _decoder.decode(data)


def cut_host(host: Host, wall_minus_monotonic: float, wall: float) -> HostCut:
    """Copy a host, at the time ``wall``; the book's lock is held."""
    shift = wall_minus_monotonic
    row = HostRow(
        {scheme: msgspec.structs.replace(each, expires=each.expires + shift) for scheme, each in host.robots.items()},
        [*host.arriving.values(), *host.robots_tasks],
        [(each.not_before + shift, each.message) for each in host.delayed] if host.delayed else [],
        [*host.pending.values(), *host.running.values()],
        host.next_start + shift,
        host.health,
        host.backoffs,
        host.dormant,
        host.dormancies,
        wall,
        row_of(host.traps) if host.traps is not None else b"",
        host.blocked,
        host.frozen,
        host.address,
        host.errors,
        [(over + shift, made) for over, made in host.made.state()] if host.made is not None else [],
    )
    bands = host.queue.snapshots() if isinstance(host.queue, BandedQueue) else {}
    return HostCut(host.key, row, host.queue.snapshot(), host.parked.snapshot(), bands)


def fill_host(host: Host, saved: SavedHost, wall: float, monotonic: float) -> None:
    """Give a fresh `Host` (whose queues are restored already) the state that was saved.

    What was in flight is queued again, in front; a robots.txt in flight is a task again.
    """
    row = saved.row

    def left(then: float) -> float:
        return then - max(wall, row.saved)

    def from_wall(then: float) -> float:
        return monotonic + min(left(then), LONGEST_WAIT)  # what is past stays past: it may be asked by who began before

    host.robots = {
        scheme: msgspec.structs.replace(each, expires=monotonic + left(each.expires)) for scheme, each in row.robots.items()
    }
    host.robots_tasks = [message for message, robots in row.running if robots] + row.robots_tasks
    host.queue.put_front([message for message, robots in row.running if not robots])
    older = -len(row.delayed)  # than those to come, whose numbers begin with 0
    host.delayed = [Delayed(from_wall(then), number, message) for number, (then, message) in enumerate(row.delayed, older)]
    host.delayed.sort()
    host.next_start = from_wall(row.next_start)
    host.health, host.backoffs = row.health, row.backoffs
    host.dormant, host.dormancies = row.dormant, row.dormancies
    host.blocked, host.frozen = row.blocked, row.frozen
    host.address = row.address
    host.errors = row.errors
    if row.made:
        host.made = RequestCount([(from_wall(over), made) for over, made in row.made])
