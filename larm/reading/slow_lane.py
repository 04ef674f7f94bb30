"""SlowLane: documents and heavy pages wait here for the processes that read them, so that other transfers go on.

`divert` is called by the fetcher threads, `take` by the threads ``larm-read-<n>``. The lease of a document that
waits is still out: its host gets no further request, the tally counts it, and a checkpoint saves it as being in the air.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from larm.model.lease import Lease
from larm.model.outcome import Fetched, Outcome

Ended = tuple[Lease, Outcome]


class SlowLane:
    """``limit_bytes`` of bodies wait, and one more; beyond that the fetchers wait: the brake of a crawl of nothing but PDF."""

    def __init__(self, is_slow: Callable[[Fetched], bool], limit_bytes: int) -> None:
        # constant after construction
        self._is_slow = is_slow
        self._limit = limit_bytes
        self._changed = threading.Condition()
        # guarded by self._changed
        self._queue: deque[tuple[Lease, Fetched]] = deque()
        self._size = 0
        self._stopped = False

    def divert(self, ended: Sequence[Ended], full: Callable[[], object] = lambda: None) -> Sequence[Ended]:
        """Queue what is slow; the rest, in its order. Waits while there is no room, and calls ``full`` before it does."""
        slow = [
            (lease, outcome)
            for lease, outcome in ended
            if isinstance(outcome, Fetched) and not lease.robots and self._is_slow(outcome)
        ]
        if not slow:
            return ended
        for lease, outcome in slow:
            if self._size >= self._limit:  # a stale look: who is called for nothing loses nothing
                full()
            with self._changed:
                self._changed.wait_for(lambda: self._size < self._limit or self._stopped)
                self._queue.append((lease, outcome))
                self._size += len(outcome.body)
                self._changed.notify_all()  # before the next one waits for room
        taken = {id(lease) for lease, _ in slow}
        return [each for each in ended if id(each[0]) not in taken]

    def take(self) -> Ended | None:
        """The next document; waits for one. None: `stop` was called."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopped)
            if self._stopped:
                return None
            lease, outcome = self._queue.popleft()
            self._size -= len(outcome.body)
            self._changed.notify_all()
            return lease, outcome

    def stop(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def rest(self) -> list[Lease]:
        """What nobody has taken; after `stop`, when the threads have ended."""
        with self._changed:
            leases = [lease for lease, _ in self._queue]
            self._queue.clear()
            self._size = 0
            return leases

    def __repr__(self) -> str:
        return f"<SlowLane: {len(self._queue)} documents, {self._size:,} of {self._limit:,} bytes>"
