"""The row of a host's traps in the checkpoint, as bytes and back. Pure."""

from __future__ import annotations

import msgspec

from larm.frontier.queue_row import QueueRow
from larm.frontier.traps.records import PathRecord, Round


class SavedRecord(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One pattern; most have nothing behind ``tried``."""

    text: str
    breadth: int
    judged: int
    news: bytes
    state: int = 0
    tried: int = 0
    leaving: int = 0
    failures: int = 0
    queue: QueueRow | None = None
    """None: it never held anything back."""
    sifting: bool = False
    native: int = 0
    forced: bool = False


class SavedTraps(msgspec.Struct, array_like=True, frozen=True, gc=False, tag="traps"):
    """One host's; what came later is at the end and may be missing."""

    rule: int
    urls: int
    read: int
    records: dict[int, SavedRecord]
    paths: dict[int, PathRecord]
    parameters: dict[str, tuple[int, int]]
    claims: dict[int, int]
    newcomers: int
    choices: dict[str, list[int]]
    current: int = 0
    round: Round | None = None
    pulled: list[int] = []
    linking: list[int] = []
    over: int = 0
    start: bool = False
    grows: bool = False
    mark: int = 0
    counted: bool = False
    rounds: int = 0
    failed: int = 0
    searched: int = 0
    run: int = 0
    warm: int = 0


class _Older(msgspec.Struct, array_like=True, frozen=True):
    """What was written before patterns held anything back: only the counts still mean the same."""

    urls: int
    patterns: dict[int, object]
    paths: dict[int, PathRecord]


encode_traps = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SavedTraps).decode
_decode_older = msgspec.msgpack.Decoder(_Older).decode


def decode_traps(row: bytes) -> SavedTraps:
    """Raises msgspec.DecodeError, ValidationError or UnicodeDecodeError on damage."""
    try:
        return _decode(row)
    except msgspec.ValidationError:
        older = _decode_older(row)
        return SavedTraps(0, older.urls, 0, {}, older.paths, {}, {}, 0, {})
