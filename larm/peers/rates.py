"""Rates: limits of the requests of each name, as token buckets. Thread-safe."""

import threading
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address

from larm.seams import Clock

_MOST = 10_000
"""Number of names. The name without requests for longest is forgotten, and begins with a full bucket."""


class Rates:
    """A token bucket for each name: a peer's key, or an address."""

    def __init__(self, clock: Clock, per_second: float, burst: float) -> None:
        """``per_second``: tokens a second; ``burst``: tokens at once, after a pause."""
        # constant after construction
        self._clock = clock
        self._per_second = per_second
        self._burst = burst
        self._lock = threading.Lock()
        # guarded by self._lock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Number of tokens of each name, and the time of that count."""

    def allows(self, name: str, cost: float = 1.0) -> bool:
        """Take ``cost`` tokens and return True; take none and return False if there are fewer."""
        now = self._clock.monotonic()
        with self._lock:
            tokens, then = self._buckets.pop(name, (self._burst, now))
            tokens = min(self._burst, tokens + (now - then) * self._per_second)
            allowed = tokens >= cost
            self._buckets[name] = (tokens - cost if allowed else tokens), now
            if len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        return allowed


def payer(address: str) -> str:
    """Return the name on whose account an IP address is: for IPv6 its /64, since each user has 2 ** 64 addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64)) + "/64"
