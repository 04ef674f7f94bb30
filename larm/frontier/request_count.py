"""RequestCount: the requests of this minute and this hour, its bytes, and when there may be more of them (LARM-105).

Of a host, or of an IP address. A minute, or an hour, begins with the first request after the last one is over: so two numbers
each are all there is to know. How large an answer is, is known when it is there: the last one is beyond the limit of bytes.
What was allowed for the end of one and the beginning of the next may come together, as far as the delay allows that.

State of `larm.frontier.host` (under the lock of the `HostBook`) and of `larm.frontier.shared_addresses` (under its own).
"""

from collections.abc import Sequence

from larm.config import FrontierSettings

PERIODS = (60.0, 3600.0, 3600.0)
"""Seconds; of requests, of requests, of bytes."""
_BYTES = 2


def limits_of(settings: FrontierSettings) -> tuple[int, int, int]:
    """Of a host in each period; 0: any number."""
    return settings.per_minute, settings.per_hour, settings.bytes_per_hour


class RequestCount:
    """Times are those of any clock that does not go backwards."""

    __slots__ = ("_made", "_over")

    def __init__(self, saved: Sequence[tuple[float, int]] = ()) -> None:
        """``saved``: as `state` has it, or nothing."""
        saved = saved or [(0.0, 0)] * len(PERIODS)
        self._over = [over for over, _ in saved]
        self._made = [made for _, made in saved]

    def add(self, now: float) -> None:
        """A request begins."""
        for number, seconds in enumerate(PERIODS):
            if self._over[number] <= now:
                self._over[number], self._made[number] = now + seconds, 0
            self._made[number] += number != _BYTES

    def receive(self, number: int) -> None:
        """So many bytes came; they count for the hour in which the last request began."""
        self._made[_BYTES] += number

    def take_back(self) -> None:
        """The last one was not sent."""
        self._made = [max(made - (number != _BYTES), 0) for number, made in enumerate(self._made)]

    def free_at(self, limits: Sequence[int], now: float) -> float:
        """When the next request may begin; ``now``: at once."""
        full = [over for over, made, most in zip(self._over, self._made, limits, strict=True) if most and made >= most]
        return max(now, *full) if full else now

    def is_over(self, now: float) -> bool:
        """There is nothing left to know."""
        return max(self._over) <= now

    def state(self) -> list[tuple[float, int]]:
        """For each period when it is over, and the requests, or bytes, in it."""
        return list(zip(self._over, self._made, strict=True))

    def __repr__(self) -> str:
        return f"<RequestCount {self.state()}>"
