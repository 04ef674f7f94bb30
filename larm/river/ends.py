"""ByteLimit and DiskFloor: end the run in good order.

The one does so once so much has been received (``limits.bytes``), the other while there is still room to save the crawl
(``limits.disk``).

The first is told by the threads that fetch or read, in the step of the gate in which the answers are accounted for; `change` by
who steers the crawl. Not exact, as ``--max-pages`` is: nobody knows how long an answer will be before it is there.

The second, as once a disk is full no checkpoint can be written: the wiring has it look before the river flows; then it looks
after each checkpoint, on the thread that saved it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from larm.kit.disk.files import free_bytes

BYTES_SPENT: Final = "bytes_spent"
"""The reason of a run that ends for this."""
RECEIVED: Final = "limits/bytes"
"""Counter of the bytes that were received since the crawl or its last revisit began."""


class ByteLimit:
    """``limit`` bytes in the whole crawl (all its runs), of which ``received`` were received already; None: any number."""

    def __init__(self, limit: int | None, received: int, end: Callable[[str], object]) -> None:
        """``end`` ends the run; it may be called more than once."""
        # constant after construction
        self._end = end
        self._lock = threading.Lock()
        # guarded by self._lock
        self._limit = limit
        self._received = received
        self._spent = False
        self._look()

    def add(self, count: int) -> None:
        """So many bytes more were received."""
        with self._lock:
            self._received += count
        self._look()

    def change(self, limit: int | None) -> None:
        """From now on it is so many in the whole crawl."""
        with self._lock:
            self._limit = limit
        self._look()

    def _look(self) -> None:
        """End the run if that is all."""
        with self._lock:
            self._spent = spent = self._limit is not None and self._received >= self._limit
        if spent:
            self._end(BYTES_SPENT)

    def may_lease(self) -> bool:
        """Some may still be received, as far as is known; without the lock."""
        return not self._spent


NEARLY_FULL: Final = "disk_nearly_full"
"""The reason of a run that ends for this."""


class DiskFloor:
    """Of one run."""

    def __init__(self, directory: Path, least: int, end: Callable[[str], object], note: Callable[[str], object]) -> None:
        """``least``: bytes that stay free; ``end`` ends the run, ``note`` takes a line for people."""
        # constant after construction
        self._directory = directory
        self._least = least
        self._end = end
        self._note = note
        # by one thread at a time
        self._told = False

    def look(self) -> None:
        """End the run if less is free. Raises StorageError."""
        free = free_bytes(self._directory)
        if free >= self._least or self._told:
            return
        self._told = True
        left = f"{free / 1e6:,.0f} MB of its disk are free, and limits.disk is {self._least / 1e6:,.0f} MB"
        self._note(f"{left}: make room, and the same command goes on")
        self._end(NEARLY_FULL)
