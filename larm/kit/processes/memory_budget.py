"""MemoryBudget: who is about to take much memory in a process of its own asks here first, and waits until there is room.

Shared by the threads that have large pages and documents read. What is in use is measured, not added up: all processes of
the crawl, whatever they need it for. One grant is always given, the first, if only of what is left.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

LEAST: Final = 128_000_000
"""Bytes that are granted in any case, to one at a time: Python with what reads pages takes 60 MB of address space, a document
as much again, a common page of 1 MB 30 MB."""


_SPARE: Final = 0.125
"""Share of the limit that is never granted: what is measured now grows while somebody reads."""


class MemoryBudget:
    """``limit`` bytes for the crawl: its own process, its helpers, what is in the air."""

    def __init__(self, limit: int, used: Callable[[], int], *, careful: bool = False) -> None:
        """``used()``: bytes in use now. ``careful``: grant no more than `LEAST`, as the last run may have died of more."""
        # constant after construction
        self.limit = limit
        self.most = LEAST if careful else max(limit, LEAST)
        """Bytes that a single grant can have."""
        self._used = used
        self._changed = threading.Condition()
        # guarded by self._changed
        self._granted = 0
        self._stopped = False

    @contextmanager
    def granted(self, wanted: int) -> Iterator[int]:
        """Bytes that a process may have meanwhile: as many as are wanted, or what there is if nobody else has any."""
        wanted = min(wanted, self.most)
        given = self._take(wanted)
        try:
            yield given
        finally:
            with self._changed:
                self._granted -= given
                self._changed.notify_all()

    def _take(self, wanted: int) -> int:
        with self._changed:
            while True:
                left = int(self.limit * (1 - _SPARE)) - self._used() - self._granted
                if left >= wanted or not self._granted or self._stopped:
                    given = max(min(wanted, left), min(wanted, LEAST))
                    self._granted += given
                    return given
                self._changed.wait()

    def stop(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def __repr__(self) -> str:
        return f"<MemoryBudget: {self._granted:,} of {self.limit:,} bytes granted>"
