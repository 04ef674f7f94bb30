"""Tally: how many messages are on their way. When it falls to zero, the crawl is over: counted, never guessed.

It rises before a message enters and falls after everything that came of it has entered. Used on all threads.
"""

import threading
from collections.abc import Callable


class Tally:
    """A counter that knows when it has come back to zero."""

    def __init__(self, on_zero: Callable[[], None]) -> None:
        """``on_zero`` is called by the thread whose fall reached zero, after the lock was given back."""
        # constant after construction
        self._on_zero = on_zero
        self._lock = threading.Lock()
        # guarded by self._lock
        self._value = 0

    def rise(self, n: int = 1) -> None:
        """``n`` more are on their way. Raises ValueError if ``n`` is negative."""
        if n < 0:
            raise ValueError(f"a tally can't rise by {n}")
        with self._lock:
            self._value += n

    def fall(self, n: int = 1) -> None:
        """``n`` have ended. Raises ValueError, and changes nothing, where more would end than have begun."""
        if n < 0:
            raise ValueError(f"a tally can't fall by {n}")
        with self._lock:
            if n > self._value:
                raise ValueError(f"a tally of {self._value} can't fall by {n}: something ended twice")
            self._value -= n
            zero = n > 0 and self._value == 0
        if zero:
            self._on_zero()

    @property
    def value(self) -> int:
        """How many are on their way now."""
        return self._value

    def __repr__(self) -> str:
        return f"<Tally {self._value}>"
