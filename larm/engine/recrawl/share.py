"""Share: which pages a revisit asks for that asks for a share of them: a sample, then those that have most likely changed.

Used by `larm.engine.recrawl.revisit`, on the thread that saves checkpoints. It looks through all rows a few times, and keeps
the fingerprints of those that it has chosen.

Changes of a page are taken for a Poisson process (Cho and Garcia-Molina, Estimating frequency of change, 2003). A page that was
seen a few times says little of its rate, so those of its folder, its host and all pages count beside its own, less the more
is known of it. What `Recrawl` has asked for as a sample so tells which folders have changed (Cho and Ntoulas, Effective change
detection using sampling, 2002). What a sitemap claims counts by how often such claims were right on its host.
"""

import heapq
import math
from collections.abc import Callable, Iterator

import xxhash

from larm.store.pages.page_book import date
from larm.store.pages.page_row import PageRow, Past

_WEIGHT = 1.0
"""Changes for which the rate of a larger group counts beside those of a smaller one."""
_RATE = 1 / (30 * 86_400)
"""Changes a second where nothing is known."""
_OLDEST = 10 * 365 * 86_400
"""Seconds; a page that is older says no more than that."""
_BELIEVED = 0.9
"""Share of claims that are right where none was looked into; it counts as one claim."""
_NOTHING = Past()


class Likely:
    """`add` all rows, then ask for the `chance` of each."""

    def __init__(self, now: float) -> None:
        """``now``: wall time."""
        # constant after construction
        self._now = now
        # only the calling thread
        self._all = [0.0, 0.0]
        self._hosts: dict[str, list[float]] = {}
        self._folders: dict[str, list[float]] = {}
        self._claims: dict[str, list[int]] = {}

    def add(self, row: PageRow) -> None:
        """One page."""
        changes, seconds = _observed(row)
        groups = (self._all, self._hosts.setdefault(row.host, [0.0, 0.0]), self._folders.setdefault(_folder(row), [0.0, 0.0]))
        for group in groups:
            group[0] += changes
            group[1] += seconds
        if row.past is not None and (row.past.right or row.past.wrong):
            claims = self._claims.setdefault(row.host, [0, 0])
            claims[0] += row.past.right
            claims[1] += row.past.right + row.past.wrong

    def chance(self, row: PageRow) -> float:
        """That it is another one now."""
        rate = _RATE
        for changes, seconds in (self._all, self._hosts[row.host], self._folders[_folder(row)], _observed(row)):
            rate = (changes + _WEIGHT) / (seconds + _WEIGHT / rate)
        same = math.exp(-rate * max(self._now - (row.fetched or row.last.asked), 1.0))
        if row.past is not None and row.past.claimed:
            right, all_claims = self._claims.get(row.host, (0, 0))
            same *= 1 - (right + _BELIEVED) / (all_claims + 1)
        return 1 - same


def _folder(row: PageRow) -> str:
    path = row.access.partition("?")[0]
    return path[: path.rfind("/")]


def _observed(row: PageRow) -> tuple[float, float]:
    """Changes that were seen, and the seconds for which they would have been: also before, as its server says."""
    past = row.past or _NOTHING
    since = past.since or row.fetched
    begun = min(since, date(row.known.last_modified) or since)
    return (past.changes if row.stored else 0.0), float(min(max(row.fetched - begun, 0), _OLDEST))


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
