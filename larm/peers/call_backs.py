"""CallBacks: limits the peers that are called back, or send a large summary, at the same time. Thread-safe.

The server answers eight questions at a time, so announced addresses that do not answer would keep all others waiting.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from larm.peers.door import RefusedError
from larm.peers.rates import payer

_MOST = 5
_MOST_OF_ONE = 2
"""Call-backs to one address at a time."""


class CallBacks:
    """The call-backs of one server."""

    def __init__(self, most: int = _MOST) -> None:
        # constant after construction
        self._most = most
        self._lock = threading.Lock()
        # guarded by self._lock
        self._under_way: Counter[str] = Counter()
        """Number of call-backs under way, by address."""

    @contextmanager
    def one(self, address: str) -> Iterator[None]:
        """Hold a slot while a peer at this address is asked, or sends. Raises RefusedError."""
        pays = payer(address)
        with self._lock:
            if self._under_way[pays] >= _MOST_OF_ONE or self._under_way.total() >= self._most:
                raise RefusedError("too many peers announce themselves just now; try again", 503)
            self._under_way[pays] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[pays] -= 1
                self._under_way += Counter()  # drops zeros
