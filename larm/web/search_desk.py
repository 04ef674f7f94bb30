"""SearchDesk: searches for many visitors at a time, on a few threads. On the event loop.

Each search has a deadline, so no thread is ever busy for long; who comes when too many wait is told so at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import msgspec
from anyio import to_thread

from larm.config import Serve
from larm.model.findings import Asked
from larm.search.results import Results
from larm.web.directories import Served, together
from larm.web.metrics import Metrics

_LOOKS = 4
"""Pages, copies and the like that are read at a time."""
T = TypeVar("T")


class BusyError(Exception):
    """Too many searches wait."""


class SearchDesk:
    """One for a server."""

    def __init__(self, settings: Serve, metrics: Metrics) -> None:
        # constant after construction
        self._settings = settings
        self._metrics = metrics
        # only the event loop
        self._searches = anyio.CapacityLimiter(settings.searches)
        self._looks = anyio.CapacityLimiter(_LOOKS)
        self._waiting = 0

    async def search(self, asked: Asked, served: Sequence[Served]) -> Results:
        """Raises BusyError."""
        if self._waiting >= self._settings.searches + self._settings.waiting:
            self._metrics.refused.inc()
            raise BusyError
        self._waiting += 1
        try:
            asked = msgspec.structs.replace(asked, seconds=float(self._settings.search_time))
            results = await to_thread.run_sync(together(served).results, asked, limiter=self._searches)
        finally:
            self._waiting -= 1
        self._metrics.searched(results)
        return results

    async def look(self, function: Callable[..., T], *arguments: object) -> T:
        """Run what reads a disk on a thread; few at a time."""
        return await to_thread.run_sync(partial(function, *arguments), limiter=self._looks)
