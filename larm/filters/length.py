"""Length filter: URLs that are too long are traps or mistakes (LARM-48). Handler thread; pure."""

from __future__ import annotations

from collections.abc import Sequence

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
        long = [message for message in batch if len(message.url.access) > maximum]
        if not long:
            return list(batch)
        drop(long, f"longer than {maximum} characters")
        return [message for message in batch if len(message.url.access) <= maximum]

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        length = len(message.url.access)
        return f"{length} characters, filters.length.max is {self._maximum}" if length > self._maximum else None
