"""Answers: recent answers of all peers, for searches at this machine alone (YOUS-26, 27). In memory; thread-safe."""

import math
import threading
from collections import OrderedDict

import msgspec

from larm.model.findings import Findings
from larm.seams import Clock

_MOST = 500
"""Queries."""
_LARGEST = 200_000
"""Bytes of an answer; most have half as many. Larger ones are not kept."""


class Answers:
    """Recent answers of all peers, by canonical query. No peer asks for them."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        """``seconds``: time for which an answer is kept; 0: none is."""
        # constant after construction
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        # guarded by self._lock
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def put(self, query: str, found: Findings, moment: float) -> None:
        """Keep the answer to a question that was asked at this ``moment`` of the clock."""
        data = msgspec.json.encode(found)
        if self._seconds and len(data) <= _LARGEST:
            with self._lock:
                self._kept[query] = moment, data
                self._kept.move_to_end(query)
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)

    def get(self, query: str, unchanged: float) -> Findings | None:
        """Return the answer; None if there is none, it is too old, or it is not younger than ``unchanged`` seconds."""
        with self._lock:
            moment, data = self._kept.get(query, (-math.inf, b""))
        age = self._clock.monotonic() - moment
        return msgspec.json.decode(data, type=Findings) if age < min(self._seconds, unchanged) else None
