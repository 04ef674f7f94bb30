"""Trust: what spot checks have shown of each peer lately. Any thread.

Who was never checked is believed. Checks older than an hour count no more, so who has mended his index is asked again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque

from larm.seams import Clock

_MOST_PEERS = 10_000
_MOST_CHECKS = 20
"""The last ones of each peer."""
_SECONDS = 3_600.0
_ENOUGH = 5
"""Checks: one bad result may be a page that was changed since it was indexed, or found by the words of a link to it."""
_SHARE = 0.2
"""Of good ones; with fewer it is not asked."""


class Trust:
    """Of one peer in all others."""

    def __init__(self, clock: Clock) -> None:
        # constant after construction
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._checks: OrderedDict[str, deque[tuple[float, bool]]] = OrderedDict()

    def checked(self, key: str, *, good: bool) -> None:
        """One of its results was looked at."""
        with self._lock:
            checks = self._checks.setdefault(key, deque(maxlen=_MOST_CHECKS))
            self._checks.move_to_end(key)
            checks.append((self._clock.monotonic(), good))
            if len(self._checks) > _MOST_PEERS:
                self._checks.popitem(last=False)

    def found(self, key: str) -> tuple[int, int]:
        """Of how many results that were looked at how many were bad."""
        since = self._clock.monotonic() - _SECONDS
        with self._lock:
            lately = [good for at, good in self._checks.get(key, ()) if at > since]
        return len(lately), lately.count(False)

    def of(self, key: str) -> float:
        """At most 1, more than 0: what its results count."""
        checks, bad = self.found(key)
        return (checks - bad + 2) / (checks + 2)

    def believes(self, key: str) -> bool:
        """It is worth asking."""
        checks, bad = self.found(key)
        return checks < _ENOUGH or checks - bad >= _SHARE * checks
