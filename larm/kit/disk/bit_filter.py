"""BitFilter: which of some numbers may be among those that were added: a bit for each, in bounded memory.

Of those that were not added a few are taken for such, more of them the more there are: of 16 MB, 5 % with seven million
numbers, 41 % with seventy million. One bit of a number is asked, as Python takes a microsecond for five of them. One thread
adds, one other may ask meanwhile.
"""

from collections.abc import Iterable, Sequence


class BitFilter:
    """Of numbers whose bits are those of a hash."""

    def __init__(self, bits: int = 27) -> None:
        """2 to the power of ``bits`` of them, as many as numbers have or fewer."""
        self._bits = bytearray(1 << bits - 3)
        self._place = (1 << bits - 3) - 1

    def add(self, numbers: Iterable[int]) -> None:
        """From now on they are known."""
        bits, place = self._bits, self._place
        for number in numbers:
            bits[number >> 3 & place] |= 1 << (number & 7)

    def known(self, numbers: Sequence[int]) -> list[int]:
        """Those that were added, and a few others."""
        bits, place = self._bits, self._place
        return [number for number in numbers if bits[number >> 3 & place] >> (number & 7) & 1]
