"""Breaker: who did not answer some times in a row is left alone for a while, so that nobody waits for him again. Any thread."""

import threading
from collections import OrderedDict

from larm.seams import Clock

_FAILURES = 3
"""In a row: one may be the network's, or ours."""
_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0
"""Seconds; each time it fails again the pause is twice as long."""
_MOST = 10_000
"""Names: registrars may name others without end. Who failed longest ago is forgotten, and tried again."""


class Breaker:
    """For all peers that one machine asks, by name."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()
        """How often in a row, and until when nobody asks."""

    def allows(self, name: str) -> bool:
        """It may be asked. After a pause one request may try; others wait for what becomes of it."""
        now = self._clock.monotonic()
        with self._lock:
            failed, until = self._failed.get(name, (0, 0.0))
            if now < until:
                return False
            if failed >= _FAILURES:
                self._failed[name] = failed, now + self._pause(failed)
            return True

    def succeeded(self, name: str) -> None:
        """It has answered."""
        with self._lock:
            self._failed.pop(name, None)

    def failed(self, name: str) -> None:
        """It has not."""
        now = self._clock.monotonic()
        with self._lock:
            failed = self._failed.pop(name, (0, 0.0))[0] + 1
            self._failed[name] = failed, now + self._pause(failed) if failed >= _FAILURES else 0.0
            if len(self._failed) > _MOST:
                self._failed.popitem(last=False)

    def failures(self, name: str) -> int:
        """In a row, until now."""
        with self._lock:
            return self._failed.get(name, (0, 0.0))[0]

    def _pause(self, failed: int) -> float:
        return float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(10, failed - _FAILURES)))
