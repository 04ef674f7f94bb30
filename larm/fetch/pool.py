"""FetcherPool: the fetchers, one a thread; which of them has the watch, and which others could take it over.

The watch takes leases, alone, until it has all the transfers that it can drive; then another one takes over. So a crawl that
one thread can carry is carried by one: its connections are used again, its batches are large, and no other thread gets into
its way (one host, 16 requests at a time, two cores: a tenth faster than by four threads). Only the watch waits for the time at
which a host becomes ready. Each thread that could take more marks itself hungry before it waits. A mark that comes too late
costs nothing, because a wake-up ends the next wait as well.
"""

import threading
from collections.abc import Sequence

from larm.fetch.look_ups import LookUps
from larm.seams import Fetcher


class FetcherPool:
    """``fetchers[n]`` belongs to the thread ``larm-fetch-<n>``."""

    def __init__(self, fetchers: Sequence[Fetcher], names: LookUps | None = None) -> None:
        """``names``: where they have hosts looked up; None: they ask none."""
        # constant after construction
        self.fetchers = fetchers
        self.names = names
        self._lock = threading.Lock()
        # guarded by self._lock
        self._hungry: dict[int, None] = {}
        self._watch: int | None = None

    def may_lease(self, number: int) -> bool:
        """This fetcher has transfers free; False: another one has the watch, and some free as well."""
        with self._lock:
            return self._watch is None or self._watch == number

    def hunger(self, number: int) -> bool:
        """This fetcher has transfers free and is about to wait; True: it is the watch."""
        with self._lock:
            self._hungry[number] = None
            if self._watch is None:
                self._watch = number
            return self._watch == number

    def back(self, number: int) -> None:
        """This fetcher no longer waits."""
        with self._lock:
            self._hungry.pop(number, None)

    def fed(self, number: int) -> None:
        """This fetcher has all the transfers that it can drive, or must wait: somebody else must take the watch."""
        with self._lock:
            self._hungry.pop(number, None)
            if self._watch != number:
                return
            self._watch = None
        self.wake_one()

    def wake_one(self) -> None:
        """A host is ready, or will be sooner than the watch knows; any thread."""
        with self._lock:
            number = next(iter(self._hungry), None) if self._watch is None else self._watch
            if number is None:
                return
            self._hungry.pop(number, None)
        self.fetchers[number].wake()

    def wake_all(self) -> None:
        """The crawl stops; any thread."""
        for fetcher in self.fetchers:
            fetcher.wake()

    def __len__(self) -> int:
        return len(self.fetchers)
