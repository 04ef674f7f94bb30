"""QueueRow: a caching queue of messages as a row of the checkpoint keeps it: its ends, and references to its blocks."""

from __future__ import annotations

import msgspec

from larm.kit.disk.caching_queue import QueueState
from larm.model.message import URLMessage, pack_messages, unpack_messages


class QueueRow(msgspec.Struct, frozen=True, array_like=True):
    """A caching queue: its ends, and references to its blocks on the disk."""

    front: bytes
    blocks: bytes
    back: bytes
    next_number: int

    @classmethod
    def of(cls, state: QueueState[URLMessage]) -> QueueRow:
        """Encode what a snapshot copied."""
        return cls(pack_messages(state.front), state.blocks, pack_messages(state.back), state.next_number)

    def state(self) -> QueueState[URLMessage]:
        """The inverse of `of`; raises msgspec.DecodeError or UnicodeDecodeError on damage."""
        return QueueState(unpack_messages(self.front), self.blocks, unpack_messages(self.back), self.next_number)


EMPTY = QueueRow(pack_messages(()), b"", pack_messages(()), 0)
"""Of a queue in which there was never anything."""
