"""HostRecords: makes the record of a host, new or from its row of the checkpoint (LARM-116). `cut_host` makes the row.

Belongs to the `HostBook` and is guarded by its lock; keeps none of the records.

A monotonic clock means nothing to the next process, so rows have wall times: within a run, those of a wall clock that nobody
sets. If the clock was set between two runs, no host waits longer than was left at the cut, nor longer than `LONGEST_WAIT`.
"""

import secrets

import msgspec

from larm.config import FrontierSettings, Site
from larm.errors import REPAIR, StorageError
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import LONGEST_WAIT, Delayed, Host, HostState, OriginRobots
from larm.frontier.politeness import next_start
from larm.frontier.queue_row import QueueRow
from larm.frontier.request_count import RequestCount
from larm.frontier.traps.host_traps import HostTraps
from larm.frontier.traps.saved import row_of, traps_of
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.message import URLMessage, pack_messages, unpack_messages
from larm.model.sites import SiteTable
from larm.seams import Clock, CrawlOrder


class HostRow(msgspec.Struct, frozen=True, array_like=True):
    """The record without the queues."""

    robots: dict[str, OriginRobots]
    robots_tasks: list[URLMessage]
    delayed: list[tuple[float, URLMessage]]
    running: list[tuple[URLMessage, bool]]
    next_start: float
    state: HostState
    saved: float = 0.0
    """Wall time of the cut."""
    traps: bytes = b""
    """`larm.frontier.traps.saved.row_of`."""
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
        return encode_host(SavedHost(self.key, self.row, QueueRow.of(self.queue), QueueRow.of(self.parked), bands))


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SavedHost)


def encode_host(saved: SavedHost) -> bytes:
    """The inverse of `decode_host`."""
    return _encoder.encode(saved)


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
        host.kept(),
        wall,
        row_of(host.traps) if host.traps is not None else b"",
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
    for name in HostState.__struct_fields__:
        setattr(host, name, getattr(row.state, name))
    if row.made:
        host.made = RequestCount([(from_wall(over), made) for over, made in row.made])


ROW = "host/"
"""Prefix of the keys of host rows in the store."""


class HostRecords:
    """Of one crawl."""

    def __init__(
        self,
        store: BlockStore,
        settings: FrontierSettings,
        clock: Clock,
        *,
        clock_moved: float,
        order: CrawlOrder | None,
        sites: SiteTable[Site],
    ) -> None:
        """See `larm.frontier.hosts.HostBook`."""
        # constant after construction
        self._store = store
        self._settings = settings
        self._clock = clock
        self._order = order
        self._sites = sites
        self._began = clock.monotonic()
        self._run = secrets.randbits(63)
        self.shift = clock.wall() - clock_moved - self._began
        """From monotonic times to those of rows, the same all the time."""

    def new(self, key: str, *, met: bool) -> Host:
        """``met``: the last process may have met it after its last checkpoint, and asked it."""
        queue, parked = self._host_queue(key), self.queue(f"robots-{key}")
        host = Host(self._settings.health, key=key, queue=queue, parked=parked)
        host.pace = self._sites.of_host(key)
        if met:
            self._rest(host)
        return host

    def restore(self, key: str, row: bytes) -> Host:
        """Raises StorageError for a row that is damaged."""
        try:
            saved = decode_host(row)
            queue, parked = self._host_queue(key, saved), self.queue(f"robots-{key}", saved.parked.state())
            host = Host(self._settings.health, key=key, queue=queue, parked=parked)
            traps = self.traps(key, saved.row.traps) if saved.row.traps else None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StorageError(f"{self._store}: the record {ROW}{key} is damaged ({error}); {REPAIR}") from error
        now = self._clock.monotonic()
        fill_host(host, saved, now + self.shift, now)
        host.traps, host.pace = traps, self._sites.of_host(key)
        self._rest(host)
        return host

    def traps(self, key: str, row: bytes = b"") -> HostTraps:
        """From its row; none: for a host that has none yet."""

        def make_queue(number: int, state: QueueState[URLMessage] | None) -> CachingQueue[URLMessage]:
            return self.queue(f"trap{number}-{key}", state)

        return traps_of(row, make_queue, self._run)

    def _host_queue(self, key: str, saved: SavedHost | None = None) -> CachingQueue[URLMessage] | BandedQueue:
        """Banded where the crawl has an order, or had one when it was saved."""
        if self._order is None and not (saved and saved.bands):
            return self.queue(band_name(key, 0), saved.queue.state() if saved else None)
        banded = BandedQueue(
            lambda band, number: self.queue(band_name(key, band), QueueState([], b"", [], number)), self._order
        )
        if saved:
            states = {0: saved.queue.state()} | {band: row.state() for band, row in saved.bands.items()}
            for band, state in states.items():
                banded.restore(band, self.queue(band_name(key, band), state))
        return banded

    def queue(self, name: str, state: QueueState[URLMessage] | None = None) -> CachingQueue[URLMessage]:
        """Of messages, as it was or empty."""
        size = self._settings.host_block
        if state is None:
            return CachingQueue(name, size, self._store, pack_messages, unpack_messages)
        return CachingQueue.restore(state, name, size, self._store, pack_messages, unpack_messages)

    def _rest(self, host: Host) -> None:
        """The last process may have asked it after its last checkpoint."""
        first = next_start(self._began, host.delay(self._settings), host.crawl_delay, 0.0, 0.0)
        host.next_start = max(host.next_start, first)


def band_name(key: str, band: int) -> str:
    """Of the queue of a host, in the store."""
    return f"band{band}-{key}" if band else f"host-{key}"
