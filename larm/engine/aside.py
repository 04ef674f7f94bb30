"""What a run leaves for later, said at its end: pages that it did not read, hosts that must wait. Any thread."""

import threading
from collections.abc import Sequence
from typing import Final

from larm.engine.figures.rates import minute
from larm.frontier.queues import Waiting
from larm.kit.counted import counted
from larm.model.lost import Lost

_NAMED: Final = 5
"""Addresses or hosts that a sentence names; the logs have them all."""
_HOW: Final = {
    Lost.TOO_LARGE: (
        "pages set aside, because to read them takes more memory than limits.memory leaves",
        "the next visit asks for them again; a larger limits.memory lets them be read",
    ),
    Lost.TOO_SLOW: (
        "pages set aside, because to read them takes too long",
        "the next visit asks for them again; a larger processing.effort gives them more time",
    ),
    Lost.DEADLY: (
        "pages set aside, because the process that read them ended, more than once",
        "the next revisit reads each of them again, alone",
    ),
    Lost.UNREAD: (
        "documents without text, or not all of it, because the process that read them was ended",
        "the next visit asks for them as a whole",
    ),
}
"""What, and how to get it."""


class Aside:
    """Counts, and the first addresses of each kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # guarded by self._lock
        self._counts: dict[Lost, int] = {}
        self._first: dict[Lost, list[str]] = {}

    def put(self, why: Lost, url: str) -> None:
        """One more page; ``url``: its access URL."""
        with self._lock:
            self._counts[why] = self._counts.get(why, 0) + 1
            first = self._first.setdefault(why, [])
            if len(first) < _NAMED:
                first.append(url)

    def sentences(self) -> list[str]:
        """One for each kind that there is."""
        with self._lock:
            return [
                f"{what}: {self._counts[why]:,} ({', '.join(self._first[why])}{', ...' * (self._counts[why] > _NAMED)}); {how}"
                for why, (what, how) in _HOW.items()
                if why in self._counts
            ]


def waiting_sentence(far: Sequence[Waiting], wall: float) -> str:
    """Which hosts a run leaves, and when they may be asked again; ``wall``: seconds since 1970."""
    named = [f"{each.host} ({counted(each.urls, 'URL')}) until {minute(wall + each.seconds)}" for each in far[:_NAMED]]
    more = f" and {len(far) - _NAMED:,} more hosts" if len(far) > _NAMED else ""
    return (
        f"all that is left has to wait for longer than frontier.longest_wait, as the servers asked for it: {', '.join(named)}"
        f"{more}; the same command goes on then"
    )
