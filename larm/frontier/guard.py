"""Guard: whom a lease asks whether an address that waited is still worth while.

`larm.frontier.traps.desk` is one; in front of it stands, where anything is forgotten, that of ``larm forget``.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Protocol

from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.model.forgotten import ForgottenPages
from larm.model.message import URLMessage

PASSED_OVER = 500
"""URLs that are passed over in one go: some milliseconds of the lock. Who leases next goes on."""


class Guard(Protocol):
    """Methods that end in ``_locked`` are called under the book's lock."""

    def looks_locked(self, host: Host) -> bool:
        """Whether it has anything to say of this host."""

    def hold_locked(self, host: Host, message: URLMessage) -> bool:
        """True: it is held back, elsewhere, and not asked for now."""

    def held(self, messages: Sequence[URLMessage]) -> None:
        """These were held back."""

    def resume_locked(self, host: Host) -> None:
        """A host of an earlier run, or of another crawl."""

    def left_locked(self, host: Host) -> None:
        """A host that goes to another crawl."""

    def special_locked(self) -> list[str]:
        """Hosts that the next run has to `resume_locked`, though nothing is changed."""


def pass_over_locked(guard: Guard, book: HostBook, host: Host) -> list[URLMessage]:
    """Take from the queue of a host what its guard holds back, until the guard lets one through or enough was passed over."""
    refused: list[URLMessage] = []
    while len(host.queue) and len(refused) < PASSED_OVER:
        message = take_locked(book, host)
        if not guard.hold_locked(host, message):
            host.queue.put_front([message])
            break
        refused.append(message)
    if refused:
        book.changed_locked(host)
    return refused


def take_locked(book: HostBook, host: Host) -> URLMessage:
    """The first of the queue of a host."""
    held = host.queue.in_memory
    message = host.queue.take(1)[0]
    if (more := host.queue.in_memory - held) > 0:  # a block was read
        book.put_locked(more)
    return message


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

    def special_locked(self) -> list[str]:
        """See `Guard`."""
        return self._traps.special_locked()
