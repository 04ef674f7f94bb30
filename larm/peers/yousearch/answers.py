"""Answers: what was found lately, for who asks the same (YOUS-26, 27). In memory; any thread."""

import threading
from collections import OrderedDict

import msgspec

from larm.model.findings import Findings
from larm.peers.yousearch.tuning import Tuner
from larm.seams import Clock

_MOST = 500
"""Queries."""
_LARGEST = 200_000
"""Bytes of one, which usually has half as many; whose hits are larger is asked again."""


class Answers:
    """Of one peer."""

    def __init__(self, clock: Clock, tuner: Tuner) -> None:
        # constant after construction
        self._tuner = tuner
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    @property
    def seconds(self) -> float:
        """For which one is kept; 0: none is."""
        return self._tuner.now.cache

    def put(self, query: str, found: Findings) -> None:
        """Keep it."""
        data = msgspec.json.encode(found)
        if self.seconds and len(data) <= _LARGEST:
            with self._lock:
                self._kept[query] = self._clock.monotonic() + self.seconds, data
                self._kept.move_to_end(query)
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)

    def get(self, query: str) -> Findings | None:
        """None where there is none, or it is too old."""
        now = self._clock.monotonic()
        with self._lock:
            until, data = self._kept.get(query, (0.0, b""))
        return msgspec.json.decode(data, type=Findings) if until > now else None
