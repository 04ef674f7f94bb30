"""CallBacks: how many who say where they are are called back at a time, or send a large summary. Any thread.

Whoever announces what does not answer would otherwise keep all others waiting: the server answers eight questions at a time.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from larm.peers.door import RefusedError
from larm.peers.rates import payer

_MOST = 5
_MOST_OF_ONE = 2
"""Of one address."""


class CallBacks:
    """Of one server."""

    def __init__(self, most: int = _MOST) -> None:
        # constant after construction
        self._most = most
        self._lock = threading.Lock()
        # guarded by self._lock
        self._under_way: Counter[str] = Counter()
        """By addresses."""

    @contextmanager
    def one(self, address: str) -> Iterator[None]:
        """For as long as somebody at this address is asked, or sends. Raises RefusedError."""
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
                self._under_way += Counter()  # without zeros
