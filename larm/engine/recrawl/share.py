"""Share: which pages a revisit asks for that asks for a share of them: a sample, then those that have most likely changed.

Used by `larm.engine.recrawl.revisit`, on the thread that saves checkpoints. It looks through all rows a few times, and keeps
the fingerprints of those that it has chosen.
"""

import heapq
import math
from collections.abc import Callable, Iterator

import xxhash

from larm.engine.recrawl.likely import Likely
from larm.store.pages.page_row import PageRow

_SAMPLE = 0.2
"""Of the pages that are asked for, those that are chosen by chance: enough of them to tell folders of some ten pages apart."""


class Share:
    """Counts them when it is made; then `sample` or `best`, by fingerprint."""

    def __init__(self, rows: Callable[[], Iterator[tuple[int, PageRow, bool]]], share: float, now: float, salt: int) -> None:
        """``rows``: all pages there were before, and whether they were asked for. ``now``: wall time."""
        # constant after construction
        self._rows = rows
        self._salt = salt.to_bytes(8, "little")
        self._likely = Likely(now)
        known = asked = 0
        for _, row, was_asked in rows():
            self._likely.add(row)
            known += 1
            asked += was_asked
        self.due = known - asked
        """Pages that it has not asked for."""
        self._all = math.ceil(share * known)
        self._room = max(self._all - asked, 0)

    def sample(self) -> set[int]:
        """By chance; half of them of those that a sitemap calls changed, as far as there are such. Empty: there is no room."""
        size = min(int(self._all * _SAMPLE), self._room)
        chosen = self._drawn(size // 2, lambda _, row: row.past is not None and bool(row.past.claimed))
        return chosen | self._drawn(size - len(chosen), lambda key, _: key not in chosen)

    def best(self) -> set[int]:
        """Those that have most likely changed."""
        chances = ((self._likely.chance(row), key) for key, row in self._due())
        return {key for _, key in heapq.nlargest(self._room, chances)}

    def _due(self) -> Iterator[tuple[int, PageRow]]:
        return ((key, row) for key, row, was_asked in self._rows() if not was_asked)

    def _drawn(self, number: int, may: Callable[[int, PageRow], bool]) -> set[int]:
        drawn = (
            (xxhash.xxh3_64_intdigest(self._salt + key.to_bytes(8, "little")), key) for key, row in self._due() if may(key, row)
        )
        return {key for _, key in heapq.nsmallest(number, drawn)}
