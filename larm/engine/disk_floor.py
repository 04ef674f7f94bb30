"""DiskFloor: ends the run in good order while there is still room to save the crawl (``limits.disk``).

Once a disk is full no checkpoint can be written: the wiring has it look before the river flows; then it looks after each
checkpoint, on the thread that saved it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from larm.kit.disk.files import free_bytes

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
