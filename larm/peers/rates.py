"""Rates: what one peer may cost us, as a bucket of tokens for each name that asks. Any thread."""

import threading
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address

from larm.seams import Clock

_MOST = 10_000
"""Names that are remembered; who was not heard for longest is forgotten, and begins with a full bucket."""


class Rates:
    """Names are keys of peers, or addresses."""

    def __init__(self, clock: Clock, per_second: float, burst: float) -> None:
        """``burst``: what may come at once, after a pause."""
        # constant after construction
        self._clock = clock
        self._per_second = per_second
        self._burst = burst
        self._lock = threading.Lock()
        # guarded by self._lock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tokens, and when there were so many."""

    def allows(self, name: str, cost: float = 1.0) -> bool:
        """Takes so many tokens, if there are; otherwise none."""
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
    """Who pays for what comes from an IP address: of version 6 anybody has 2 ** 64 of them, which count as one."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64)) + "/64"
