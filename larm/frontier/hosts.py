"""HostBook: all host records, and the one lock that guards them.

`HostQueues` (leases) and `RobotsDesk` (robots.txt) work on the records under this lock. Nothing waits for the network while it
is held; a queue may read or write a block of its own, which is measured at 0.2 ms for 100 messages.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

import msgspec

from larm.config import Frontier as Settings
from larm.errors import StorageError
from larm.frontier.host import Host
from larm.frontier.saved_host import HostCut, cut_host, decode_host, fill_host
from larm.kit.block_store import BlockStore
from larm.kit.caching_queue import CachingQueue, QueueState
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.seams import Clock

ROW = "host/"
"""Prefix of the keys of host rows in the store."""


class HostBook:
    """Records by host key. Read by `larm why`, written by the handler and the fetcher threads, copied by the tick thread."""

    def __init__(self, store: BlockStore, settings: Settings, clock: Clock) -> None:
        # constant after construction
        self.lock = threading.Lock()
        self._store = store
        self._settings = settings
        self._clock = clock
        # guarded by self.lock
        self._hosts: dict[str, Host] = {}
        self._changed: dict[str, Host] = {}

    def get_locked(self, key: str) -> Host:
        """The record, made on first sight. Whoever changes it says so with `changed_locked`."""
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = Host(key, self._settings.health, self._queue(f"host-{key}"), self._queue(f"robots-{key}"))
        return host

    def find_locked(self, key: str) -> Host | None:
        """The record, if there is one."""
        return self._hosts.get(key)

    def changed_locked(self, host: Host) -> None:
        """The next checkpoint must write this host."""
        self._changed[host.key] = host

    def waits(self, key: str) -> bool:
        """Whether anything waits at this host."""
        with self.lock:
            host = self._hosts.get(key)
            return host is not None and host.waiting > 0

    def __iter__(self) -> Iterator[Host]:
        """All records; the lock is held."""
        return iter(self._hosts.values())

    def __len__(self) -> int:
        return len(self._hosts)

    def cut(self) -> list[HostCut]:
        """Copies of the hosts that changed since the last cut. Called inside the gate's cut, by the tick thread."""
        shift = self._clock.wall() - self._clock.monotonic()
        with self.lock:
            changed, self._changed = self._changed, {}
            return [cut_host(host, shift) for host in changed.values()]

    def load(self, keys: Iterable[str]) -> None:
        """Read the rows of the last checkpoint. At start, before any other thread runs. Raises StorageError."""
        wall, monotonic = self._clock.wall(), self._clock.monotonic()
        for name in keys:
            try:
                saved = decode_host(self._store.get(name) or b"")
                host = Host(
                    saved.key,
                    self._settings.health,
                    self._queue(f"host-{saved.key}", saved.queue.state()),
                    self._queue(f"robots-{saved.key}", saved.parked.state()),
                )
            except msgspec.MsgspecError as error:
                raise StorageError(f"{self._store}: the record {name} is damaged ({error}); start over with --fresh") from error
            fill_host(host, saved, wall, monotonic)
            self._hosts[host.key] = host

    def block_keys(self) -> Iterator[str]:
        """Keys of all blocks that the queues refer to."""
        for host in self._hosts.values():
            yield from host.queue.keys()
            yield from host.parked.keys()

    def _queue(self, name: str, state: QueueState[URLMessage] | None = None) -> CachingQueue[URLMessage]:
        size = self._settings.host_block
        if state is None:
            return CachingQueue(name, size, self._store, encode_messages, decode_messages)
        return CachingQueue.restore(state, name, size, self._store, encode_messages, decode_messages)
