"""Breaker: who did not answer some times in a row is left alone for a while, so that nobody waits for him again. Any thread."""

from __future__ import annotations

import threading

from larm.seams import Clock

_FAILURES = 3
"""In a row: one may be the network's, or ours."""
_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0
"""Seconds; each time it fails again the pause is twice as long."""


class Breaker:
    """For all peers that one machine asks, by name."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._failed: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def allows(self, name: str) -> bool:
        """It may be asked. After a pause one request may try; others wait for what becomes of it."""
        now = self._clock.monotonic()
        with self._lock:
            until = self._until.get(name)
            if until is None:
                return True
            if now < until:
                return False
            self._until[name] = now + self._pause(self._failed[name])
            return True

    def succeeded(self, name: str) -> None:
        """It has answered."""
        with self._lock:
            self._failed.pop(name, None)
            self._until.pop(name, None)

    def failed(self, name: str) -> None:
        """It has not."""
        now = self._clock.monotonic()
        with self._lock:
            failed = self._failed[name] = self._failed.get(name, 0) + 1
            if failed >= _FAILURES:
                self._until[name] = now + self._pause(failed)

    def failures(self, name: str) -> int:
        """In a row, until now."""
        with self._lock:
            return self._failed.get(name, 0)

    def _pause(self, failed: int) -> float:
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(10, failed - _FAILURES)))
