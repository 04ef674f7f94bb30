"""QueueRow: a caching queue of messages as a row of the checkpoint keeps it: its ends, and references to its blocks."""

from __future__ import annotations

import msgspec

from larm.kit.disk.caching_queue import QueueState
from larm.model.message import URLMessage, decode_messages, encode_messages


class QueueRow(msgspec.Struct, frozen=True, array_like=True):
    """A caching queue: its ends, and references to its blocks on the disk."""

    front: bytes
    blocks: bytes
    back: bytes
    next_number: int

    @classmethod
    def of(cls, state: QueueState[URLMessage]) -> QueueRow:
        """Encode what a snapshot copied."""
        return cls(encode_messages(state.front), state.blocks, encode_messages(state.back), state.next_number)

    def state(self) -> QueueState[URLMessage]:
        """The inverse of `of`; raises msgspec.DecodeError or UnicodeDecodeError on damage."""
        return QueueState(decode_messages(self.front), self.blocks, decode_messages(self.back), self.next_number)


EMPTY = QueueRow(encode_messages(()), b"", encode_messages(()), 0)
"""Of a queue in which there was never anything."""
