"""Outboxes: a queue on the disk for each other agent, of the rows that wait for it, and one of what is looked for at others
(`larm.cluster.copies`). What they hold is in the checkpoint's cut.

The queues are only touched under the lock of the agent (`larm.cluster.agent`).
"""

from typing import Any

import msgspec

from larm.cluster.courier import Courier, Row
from larm.cluster.rows import decode_rows, encode_rows
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue, QueueState

_BLOCK = 500
_LOOKED_FOR = "looked for"
"""No name of an agent."""


class OutboxState(msgspec.Struct, frozen=True):
    """In the header of a checkpoint."""

    marks: Any = None
    lanes: dict[str, tuple[bytes, bytes, bytes, int]] = {}
    """Queues by agent: front, blocks, back, next number."""
    out: dict[str, bytes] = {}
    """What was on its way, by agent."""


class Outboxes:
    """``known``: what `cut` gave for the last checkpoint."""

    def __init__(self, store: BlockStore, known: object) -> None:
        """Raises StorageError."""
        # constant after construction
        self._store = store
        self._state = msgspec.convert(known or {}, OutboxState)
        # only under the agent's lock
        self._queues: dict[str, CachingQueue[Row]] = {
            name: CachingQueue.restore(QueueState(decode_rows(front), blocks, decode_rows(back), number), *self._parts(name))
            for name, (front, blocks, back, number) in self._state.lanes.items()
        }
        self.looked_for = self.queue(_LOOKED_FOR)
        self.asked: list[Row] = []
        """What others are asked for now, before all that is looked for."""

    @property
    def marks(self) -> object:
        """Of the `Inbox`, as they were."""
        return self._state.marks

    def queue(self, name: str) -> CachingQueue[Row]:
        """That of one agent, new where there is none."""
        found = self._queues.get(name)
        if found is None:
            found = self._queues[name] = CachingQueue(*self._parts(name))
        return found

    def restore(self, courier: Courier) -> None:
        """What waited, and what was on its way before that."""
        for name in self._state.lanes.keys() - {_LOOKED_FOR}:
            courier.restore(name, [])
        for name, block in self._state.out.items():
            if name == _LOOKED_FOR:
                self.looked_for.put_front(decode_rows(block))
            else:
                courier.restore(name, decode_rows(block))

    def cut(self, courier: Courier, marks: object) -> object:
        """A copy for the checkpoint."""
        lanes = {}
        for name, waiting in self._queues.items():
            state = waiting.snapshot()
            lanes[name] = (encode_rows(state.front), state.blocks, encode_rows(state.back), state.next_number)
        out = {name: encode_rows(rows) for name, rows in (courier.out() | {_LOOKED_FOR: self.asked}).items() if rows}
        return msgspec.to_builtins(OutboxState(marks, lanes, out), builtin_types=(bytes,))

    def _parts(self, name: str) -> Any:
        return f"agent-{name}", _BLOCK, self._store, encode_rows, decode_rows
