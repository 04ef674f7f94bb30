"""Nonces: no request is heard twice. They are kept for as long as a request is good. Any thread."""

import threading
from collections import Counter, OrderedDict

from larm.peers.signing import PERIOD, Signed
from larm.seams import Clock

_MOST = 50_000
"""Six megabytes. `larm.peers.rates` lets 6,500 of one address through in the time for which they are kept."""


class Nonces:
    """Of all who ask one server. Where there is no room, who has more than his share waits, and nobody else does."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        # constant after construction
        self._clock = clock
        self._most = most
        self._began = int(clock.wall())
        """What was signed before may have been heard by the server that was here before."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._seen: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()
        """Until when, and who pays, in the order in which they came."""
        self._of: Counter[str] = Counter()

    def is_new(self, signed: Signed, payer: str) -> bool:
        """False for what was heard before, or may have been, and where there is no room to remember it: fail closed.

        ``payer``: who sends it, by his address."""
        now = self._clock.wall()
        name = signed.key, signed.nonce
        with self._lock:
            while self._seen and next(iter(self._seen.values()))[0] < now:
                self._forget_locked()
            share = self._most // (len(self._of) + (payer not in self._of))
            full = len(self._seen) >= self._most and self._of[payer] >= share
            if signed.created < self._began or name in self._seen or full:
                return False
            self._seen[name] = now + 2 * PERIOD + 1, payer  # made up to a minute from now, it is good for a minute after that
            self._of[payer] += 1
        return True

    def _forget_locked(self) -> None:
        _, (_, payer) = self._seen.popitem(last=False)
        self._of[payer] -= 1
        if not self._of[payer]:
            del self._of[payer]
