"""Visited filter: each normalised URL enters once (LARM-52). Handler thread; one look-up on the disk for a whole batch."""

import operator
from collections.abc import Sequence
from itertools import compress

from larm.filters.chain import SEEN
from larm.filters.spellings import Spellings
from larm.kit.disk.seen_set import DiskSeenSet
from larm.model.message import URLMessage
from larm.seams import Drop


class VisitedFilter:
    """Drops a message whose normalised URL was seen before, else remembers it.

    A page that is revisited (`URLMessage.known`) was seen, of course, and passes. Other spellings of a page are kept, and
    pass when a request of that page has failed.
    """

    name = SEEN
    log_name = "URLVisitedFilter"

    def __init__(self, seen: DiskSeenSet, spellings: Spellings | None = None) -> None:
        self._seen = seen
        self.spellings = spellings

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        new = self._seen.add_new([message.url.fingerprint for message in batch])
        passes = [each or (message.known is not None and not message.failed) for each, message in zip(new, batch, strict=True)]
        passing = list(compress(batch, passes))
        dropped = list(compress(batch, map(operator.not_, passes)))
        if self.spellings is not None:
            filed = [each for each in dropped if each.failed or self._is_news(each)]
            self.spellings.learn([each.url for each in (*passing, *filed)])
            passing += self.spellings.file(filed) if filed else ()
        if dropped := [each for each in dropped if not each.failed]:
            drop(dropped, "visited")
        return passing

    def recall(self, fingerprints: Sequence[int]) -> set[int]:
        """See `larm.seams.Recalling`. Any thread."""
        return self._seen.recall(fingerprints)

    def sift_known(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.filters.chain.SiftingKnown`. Asks the memory only."""
        seen = self._seen.recall([message.url.fingerprint for message in batch])
        if not seen:
            return list(batch)
        gone = [
            message.url.fingerprint in seen and message.known is None and not (message.failed or self._is_news(message))
            for message in batch
        ]
        drop(list(compress(batch, gone)), "visited")
        return list(compress(batch, map(operator.not_, gone)))

    def _is_news(self, message: URLMessage) -> bool:
        return self.spellings is not None and self.spellings.is_news(message.url.access, message.url.fingerprint)

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return "seen before" if message.url.fingerprint in self._seen else None
