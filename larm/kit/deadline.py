"""Deadline: a moment by which work is to be done. Whoever does the work asks at each step, and stops by an exception."""

from larm.kit.clock import Clock


class OutOfTimeError(Exception):
    """The work was stopped at its deadline. Caught by whoever set it; what was done until then is lost."""


class Deadline:
    """Constant after construction; any thread."""

    __slots__ = ("_clock", "_end")

    def __init__(self, clock: Clock | None = None, seconds: float | None = None) -> None:
        """``seconds`` from now on the ``clock``; without them it never comes."""
        self._clock = clock
        self._end = 0.0 if clock is None or seconds is None else clock.monotonic() + seconds

    def check(self) -> None:
        """Raises OutOfTimeError where it is over."""
        if self._end and self._clock is not None and self._clock.monotonic() >= self._end:
            raise OutOfTimeError

    def left(self) -> float | None:
        """Seconds, at least 0; None: any number."""
        return max(0.0, self._end - self._clock.monotonic()) if self._end and self._clock is not None else None

    def share(self, share: float) -> float:
        """Return this share of the seconds that are left; 0 without a deadline."""
        return share * (self.left() or 0.0)
