"""FetcherPool: the fetchers, one a thread, and which of them have nothing to do.

Each fetcher thread marks itself hungry before it waits; whoever makes a host ready wakes the hungry ones. A mark that comes too
late costs nothing, because a wake-up ends the next wait as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.seams import Fetcher


class FetcherPool:
    """``fetchers[n]`` belongs to the thread ``larm-fetch-<n>``."""

    def __init__(self, fetchers: Sequence[Fetcher]) -> None:
        # constant after construction
        self.fetchers = fetchers
        # each written by its own thread and by who wakes it
        self.hungry = [False] * len(fetchers)

    def wake_hungry(self) -> None:
        """A host is ready; any thread."""
        for number, hungry in enumerate(self.hungry):
            if hungry:
                self.hungry[number] = False
                self.fetchers[number].wake()

    def wake_all(self) -> None:
        """The crawl stops; any thread."""
        for fetcher in self.fetchers:
            fetcher.wake()

    def __len__(self) -> int:
        return len(self.fetchers)
