"""Rests: hosts that have asked this agent for a rest, and until when, as its card tells. If the agent dies, whoever has its
hosts then leaves them alone for that long.

Only rests that can outlive it: nobody asks the host of a dead agent before half of ``adopt_after`` has passed. Noted by fetcher
threads, told by ``larm-agents``.
"""

from larm.cluster.card import RESTS


class Rests:
    """Times are seconds since 1970, as machines differ in all other clocks."""

    def __init__(self, shortest: float) -> None:
        # constant after construction
        self._shortest = shortest
        # single operations on a dictionary
        self._until: dict[str, int] = {}

    def note(self, host: str, seconds: float, now: float) -> None:
        """It asks for so many."""
        if seconds >= self._shortest:
            self._until[host] = round(now + seconds)

    def told(self, now: float) -> dict[str, int]:
        """Those that last longest; others are forgotten when they are over."""
        found = {host: until for host, until in list(self._until.items()) if until > now}
        for host in self._until.keys() - found.keys():
            del self._until[host]
        return dict(sorted(found.items(), key=lambda each: -each[1])[:RESTS])
