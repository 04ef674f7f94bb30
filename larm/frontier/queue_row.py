"""QueueRow: a caching queue of messages as a row of the checkpoint keeps it: its ends, and references to its blocks."""

from __future__ import annotations

from collections.abc import Callable

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

    def __len__(self) -> int:
        state = self.state()
        return len(state.front) + len(state.back) + sum([length for _, length in state.numbers()])

    def without_lost(self, is_there: Callable[[int], bool]) -> tuple[QueueRow, int]:
        """The same without the blocks of which ``is_there``, of their numbers, is False; the messages that these had."""
        state = self.state()
        left = state.blocks_of(is_there)
        row = msgspec.structs.replace(self, blocks=left)
        return row, len(self) - len(row)


EMPTY = QueueRow(pack_messages(()), b"", pack_messages(()), 0)
"""Of a queue in which there was never anything."""
