"""What a host's move is known by: its state, which is in the header of checkpoints, and its orders, which are in the journal.

Used by `larm.engine.moves` alone, in steps of the gate or under its lock.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from larm.errors import StorageError, UsageError
from larm.frontier.host_parts import AnyPart, Pages, decode_part
from larm.frontier.queue_row import QueueRow
from larm.store.pages.page_row import decode_row

NAME = "moves"


class Move(msgspec.Struct, array_like=True):
    """One host."""

    phase: str
    """``frozen``; ``leaving``: it is emptied; ``left``: pages are forgotten; ``arriving``."""
    id: str
    next: int = 0
    """Number of the part that has to come."""
    passes_on: bool = False
    """What waits there goes through the filters again, when it is emptied."""


class MovesState(msgspec.Struct, frozen=True):
    """What the header has of it."""

    moves: dict[str, Move] = {}
    had: dict[str, str] = {}
    """By host: the move by which it has come."""
    away: dict[str, QueueRow] = {}


class Freeze(msgspec.Struct, frozen=True, tag=True):
    """See `Moves.freeze`."""

    moves: dict[str, str]
    """Ids of the moves by hosts."""


class Thaw(msgspec.Struct, frozen=True, tag=True):
    """See `Moves.thaw`."""

    host: str


class Forget(msgspec.Struct, frozen=True, tag=True):
    """See `Moves.forget`."""

    hosts: tuple[str, ...]
    passes_on: bool = False


class Receive(msgspec.Struct, frozen=True, tag=True):
    """See `Moves.receive`."""

    parts: tuple[bytes, ...]


AnyMoveOrder = Freeze | Thaw | Forget | Receive
encode_order = msgspec.msgpack.Encoder().encode
_decoder: msgspec.msgpack.Decoder[AnyMoveOrder] = msgspec.msgpack.Decoder(AnyMoveOrder)


def decode_order(data: bytes) -> AnyMoveOrder:
    """As the journal has it."""
    return _decoder.decode(data)


def moves_state_of(parts: Mapping[str, Any]) -> MovesState:
    """Of `Header.parts`."""
    saved = parts.get(NAME)
    return msgspec.msgpack.decode(saved, type=MovesState) if saved else MovesState()


def checked_part(data: bytes) -> AnyPart:
    """It may come from anybody. Raises UsageError where it is none."""
    part = decode_part(data)
    if isinstance(part, Pages):
        try:
            foreign = any(decode_row(row, Path(part.host)).host != part.host for _, row in part.rows)
        except StorageError as error:
            raise UsageError(f"this is no part of a host: {error}") from error
        if foreign or not all(0 <= key < 1 << 63 for key, _ in part.rows):
            raise UsageError(f"{part.host}: this is no part of it, as it has pages of another host")
    return part
