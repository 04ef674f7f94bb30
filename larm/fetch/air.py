"""Air: the bytes that all bodies on their way to us may take together, and which transfers wait for room.

Shared by all fetcher threads; a lock, held for a few lookups. A transfer that is not granted more is paused, and its server
waits. The one that came first is always granted more, so that what is in the air comes down.
"""

import threading
from collections.abc import Callable
from typing import Final

STEP: Final = 262_144
"""Bytes that are asked for at a time. A transfer has as many without asking: most pages never ask."""


class Air:
    """``limit`` bytes, beside `STEP` for each transfer and whatever the first one takes."""

    def __init__(self, limit: int) -> None:
        # constant after construction
        self._limit = limit
        self._lock = threading.Lock()
        # set once, before there are other threads
        self.on_room: Callable[[], object] = lambda: None
        """Called, without the lock, when who was not granted anything should ask again."""
        # guarded by self._lock
        self._held: dict[int, int] = {}  # by the id of who holds them, the first one first
        self._used = 0
        self._refused = False

    def more(self, holder: object) -> bool:
        """Whether it may have `STEP` bytes more."""
        key = id(holder)
        with self._lock:
            first = next(iter(self._held), key)
            if self._used + STEP > self._limit and key != first:
                self._refused = True
                return False
            self._held[key] = self._held.get(key, 0) + STEP
            self._used += STEP
            return True

    def leave(self, holder: object) -> None:
        """Its body has come, or was given up."""
        with self._lock:
            self._used -= self._held.pop(id(holder), 0)
            told, self._refused = self._refused, False
        if told:
            self.on_room()

    def __repr__(self) -> str:
        return f"<Air: {self._used:,} of {self._limit:,} bytes, {len(self._held)} transfers>"
