"""Places: where each host stands that stands anywhere: in the ring (it may be asked now), on the heap (at a known time), or in
the line of its address (`larm.frontier.shared_addresses`). Guarded by the lock of the `HostBook`.

The ring has the hosts that are ready in the order of their turns. A host stands there in a band: 0, unless the crawl has an
order (`larm.seams.CrawlOrder`). Within a band they take turns. Where bands are ``fair``, they take turns, too (YIOOP-45), but
none has more of them than its hosts would have in one ring of all: a large host that is alone in its band would be asked as
often as all small ones together. What the others leave goes to the lowest one.

This is all that is in memory of a host that waits, so it is as little as can be: its key, and a time. What is on the heap of a
host that was given an earlier time since stays there till its turn comes, and is passed over then.
"""

import heapq
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from larm.frontier.banded_queue import BANDS
from larm.frontier.host import NEVER

_IN_LINE, READY = -1.0, -2.0
"""In the place of a time; there are no negative ones. In the ring, less the band."""
_IN_BAND = tuple(READY - band for band in range(BANDS))
"""One number for all hosts of a band: each would take 24 bytes."""


class Places:
    """Keys of hosts, each in one place."""

    def __init__(self, *, fair: bool = False) -> None:
        """``fair``: bands take turns; otherwise a host comes when all lower bands are empty."""
        # constant after construction
        self._fair = fair
        # guarded by the lock of the book
        self._times: dict[str, float] = {}  # a later entry of the same host in a band or on the heap is passed over
        self._ring: dict[int, deque[str]] = {0: deque()}  # by band
        self._due: dict[int, float] = {}  # turns that a band should have had, and had not, while it was not the lowest one
        self.in_ring = 0
        """Hosts that may be asked now."""
        self._heap: list[tuple[float, str]] = []
        self._bands: dict[str, int] = {}  # of those on the heap, where it is not 0

    # -- in

    def ready(self, key: str, band: int) -> None:
        """It may be asked now: at the end of a band. A host that is there already only ever moves to a lower one."""
        self._bands.pop(key, None)
        place = self._times.get(key, 0.0)
        if place <= READY:
            if place >= READY - band:
                return
        else:
            self.in_ring += 1
        self._times[key] = _IN_BAND[band]
        queue = self._ring.get(band)
        if queue is None:
            queue = self._ring[band] = deque()
            self._ring = dict(sorted(self._ring.items()))
        queue.append(key)

    def wait(self, key: str, at: float, band: int) -> bool:
        """It may be asked at that time; whether it is the next one."""
        self._times[key] = at
        if band:
            self._bands[key] = band
        else:
            self._bands.pop(key, None)
        heapq.heappush(self._heap, (at, key))
        return self._heap[0][1] == key

    def stand_in_line(self, key: str) -> None:
        """Others of its address come first."""
        self._times[key] = _IN_LINE

    def move_up(self, key: str, band: int) -> None:
        """It may have got something better; of consequence only in the ring."""
        if self._times.get(key, NEVER) <= READY:
            self.ready(key, band)

    # -- asked

    def stands(self, key: str) -> bool:
        """It stands in a place."""
        return key in self._times

    def stands_at(self, key: str, at: float) -> bool:
        """It stands in a place already that is as good as that time, or better."""
        return self._times.get(key, NEVER) <= at

    def is_in_line(self, key: str) -> bool:
        """It waits for others of its address."""
        return self._times.get(key) == _IN_LINE

    def first(self, limit: int) -> list[str]:
        """Hosts that will probably come next."""
        found: list[str] = []
        for queue in self._ring.values():
            found += islice(queue, limit - len(found))
        return found

    def next_time(self) -> float:
        """Of the first on the heap; `NEVER` where there is none."""
        return self._heap[0][0] if self._heap else NEVER

    def waiting(self) -> Iterator[tuple[float, str]]:
        """All that wait for a time, in any order."""
        for at, key in self._heap:
            if self._times.get(key) == at:
                yield at, key

    def ready_hosts(self) -> list[str]:
        """Who may be asked, and who stands in a line, in the order of their turns, band by band."""
        ready = (key for key in self.first(sys.maxsize) if self._times.get(key, NEVER) <= READY)
        return [*dict.fromkeys(ready), *(key for key, at in self._times.items() if at == _IN_LINE)]

    def restore(self, times: Iterable[tuple[float, str]]) -> None:
        """At the start: all that waits for a time."""
        self._heap = list(times)
        self._times.update((key, at) for at, key in self._heap)
        heapq.heapify(self._heap)

    @property
    def on_heap(self) -> int:
        """About how many wait for a time."""
        return len(self._heap)

    # -- out

    def take(self) -> str:
        """The host whose turn it is; it stands nowhere then. Raises LookupError if there is none."""
        for band in self._turns() if self._fair else self._ring:
            queue = self._ring[band]
            while queue:
                key = queue.popleft()
                if self._times.get(key) == READY - band:
                    del self._times[key]
                    self.in_ring -= 1
                    if self._due.get(band, 0.0) >= 1.0:
                        self._due[band] -= 1.0
                    return key
        raise LookupError("no host is ready")

    def wake_due(self, now: float) -> None:
        """Whose time has come may be asked."""
        while self._heap and self._heap[0][0] <= now:
            at, key = heapq.heappop(self._heap)
            if self._times.get(key) == at:  # else it had something to do before that
                self.ready(key, self._bands.get(key, 0))

    def remove(self, key: str) -> None:
        """It leaves the crawl. Looks at all hosts that are ready."""
        if self._times.pop(key, 0.0) <= READY:
            self.in_ring -= 1
        for queue in self._ring.values():
            with suppress(ValueError):
                queue.remove(key)
        self._bands.pop(key, None)

    def _turns(self) -> list[int]:
        """The bands that have hosts: those that a whole turn is due to, the longest first, then from the lowest one on."""
        filled = [(band, len(queue)) for band, queue in self._ring.items() if queue]
        hosts, due = sum([length for _, length in filled]), self._due
        for band, length in filled[1:]:
            due[band] = due.get(band, 0.0) + min(1 / len(filled), length / hosts)
        overdue = sorted((band for band, _ in filled[1:] if due[band] >= 1.0), key=lambda band: -due[band])
        return [*overdue, *(band for band, _ in filled if band not in overdue)]

    def __repr__(self) -> str:
        return f"<Places: {self.in_ring} in the ring, {self.on_heap} on the heap>"
