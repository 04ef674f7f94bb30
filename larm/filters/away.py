"""AwayHosts: what is found of hosts that are on their way from one crawl to another waits before the filters remember it.

A host that moves takes nothing in, here or there: so what is sent of it is all that there is, and what comes meanwhile is
judged where the host is in the end. A filter in front of ``visited``, in every chain, which costs nothing while no host moves.

`sift` runs on the handler thread, the others on that of whoever moves a host, in steps of the gate; `rows` in its cut.
"""

import threading
from collections.abc import Mapping, Sequence

from larm.frontier.queue_row import QueueRow
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.threads.tally import Tally
from larm.model.message import URLMessage, pack_messages, unpack_messages
from larm.seams import Drop


class AwayHosts:
    """Implements `larm.seams.Filter`. What waits here keeps the crawl going."""

    name = "away"
    log_name = "filter_errors"
    """It drops nothing, and has no log of its own."""

    def __init__(self, store: BlockStore, block_size: int, tally: Tally, rows: Mapping[str, QueueRow]) -> None:
        """``rows``: of the last checkpoint. Raises StorageError."""
        # constant after construction
        self._store = store
        self._block_size = block_size
        self._tally = tally
        self._lock = threading.Lock()
        # guarded by self._lock
        self._queues = {key: self._queue(key, row) for key, row in rows.items()}

    def __len__(self) -> int:
        """Messages that wait."""
        with self._lock:
            return sum(map(len, self._queues.values()))

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:  # noqa: ARG002
        """See `larm.seams.Filter`."""
        if not self._queues:
            return list(batch)
        passing: list[URLMessage] = []
        waiting: dict[str, list[URLMessage]] = {}
        with self._lock:
            for message in batch:
                key = message.url.host
                (waiting.setdefault(key, []) if key in self._queues else passing).append(message)
            for key, messages in waiting.items():
                self._queues[key].put_many(messages)
        self._tally.rise(len(batch) - len(passing))  # the handler lets it fall by all that do not pass
        return passing

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return "waits, as its host moves between two crawls" if message.url.host in self._queues else None

    def close_to(self, key: str) -> None:
        """What is found of this host waits here from now on."""
        with self._lock:
            if key not in self._queues:
                self._queues[key] = self._queue(key)

    def take(self, key: str, most: int) -> list[URLMessage]:
        """What waits, first come first; none: nothing is left, and its host is not away any more.

        The caller hands it on, and then lets the tally fall by as many.
        """
        with self._lock:
            queue = self._queues.get(key)
            taken = queue.take(most) if queue is not None else []
            if not taken:
                self._queues.pop(key, None)
            return taken

    def rows(self) -> dict[str, QueueRow]:
        """For the checkpoint."""
        with self._lock:
            return {key: QueueRow.of(queue.snapshot()) for key, queue in self._queues.items()}

    def _queue(self, key: str, row: QueueRow | None = None) -> CachingQueue[URLMessage]:
        name, size = f"away-{key}", self._block_size
        if row is None:
            return CachingQueue(name, size, self._store, pack_messages, unpack_messages)
        return CachingQueue.restore(row.state(), name, size, self._store, pack_messages, unpack_messages)
