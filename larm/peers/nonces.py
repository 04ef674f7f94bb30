"""Nonces: no request is heard twice. They are kept for as long as a request is good. Any thread."""

from __future__ import annotations

import threading
from collections import OrderedDict

from larm.peers.signing import PERIOD, Signed
from larm.seams import Clock

_MOST = 100_000
"""Twelve megabytes; whoever sends more in two minutes has everybody wait, which `larm.peers.rates` prevents."""


class Nonces:
    """Of all who ask one server."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        # constant after construction
        self._clock = clock
        self._most = most
        self._began = int(clock.wall())
        """What was signed before may have been heard by the server that was here before."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._seen: OrderedDict[tuple[str, str], float] = OrderedDict()
        """Until when, in the order in which they came."""

    def is_new(self, signed: Signed) -> bool:
        """False for what was heard before, or may have been, and where there is no room to remember it: fail closed."""
        now = self._clock.wall()
        name = signed.key, signed.nonce
        with self._lock:
            while self._seen and next(iter(self._seen.values())) < now:
                self._seen.popitem(last=False)
            if signed.created < self._began or name in self._seen or len(self._seen) >= self._most:
                return False
            self._seen[name] = now + 2 * PERIOD + 1  # made up to a minute from now, it is good for a minute after that
        return True
