"""BitFilter: which of some numbers may be among those that were added: a bit for each, in bounded memory.

Of those that were not added a few are taken for such, more of them the more there are: 5 % with seven million numbers, 41 %
with seventy million. One bit of a number is asked, as Python takes a microsecond for five of them. Used by one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_BITS = 1 << 27
"""16 MB."""
_PLACE = _BITS // 8 - 1


class BitFilter:
    """Of numbers whose bits are those of a hash, 31 of them or more."""

    def __init__(self) -> None:
        self._bits = bytearray(_BITS // 8)

    def add(self, numbers: Iterable[int]) -> None:
        """From now on they are known."""
        bits = self._bits
        for number in numbers:
            bits[number >> 3 & _PLACE] |= 1 << (number & 7)

    def known(self, numbers: Sequence[int]) -> list[int]:
        """Those that were added, and a few others."""
        bits = self._bits
        return [number for number in numbers if bits[number >> 3 & _PLACE] >> (number & 7) & 1]
