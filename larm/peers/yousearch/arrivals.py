"""Arrivals: summaries that come in pieces, until the last one is there. The registrar's lock guards it."""

from __future__ import annotations

import msgspec

from larm.kit.decoding import decoded_msgpack
from larm.peers.yousearch.protocol import Piece
from larm.peers.yousearch.summary import WireSummary
from larm.seams import Clock

_MOST = 64
"""At a time: a hundred megabytes."""
_MOST_OF_ONE = 4
"""Of one who pays for it."""
_PATIENCE = 60.0
"""Seconds, for all pieces to come."""


class _Arrival:
    def __init__(self, payer: str, piece: Piece, until: float) -> None:
        self.payer = payer
        self.name = piece.summary_name
        self.before = piece.before
        self.until = until
        self.pieces: list[bytes | None] = [None] * piece.of


class Arrivals:
    """Of one registrar, by the keys of peers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._each: dict[str, _Arrival] = {}

    def take(self, key: str, payer: str, piece: Piece) -> bool | WireSummary:
        """The summary with its last piece; until then True; False where there is no room, or it makes no summary."""
        now = self._clock.monotonic()
        self._each = {name: each for name, each in self._each.items() if each.until > now}
        arrival = self._each.get(key)
        if arrival is None or (arrival.name, arrival.before, len(arrival.pieces)) != (
            piece.summary_name,
            piece.before,
            piece.of,
        ):
            others = [each for name, each in self._each.items() if name != key]
            if len(others) >= _MOST or sum(each.payer == payer for each in others) >= _MOST_OF_ONE:
                return False
            arrival = self._each[key] = _Arrival(payer, piece, now + _PATIENCE)
        if piece.number >= piece.of:
            return False
        arrival.pieces[piece.number] = piece.data
        there = [each for each in arrival.pieces if each is not None]
        if len(there) < piece.of:
            return True
        del self._each[key]
        try:
            return decoded_msgpack(b"".join(there), WireSummary)
        except msgspec.MsgspecError:
            return False

    def forget(self, key: str) -> None:
        """It has gone."""
        self._each.pop(key, None)
