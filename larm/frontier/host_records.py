"""HostRecords: makes the record of a host with its queues, anew or from its row of the checkpoint.

Belongs to the `HostBook`, by whose lock it is guarded; it keeps none of what it makes.
"""

import secrets

import msgspec

from larm.config import Frontier as Settings
from larm.config import Site
from larm.errors import StorageError
from larm.frontier.banded_queue import BandedQueue
from larm.frontier.host import Host
from larm.frontier.politeness import next_start
from larm.frontier.saved_host import SavedHost, decode_host, fill_host
from larm.frontier.traps.host_traps import HostTraps
from larm.frontier.traps.saved import traps_of
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState
from larm.model.message import URLMessage, pack_messages, unpack_messages
from larm.model.sites import SiteTable
from larm.seams import Clock, CrawlOrder

ROW = "host/"
"""Prefix of the keys of host rows in the store."""


class HostRecords:
    """Of one crawl."""

    def __init__(
        self,
        store: BlockStore,
        settings: Settings,
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
        host = Host(key, self._settings.health, self._host_queue(key), self.queue(f"robots-{key}"))
        host.pace = self._sites.of_host(key)
        if met:
            self._rest(host)
        return host

    def restore(self, key: str, row: bytes) -> Host:
        """Raises StorageError for a row that is damaged."""
        try:
            saved = decode_host(row)
            host = Host(
                saved.key,
                self._settings.health,
                self._host_queue(saved.key, saved),
                self.queue(f"robots-{saved.key}", saved.parked.state()),
            )
            traps = self.traps(saved.key, saved.row.traps) if saved.row.traps else None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StorageError(f"{self._store}: the record {ROW}{key} is damaged ({error}); start over with --fresh") from error
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
