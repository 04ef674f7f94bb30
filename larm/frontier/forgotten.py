"""ForgottenGuard: passes over what waits at a host and was forgotten since (``larm forget``).

Implements `larm.frontier.guard.Guard` in front of the traps' desk; on its threads, under the book's lock.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from larm.frontier.guard import Guard
from larm.frontier.host import Host
from larm.model.forgotten import ForgottenPages
from larm.model.message import URLMessage

PASSED = "forgotten/passed_over"
"""Counter: URLs that waited."""


class ForgottenGuard:
    """Where nothing is forgotten, the traps' desk stands alone."""

    def __init__(self, pages: ForgottenPages, traps: Guard, counted: Callable[[str, int], object]) -> None:
        # constant after construction
        self._pages = pages
        self._traps = traps
        self._counted = counted

    def looks_locked(self, host: Host) -> bool:
        """See `Guard`."""
        return not host.robots_tasks

    def hold_locked(self, host: Host, message: URLMessage) -> bool:
        """See `Guard`."""
        if self._pages.holds(message.url.normalised):
            return True
        return self._traps.looks_locked(host) and self._traps.hold_locked(host, message)

    def held(self, messages: Sequence[URLMessage]) -> None:
        """See `Guard`."""
        held = [message for message in messages if not self._pages.holds(message.url.normalised)]
        self._counted(PASSED, len(messages) - len(held))
        if held:
            self._traps.held(held)

    def resume_locked(self, host: Host) -> None:
        """See `Guard`. Retries are no part of the queue."""
        kept = [each for each in host.delayed if not self._pages.holds(each.message.url.normalised)]
        if len(kept) < len(host.delayed):
            self._counted(PASSED, len(host.delayed) - len(kept))
            host.delayed = kept
            heapq.heapify(host.delayed)
        self._traps.resume_locked(host)

    def left_locked(self, host: Host) -> None:
        """See `Guard`."""
        self._traps.left_locked(host)
