"""SeveralSearchers: several searchers are one. Implements `larm.seams.Searcher`; the one fan-out that larm has.

All are asked at the same time, each on a thread, first for the statistics of their words and then for pages; parts go on as
they come. Who does not answer in time is left behind: its thread ends by itself, as it has the same deadline.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

import msgspec

from larm.index.search.merging import Merging
from larm.index.search.results import Results, corrected
from larm.kit.clock import SystemClock
from larm.kit.deadline import Deadline
from larm.kit.threads.workers import Workers
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics, summed
from larm.seams import Clock, Searcher

_Answer = TypeVar("_Answer")
_Ask = Callable[[Searcher], Iterable[_Answer]]


class SeveralSearchers:
    """At least one; their names differ. Any thread."""

    def __init__(self, searchers: Sequence[Searcher], weights: Sequence[float] = (), clock: Clock | None = None) -> None:
        """``weights``: what the hits of each count (YIOOP-75); without them all count alike."""
        # constant after construction
        self.name = ", ".join(each.name for each in searchers)
        self._searchers = tuple(searchers)
        self._weights = tuple(weights)
        self._clock = clock or SystemClock()

    def results(self, asked: Asked) -> Results:
        """One page of results of all of them. Never raises for what a searcher does."""
        return corrected(asked, self._results)

    def findings(self, asked: Asked) -> Findings:
        """The same page as one part of somebody else's answer; as it was typed."""
        results = self._results(asked)
        return Findings(searcher=self.name, failure="; ".join(results.unanswered), **results.shown)

    def _results(self, asked: Asked) -> Results:
        began = self._clock.monotonic()
        merging = Merging(asked, [each.name for each in self._searchers], self._weights)
        for part in self.search(asked):
            merging.add(part)
        return merging.results(self._clock.monotonic() - began)

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """Of those that answer; None where there are none."""
        found = self.all_statistics(asked)
        return summed(found) if found else None

    def all_statistics(self, asked: Asked) -> list[WordStatistics]:
        """Return those of each searcher that answers."""
        return [each for each in self._each(lambda searcher: [searcher.statistics(asked)], asked.seconds) if each is not None]

    def search(self, asked: Asked) -> Iterator[Findings]:
        """The parts of all, as they come. One searcher is asked here and now, as if there were nothing in between."""
        if len(self._searchers) == 1:
            yield from self._searchers[0].search(asked)
            return
        deadline = Deadline(self._clock, asked.seconds)
        known = asked.statistics or self.statistics(_hurried(asked))
        # Any of them may have all that is shown. YIOOP-57 asks each of n for 1.6/n of it: Yioop's servers have a share of every
        # site, whereas an index here may be the only one about a thing.
        hits = min(max(1, asked.number) * max(1, asked.page), MOST_HITS)
        each = msgspec.structs.replace(asked, number=hits, page=1, statistics=known, seconds=deadline.left())
        yield from self._each(lambda searcher: searcher.search(each), each.seconds)

    def _each(self, ask: _Ask[_Answer], seconds: float | None) -> Iterator[_Answer]:
        """Answers as they come, until all have answered or the time is over."""
        came: SimpleQueue[_Answer | BaseException | None] = SimpleQueue()
        workers = Workers(lambda _, error: came.put(error))
        for number, searcher in enumerate(self._searchers, 1):
            workers.start(f"larm-search-{number}", partial(_hand_on, ask, searcher, came))
        deadline = Deadline(self._clock, seconds)
        waited = len(self._searchers)
        while waited:
            try:
                answer = came.get(timeout=deadline.left())
            except Empty:
                return
            if isinstance(answer, BaseException):
                raise answer  # a searcher never raises for what can happen: this is a mistake of ours
            if answer is None:
                waited -= 1
            else:
                yield answer


def _hand_on(ask: _Ask[_Answer], searcher: Searcher, came: SimpleQueue[_Answer | BaseException | None]) -> None:
    for answer in ask(searcher):
        if answer is not None:
            came.put(answer)
    came.put(None)


def _hurried(asked: Asked) -> Asked:
    """Half of the time is for the statistics: an index that hangs must not leave none for the others' pages."""
    return asked if asked.seconds is None else msgspec.structs.replace(asked, seconds=asked.seconds / 2)
