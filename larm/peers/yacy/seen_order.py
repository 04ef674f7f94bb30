"""SeenOrder: the peers of the latest and of the oldest contact, without sorting all of them each time. Pure.

Both ends of the order are kept sorted, as far as they are asked for; the middle is not. Used by `larm.peers.yacy.membership`,
under its lock.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from heapq import nsmallest
from math import inf

_KEPT = 200
"""Number of peers at each end: twice as many as are asked for."""


class SeenOrder:
    """The order of ``names``. ``seen`` returns the time of a peer's contact, or None if it is none of them."""

    def __init__(self, names: Iterable[str], seen: Callable[[str], float | None]) -> None:
        # constant after construction
        self._names = names
        self._seen = seen
        # only under the owner's lock
        self._ends = {sign: _End() for sign in (-1, 1)}

    def put(self, name: str, seen: float) -> None:
        """Note a contact of a peer; earlier ones do not count any more."""
        for sign, end in self._ends.items():
            end.put(sign * seen, name)

    def youngest(self, number: int, fit: Callable[[str], bool]) -> list[str]:
        """Return the fit peers of the latest contact, the latest first."""
        return self._first(-1, number, fit)

    def oldest(self, number: int, fit: Callable[[str], bool]) -> list[str]:
        """Return the fit peers of the oldest contact, the oldest first."""
        return self._first(1, number, fit)

    def _first(self, sign: int, number: int, fit: Callable[[str], bool]) -> list[str]:
        end = self._ends[sign]
        found, kept, rows = list[str](), list[tuple[float, str]](), iter(end.rows)
        while len(found) < number and (row := next(rows, None)) is not None:
            seen = self._seen(row[1])
            if seen is not None and sign * seen == row[0]:  # no later contact
                kept.append(row)
                found += [row[1]] if fit(row[1]) else []
        end.rows = [*kept, *rows]
        if len(found) < number and end.bound < inf:  # the others are between the ends
            every = [(sign * seen, name) for name in self._names if (seen := self._seen(name)) is not None]
            end.rows = nsmallest(_KEPT, every)
            end.bound = end.rows[-1][0] if len(every) > _KEPT else inf
            found = [name for _, name in nsmallest(number, (row for row in every if fit(row[1])))]
        return found[:number]


class _End:
    __slots__ = ("bound", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[float, str]] = []
        self.bound = inf
        """Bound of the peers that are not among the rows."""

    def put(self, place: float, name: str) -> None:
        if place < self.bound:
            row = (place, name)
            at = bisect_left(self.rows, row)
            if self.rows[at : at + 1] != [row]:
                self.rows.insert(at, row)
            if len(self.rows) > _KEPT:
                self.bound = self.rows.pop()[0]
