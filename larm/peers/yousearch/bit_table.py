"""BitTable: of each filter and bit, which summaries have it (YOUS-15). Pure; the registrar's lock guards it.

A row for each bit, with a bit for each summary: who has all words is a few rows and an AND, however many peers there are. Of
10,000 peers it has 240 MB, as their summaries have.
"""

from collections.abc import Sequence

from larm.peers.yousearch.summary import Parameters, positions

_GROWTH = 8
"""One part in so many more room is made where there is none; at least eight summaries."""


class BitTable:
    """Summaries by slots: small numbers, which are used again."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._width = 0
        """Bytes of a row."""
        self._rows = [bytearray() for _ in range(parameters.filters)]
        self._free: list[int] = []

    def add(self) -> int:
        """A slot for a summary, which has no bits yet."""
        if not self._free:
            self._widen()
        return self._free.pop()

    def put(self, slot: int, vectors: Sequence[bytes], *, changes: bool = False) -> None:
        """The bits of a slot are these, or differ where these are 1."""
        byte, mask = slot >> 3, 1 << (slot & 7)
        spread = [bytes(mask if value >> bit & 1 else 0 for bit in range(8)) for value in range(256)]
        kept = bytes(value if changes else value & ~mask for value in range(256))
        for rows, vector in zip(self._rows, vectors, strict=True):
            column = bytes(rows[byte :: self._width]).translate(kept)
            new = b"".join(map(spread.__getitem__, vector))
            rows[byte :: self._width] = (int.from_bytes(column) ^ int.from_bytes(new)).to_bytes(len(column))

    def remove(self, slot: int) -> None:
        """It is free again."""
        self.put(slot, [bytes(self.parameters.length // 8)] * self.parameters.filters)
        self._free.append(slot)

    def having(self, term: str) -> int:
        """The slots whose summaries have it, as bits of a number; the lowest is slot 0."""
        found = -1
        for rows, at in zip(self._rows, positions(term, self.parameters), strict=True):
            found &= int.from_bytes(rows[at * self._width : (at + 1) * self._width], "little")
        return max(0, found)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self._rows))

    def _widen(self) -> None:
        more = max(1, self._width // _GROWTH)
        old, self._width = self._width, self._width + more
        room = bytes(more)
        for j, rows in enumerate(self._rows):
            wider = bytearray()
            for at in range(self.parameters.length):
                wider += rows[at * old : (at + 1) * old]
                wider += room
            self._rows[j] = wider
        self._free += range(8 * self._width - 1, 8 * old - 1, -1)
