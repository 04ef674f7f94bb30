"""SearchDesk: searches for many visitors at a time, on a few threads; and `Gatherings`, whose results come one after the other.

On the event loop, but for their threads. Each search has a deadline, so no thread is ever busy for long; a visitor who comes
when too many wait is told so at once.
"""

import json
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import msgspec
from anyio import to_thread
from starlette.requests import Request

from larm.config import ServeSettings
from larm.index.search.gathering import Gathering
from larm.index.search.results import Results
from larm.index.search.several import SeveralSearchers
from larm.index.search.suggesting import Suggestion, merged
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.model.findings import Asked
from larm.peers.yousearch.canonical import canonical
from larm.seams import Searcher
from larm.web.directories import Served, directories_of
from larm.web.events import event
from larm.web.metrics import Metrics

_FAR = 32
"""Searches that wait for other machines: who is slow there must not keep others from what is here."""
SEARCHES = 2
"""Searches at a time: Python runs one thread at a time, and each has an index open, with caches of its own."""
WAITING = 200
"""Searches that wait for their turn; further ones are refused. At 10 ms each the last one waits for a second."""
_LOOKS = 4
"""Pages, copies and the like that are read at a time."""
_PATIENCE = 0.5
"""Seconds; by then the next letter is typed."""
PATIENCE = 1.0
"""Seconds that peers have where nothing is shown before all have answered: 95 of a hundred answers of twenty were there in a
quarter of it, and who hangs and was never asked before is not waited for longer. A page that shows what has come by then gives
them what is configured."""
T = TypeVar("T")


class BusyError(Exception):
    """Too many searches wait."""


class SearchDesk:
    """One for a server."""

    def __init__(self, settings: ServeSettings, metrics: Metrics) -> None:
        # constant after construction
        self._settings = settings
        self._metrics = metrics
        # only the event loop
        self._searches = anyio.CapacityLimiter(SEARCHES)
        self._far = anyio.CapacityLimiter(_FAR)
        self._looks = anyio.CapacityLimiter(_LOOKS)
        self._waiting = 0

    async def search(self, asked: Asked, searchers: Sequence[Searcher], *, far: bool = False) -> Results:
        """One page of results. ``far``: other machines are among them, which are waited for. Raises BusyError."""
        results = await self.run(SeveralSearchers(searchers).results, asked, far=far)
        self._metrics.searched(results)
        return results

    async def run(self, function: Callable[[Asked], T], asked: Asked, *, far: bool = False) -> T:
        """Something else that is a search: it has the same deadline. Raises BusyError."""
        if self._waiting >= SEARCHES + WAITING:
            self._metrics.refused.inc()
            raise BusyError
        self._waiting += 1
        try:
            limiter = self._far if far else self._searches
            return await to_thread.run_sync(function, self.limited(asked), limiter=limiter)
        finally:
            self._waiting -= 1

    def limited(self, asked: Asked) -> Asked:
        """With a deadline."""
        longest = float(self._settings.search_time)
        return msgspec.structs.replace(asked, seconds=longest if asked.seconds is None else min(longest, asked.seconds))

    async def suggest(self, typed: str, served: Sequence[Served]) -> tuple[Suggestion, ...]:
        """What somebody may be about to type; nothing where that takes too long."""

        def ask() -> tuple[Suggestion, ...]:
            return merged([each.searcher.suggest(typed, _PATIENCE / len(served)) for each in served])

        return await self.look(ask)

    async def look(self, function: Callable[..., T], *arguments: object) -> T:
        """Run what reads a disk on a thread; few at a time."""
        return await to_thread.run_sync(partial(function, *arguments), limiter=self._looks)


async def searchers_for(
    request: Request, asked: Asked, searchers: Sequence[Searcher], *, fresh: bool
) -> tuple[Sequence[Searcher], bool]:
    """Return the searchers for this query, and whether they have what its group keeps, in place of a search.

    A query in a group is for peers, not for what is here. Raises BusyError.
    """
    if request.app.state.peering is None or not canonical(asked.query).groups:
        return searchers, False
    directories, desk = directories_of(request), request.app.state.desk
    here = {each.name for each in directories.all()}
    others = [each for each in searchers if each.name not in here]
    kept = None if fresh or not others else await desk.run(directories.kept, asked, far=True)
    return ([kept], True) if kept is not None else (others or searchers, False)


_SOON = 0.05
"""Seconds after which a page is shown, if there is anything to show: it takes as long again to make it and send it."""
_MOST = 32
"""At a time. Each waits for other machines, and costs little meanwhile."""
_KEPT = 200
Render = Callable[[Results, int], tuple[str, str]]
"""Of results, of which so many were shown before: the new rows, and what there is to say of all."""


class Gatherings:
    """One for a server."""

    def __init__(self) -> None:
        # constant after construction
        self._clock = SystemClock()
        self._workers = Workers(lambda _, __: None)  # a gathering that fails is complete
        # only the event loop
        self._waits = anyio.CapacityLimiter(2 * _MOST)
        self._kept: OrderedDict[str, Gathering] = OrderedDict()

    async def begin(self, asked: Asked, searchers: Sequence[Searcher]) -> tuple[str, Results]:
        """Its name, empty where nothing more will come, and what there is by now. Raises BusyError."""
        if len(self._workers.alive()) >= _MOST:
            raise BusyError
        gathering = Gathering(asked, searchers, self._clock)
        self._workers.start("larm-gather", gathering.run)
        await to_thread.run_sync(gathering.wait_for_some, _SOON, limiter=self._waits)
        results = gathering.results()
        if gathering.complete:
            return "", results
        name = secrets.token_urlsafe(16)
        self._kept[name] = gathering
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return name, results

    async def more(self, name: str, shown: int, render: Render) -> AsyncIterator[bytes]:
        """What comes after the first ``shown`` results, then the order in which all are best, and the end."""
        gathering = self._kept.pop(name, None)
        parts = 0
        while gathering is not None:
            parts = await to_thread.run_sync(gathering.wait, parts, 1.0, limiter=self._waits)
            complete = gathering.complete
            results = gathering.results()
            rows, about = render(results, shown)
            if len(results.hits) > shown or complete:
                shown = len(results.hits)
                yield event(rows, "rows")
                yield event(about, "about")
            if complete:
                yield event(json.dumps(gathering.order()), "order")
                break
        yield event("end", "end")
