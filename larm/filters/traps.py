"""Traps filter: addresses that no real site needs, and those that went on without anything new (LARM-122). Handler thread.

The first kind shows in the address itself and is decided here; the second the frontier knows, in the records of the hosts.
"""

from __future__ import annotations

from collections.abc import Sequence

from larm.config import TrapsFilter as Settings
from larm.model.file_url import FILES
from larm.model.message import URLMessage
from larm.model.url_shape import parts_of, repeats
from larm.seams import Drop, TrapGate


class TrapsFilter:
    """Start URLs, pages that are revisited, and files pass."""

    name = "traps"
    log_name = "TrapsFilter"

    def __init__(self, settings: Settings, gate: TrapGate) -> None:
        # constant after construction
        self._settings = settings
        self._gate = gate

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        odd = {id(message) for message in batch if self._odd(message) is not None}
        if odd:
            drop([message for message in batch if id(message) in odd], "trap")
            batch = [message for message in batch if id(message) not in odd]
        return self._gate.screen(batch, drop) if batch else []

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return self._odd(message) or self._gate.explain(message)

    def _odd(self, message: URLMessage) -> str | None:
        settings = self._settings
        if message.known is not None or message.depth == 0 or message.url.host == FILES:
            return None
        if message.depth > settings.depth:
            return f"{message.depth} links from a start URL (filters.traps.depth)"
        access = message.url.access
        slashes = access.count("/") - 3
        if slashes >= settings.repeats:  # else no segment can be there too often
            parts = parts_of(access)
            if parts.path.count("/") > settings.segments:
                return f"{parts.path.count('/')} segments (filters.traps.segments)"
            often = repeats(parts.path)
            if often > settings.repeats:
                return f"a segment stands in the path {often} times (filters.traps.repeats)"
        if access.count("&") + access.count(";") >= settings.parameters:
            count = access.count("&") + access.count(";") + 1
            return f"{count} parameters (filters.traps.parameters)"
        return None
