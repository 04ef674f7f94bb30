"""Gatherings: searches whose first results are shown while others still answer. On the event loop, but for their threads.

A page names its gathering by a word that nobody can guess, and gets what comes later as server-sent events.
"""

import json
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
from anyio import to_thread

from larm.index.search.gathering import Gathering
from larm.index.search.results import Results
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.model.findings import Asked
from larm.seams import Searcher
from larm.web.events import event
from larm.web.search_desk import BusyError

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
