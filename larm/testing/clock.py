"""FakeClock: time that stands still until a test moves it.

Stands in for `larm.kit.clock` wherever a `Clock` is taken. Any thread may read it, the test moves it.
"""

import threading


class FakeClock:
    """Implements `larm.seams.Clock`. Both times begin at ``start``; `advance` moves both, `set_wall` the wall clock alone."""

    def __init__(self, start: float = 0.0) -> None:
        # constant after construction
        self._lock = threading.Lock()
        # guarded by self._lock
        self._now = start
        self._wall = start

    def monotonic(self) -> float:
        """Seconds; only `advance` changes it."""
        return self._now

    def wall(self) -> float:
        """Seconds since 1970."""
        return self._wall

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass. Raises ValueError if they are negative: a monotonic clock does not go back."""
        if seconds < 0:
            raise ValueError(f"time can't run backwards ({seconds} s); set_wall() moves the wall clock")
        with self._lock:
            self._now += seconds
            self._wall += seconds

    def set_wall(self, seconds: float) -> None:
        """Set the wall clock, also backwards, as an administrator or NTP would; `monotonic` does not notice."""
        with self._lock:
            self._wall = seconds

    def __repr__(self) -> str:
        return f"<FakeClock monotonic={self._now:g} wall={self._wall:g}>"
