"""Counters: named numbers that outlive the process by way of the checkpoint. Used on all threads."""

import threading
from collections.abc import Mapping


class Counters:
    """Named integers, 0 until they are first added to."""

    def __init__(self) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._values: dict[str, int] = {}

    def add(self, name: str, n: int = 1) -> None:
        """Add ``n`` to one counter."""
        with self._lock:
            self._values[name] = self._values.get(name, 0) + n

    def update(self, increments: Mapping[str, int]) -> None:
        """Add to several counters at once: a snapshot shows either all of it or nothing."""
        with self._lock:
            for name, n in increments.items():
                self._values[name] = self._values.get(name, 0) + n

    def snapshot(self) -> dict[str, int]:
        """A copy of all counters."""
        with self._lock:
            return dict(self._values)

    def load(self, values: Mapping[str, int]) -> None:
        """Replace all counters: go on where a checkpoint left off."""
        with self._lock:
            self._values = dict(values)

    def __repr__(self) -> str:
        return f"<Counters {self.snapshot()}>"
