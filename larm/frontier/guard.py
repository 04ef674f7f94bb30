"""Guard: whom a lease asks whether an address that waited is still worth while; `larm.frontier.traps.desk` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from larm.frontier.host import Host
from larm.frontier.hosts import HostBook
from larm.model.message import URLMessage

PASSED_OVER = 500
"""URLs that are passed over in one go: some milliseconds of the lock. Who leases next goes on."""


class Guard(Protocol):
    """Methods that end in ``_locked`` are called under the book's lock."""

    def looks_locked(self, host: Host) -> bool:
        """Whether it has anything to say of this host."""
        ...

    def hold_locked(self, host: Host, message: URLMessage) -> bool:
        """True: it is held back, elsewhere, and not asked for now."""
        ...

    def held(self, messages: Sequence[URLMessage]) -> None:
        """These were held back."""
        ...

    def resume_locked(self, host: Host) -> None:
        """A host of an earlier run, or of another crawl."""
        ...

    def left_locked(self, host: Host) -> None:
        """A host that goes to another crawl."""
        ...


def pass_over_locked(guard: Guard, book: HostBook, host: Host) -> list[URLMessage]:
    """Take from the queue of a host what is held back, until something is let through, or enough was passed over."""
    refused: list[URLMessage] = []
    if not guard.looks_locked(host):
        return refused
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
    book.put_locked(max(host.queue.in_memory - held, 0))  # a block was read
    return message
