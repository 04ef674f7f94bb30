"""HeavyReader: large pages, and what is packed, are read one at a time by a process of their own, in memory granted for each.

A page of 10 MB can take 660 MB while it is read, and some 50 KB of gzip can be such a page: neither the crawl's own process nor
one that reads many pages should have to carry that. The process is started for the first of them. Called by the reading threads
``larm-read-<n>``; `interrupt` by the main thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from larm.kit.processes.memory_budget import MemoryBudget
from larm.model.document import Document
from larm.model.lease import Lease
from larm.model.lost import Lost
from larm.model.outcome import Fetched
from larm.reading.page_reader import PageReader

PATIENCE = 4.0
"""Times the seconds that a page may take elsewhere. A stop does not wait for it, and there is nobody behind it in a hurry."""


class HeavyReader:
    """Owns the process. ``memory(fetched)``: bytes that it may take to read a body."""

    def __init__(self, reader: PageReader, memory: Callable[[Fetched], int], budget: MemoryBudget) -> None:
        # constant after construction
        self._reader = reader
        self._memory = memory
        self._budget = budget
        self._one = threading.Lock()

    def read(self, lease: Lease, fetched: Fetched, noting: AbstractContextManager[object]) -> Document | Lost:
        """What it says; waits for its turn, and for memory. ``noting``: entered while it is read."""
        with self._one, self._budget.granted(self._memory(fetched)) as given, noting:
            self._reader.memory = given
            self._reader.hand([(lease, fetched)])
            ((_, found),) = self._reader.take()
            return found

    def interrupt(self) -> None:
        """The crawl stops: nobody waits any more, and what is not read is fetched again by the next run."""
        self._reader.interrupt()
        self._budget.stop()

    def close(self) -> None:
        """End the process."""
        self._reader.close()
