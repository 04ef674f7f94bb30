"""Visited filter: each normalised URL enters once (LARM-52). Handler thread; one look-up on the disk for a whole batch."""

import operator
from collections.abc import Sequence
from itertools import compress

from larm.filters.chain import SEEN
from larm.kit.disk.seen_set import DiskSeenSet
from larm.model.message import URLMessage
from larm.seams import Drop


class VisitedFilter:
    """Drops a message whose normalised URL was seen before, else remembers it.

    A page that is revisited (`URLMessage.known`) was seen, of course, and passes.
    """

    name = SEEN
    log_name = "URLVisitedFilter"

    def __init__(self, seen: DiskSeenSet) -> None:
        self._seen = seen

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        new = self._seen.add_new([message.url.fingerprint for message in batch])
        if all(new):
            return list(batch)
        passes = [each or message.known is not None for each, message in zip(new, batch, strict=True)]
        drop(list(compress(batch, [not each for each in passes])), "visited")
        return list(compress(batch, passes))

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.seams.Recalling`. Any thread."""
        return self._seen.recall(fingerprints)

    def sift_known(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.filters.chain.SiftingKnown`. Asks the memory only."""
        seen = self._seen.recall([message.url.fingerprint for message in batch])
        if not seen:
            return list(batch)
        gone = [message.url.fingerprint in seen and message.known is None for message in batch]
        drop(list(compress(batch, gone)), "visited")
        return list(compress(batch, map(operator.not_, gone)))

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return "seen before" if message.url.fingerprint in self._seen else None
