"""Visited filter: each normalised URL enters once (LARM-52). Handler thread; one look-up on the disk for a whole batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from larm.model.message import URLMessage
from larm.seams import Drop, SeenSet


class VisitedFilter:
    """Drops a message whose normalised URL was seen before, else remembers it."""

    name = "visited"
    log_name = "URLVisitedFilter"

    def __init__(self, seen: SeenSet) -> None:
        self._seen = seen

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        new = self._seen.add_new([message.url.fingerprint for message in batch])
        passing = list(compress(batch, new))
        if len(passing) < len(batch):
            drop(list(compress(batch, [not each for each in new])), "visited")
        return passing

    def sift_known(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.filters.chain.Recalling`. Asks the memory only."""
        known = self._seen.recall([message.url.fingerprint for message in batch])
        if not known:
            return list(batch)
        drop([message for message in batch if message.url.fingerprint in known], "visited")
        return [message for message in batch if message.url.fingerprint not in known]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return "seen before" if message.url.fingerprint in self._seen else None
