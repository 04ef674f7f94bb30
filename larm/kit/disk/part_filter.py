"""PartFilter: which of some numbers may be among those on the disk; it learns of these a part at a time, the lowest first.

Most of what is asked for is not there, and to find that out on the disk takes longer the more there is: 2 us for each run of
`larm.kit.disk.sorted_runs`. Here it takes .3 us. What is on the disk is all that has to be kept: a start reads none of it, but
each checkpoint a little, and what lies beyond that may be anywhere. Belongs to `SortedRuns`: one thread adds, one asks.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from larm.kit.disk.bit_filter import BitFilter

END = 2**63
"""No number is that high."""
_LEAST, _MOST = 4, 8
"""Bits for each number that is there: with fewer than 4 one of five is looked for in vain, and another with 8 takes over."""


class PartFilter:
    """63-bit numbers, evenly spread."""

    def __init__(self, entries: int) -> None:
        """``entries``: so many numbers are there."""
        size = (_MOST * entries).bit_length()
        # constant after construction
        self._room = (1 << size) // _LEAST
        # only grows: who asks sees what was added before
        self._bits = BitFilter(size)
        self.filled = 0
        """What is there below this was added."""

    def has_room(self, entries: int) -> bool:
        """Whether it is of use yet, with so many numbers."""
        return entries <= self._room

    def add(self, numbers: Iterable[int]) -> None:
        """They are there, or will be."""
        self._bits.add(numbers)

    def possible(self, ordered: Sequence[int]) -> Sequence[int]:
        """Of sorted numbers those that may be there."""
        beyond = bisect_left(ordered, self.filled)
        return [*self._bits.known(ordered[:beyond]), *ordered[beyond:]]
