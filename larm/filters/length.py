"""Length filter: URLs that are too long are traps or mistakes (LARM-48). Handler thread; pure.

It stands behind the scope, so that what it counts are URLs that would have been fetched.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.seams import Drop


class LengthFilter:
    """Drops a message whose whole access URL is longer than ``maximum`` characters."""

    name = "length"
    log_name = "URLLengthFilter"

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        maximum = self._maximum
        long = {number for number, message in enumerate(batch) if len(message.url.access) > maximum and self._judges(message)}
        if not long:
            return list(batch)
        drop([batch[number] for number in sorted(long)], f"longer than {maximum} characters")
        return [message for number, message in enumerate(batch) if number not in long]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        length = len(message.url.access) if self._judges(message) else 0
        return f"{length} characters, filters.length.max is {self._maximum}" if length > self._maximum else None

    @staticmethod
    def _judges(message: URLMessage) -> bool:
        """Nobody makes up endless names of files, and one in another alphabet is three to nine times as long when escaped."""
        return message.url.host != FILES
