"""Ring: the hosts that are ready, in the order of their turns. Guarded by the lock of the `HostBook`.

A host stands in a band: 0, unless the crawl has an order (`larm.seams.CrawlOrder`). Within a band they take turns.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import islice


class Ring:
    """Keys of hosts, each there once."""

    def __init__(self, fair: bool = False) -> None:
        """``fair``: bands take turns, too (YIOOP-45); otherwise a host comes when all lower bands are empty."""
        # constant after construction
        self._fair = fair
        # guarded by the lock of the book
        self._bands: dict[int, deque[str]] = {0: deque()}
        self._places: dict[str, int] = {}  # of a host that was moved up, the old entry stays till its turn comes
        self._last = -1

    def put(self, key: str, band: int) -> None:
        """At the end of a band; a host that is there already only ever moves to a lower one."""
        if self._places.get(key, band + 1) <= band:
            return
        self._places[key] = band
        queue = self._bands.get(band)
        if queue is None:
            queue = self._bands[band] = deque()
            self._bands = dict(sorted(self._bands.items()))
        queue.append(key)

    def take(self) -> str:
        """The host whose turn it is. Raises LookupError if there is none."""
        while self._places:
            band, queue = self._turn()
            self._last = band
            while queue:
                key = queue.popleft()
                if self._places.get(key) == band:
                    del self._places[key]
                    return key
        raise LookupError("no host is ready")

    def remove(self, key: str) -> None:
        """This host is not ready any more, if it was. Looks at all that are: for hosts that leave the crawl."""
        self._places.pop(key, None)
        for queue in self._bands.values():
            with suppress(ValueError):
                queue.remove(key)

    def first(self, limit: int) -> list[str]:
        """Hosts that will probably come next."""
        found: list[str] = []
        for queue in self._bands.values():
            found += islice(queue, limit - len(found))
        return found

    def __len__(self) -> int:
        return len(self._places)

    def _turn(self) -> tuple[int, deque[str]]:
        if not self._fair:
            return next(each for each in self._bands.items() if each[1])
        filled = [each for each in self._bands.items() if each[1]]
        return next((each for each in filled if each[0] > self._last), filled[0])

    def __repr__(self) -> str:
        return f"<Ring of {len(self)} hosts>"
