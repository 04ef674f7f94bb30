"""FetcherPool: the fetchers, one a thread; which of them have nothing to do, and which of those watches the time.

Each fetcher thread marks itself hungry before it waits. Whoever makes a host ready wakes one of the hungry; if that one leaves
something, it wakes the next. Only one, the watch, waits for the time at which a host becomes ready: else all would wake for it.
A mark that comes too late costs nothing, because a wake-up ends the next wait as well.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from larm.seams import Fetcher


class FetcherPool:
    """``fetchers[n]`` belongs to the thread ``larm-fetch-<n>``."""

    def __init__(self, fetchers: Sequence[Fetcher]) -> None:
        # constant after construction
        self.fetchers = fetchers
        self._lock = threading.Lock()
        # guarded by self._lock
        self._hungry: dict[int, None] = {}
        self._watch: int | None = None

    def hunger(self, number: int) -> bool:
        """This fetcher has transfers free and is about to wait; True: it is the watch."""
        with self._lock:
            self._hungry[number] = None
            if self._watch is None:
                self._watch = number
            return self._watch == number

    def back(self, number: int) -> None:
        """This fetcher no longer waits; it may have pages to read first, so others are woken before it."""
        with self._lock:
            self._hungry.pop(number, None)

    def fed(self, number: int) -> None:
        """This fetcher has all the transfers that it can drive: somebody else must watch the time."""
        with self._lock:
            self._hungry.pop(number, None)
            if self._watch != number:
                return
            self._watch = None
        self.wake_one()

    def wake_one(self) -> None:
        """A host is ready, or will be sooner than the watch knows; any thread."""
        with self._lock:
            number = self._watch if self._watch in self._hungry else next(iter(self._hungry), None)
            if number is None:
                return
            del self._hungry[number]
        self.fetchers[number].wake()

    def wake_all(self) -> None:
        """The crawl stops; any thread."""
        for fetcher in self.fetchers:
            fetcher.wake()

    def __len__(self) -> int:
        return len(self.fetchers)
