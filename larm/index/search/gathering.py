"""Gathering: an answer that grows while somebody looks at it (YOUS-21, 22). What was shown once stays where it is.

One thread fills it, any others read it.
"""

import threading
from collections.abc import Sequence

import msgspec

from larm.index.search.merging import Merging
from larm.index.search.results import Results
from larm.index.search.several import SeveralSearchers
from larm.kit.deadline import Deadline
from larm.model.findings import Asked
from larm.model.hit import Hit
from larm.seams import Clock, Searcher


class Gathering:
    """The first page of one search."""

    def __init__(self, asked: Asked, searchers: Sequence[Searcher], clock: Clock) -> None:
        # constant after construction
        self._asked = asked
        self._searchers = SeveralSearchers(searchers, clock=clock)
        self._clock = clock
        self._began = clock.monotonic()
        self._changed = threading.Condition()
        # guarded by self._changed
        self._merging = Merging(asked, [each.name for each in searchers])
        self._parts = 0
        self._hits = 0
        self._shown: list[Hit] = []
        self._took = 0.0
        self.complete = False
        """Nothing more will come."""

    def run(self) -> None:
        """Until all have answered, or their time is over."""
        try:
            for part in self._searchers.search(self._asked):
                with self._changed:
                    self._merging.add(part)
                    self._parts += 1
                    self._hits += len(part.hits)
                    self._changed.notify_all()
        finally:
            with self._changed:
                self.complete = True
                self._changed.notify_all()

    def wait_for_some(self, soon: float) -> None:
        """Until there is something to show and ``soon`` seconds are over, or nothing more will come."""
        deadline = Deadline(self._clock, soon)
        with self._changed:
            self._changed.wait_for(lambda: self.complete, deadline.left())
            self._changed.wait_for(lambda: self.complete or self._hits > 0, self._asked.seconds)

    def wait(self, parts: int, seconds: float) -> int:
        """Until more than so many parts have come, or all; how many have."""
        with self._changed:
            self._changed.wait_for(lambda: self.complete or self._parts > parts, seconds)
            return self._parts

    def results(self) -> Results:
        """As of now: what was in the results before stands where it stood, what is new comes after it."""
        with self._changed:
            if not self.complete or not self._took:
                self._took = self._clock.monotonic() - self._began
            found = self._merging.results(self._took, waiting=not self.complete)
            known = {hit.url for hit in self._shown}
            self._shown += [hit for hit in found.hits if hit.url not in known]
            return msgspec.structs.replace(found, hits=tuple(self._shown), exact=found.exact and self.complete)

    def order(self) -> list[int]:
        """Places among the results that were shown, from 0 on, the best first, by all that has come; last are those that are
        not among the first page's by now."""
        with self._changed:
            places = {hit.url: place for place, hit in enumerate(self._shown)}
            best = [places.pop(hit.url) for hit in self._merging.results(self._took).hits if hit.url in places]
            return [*best, *places.values()]
