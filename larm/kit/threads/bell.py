"""Bell: how anybody tells the main thread that it is over. First come, first heard."""

import queue
from typing import Generic, TypeVar

T = TypeVar("T")


class Bell(Generic[T]):
    """`ring` from any thread and from a signal handler, at any moment; `wait` on the main thread.

    A SimpleQueue, because its ``put`` is made for signal handlers; an Event would deadlock if the signal came just while the
    main thread holds the Event's own lock.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[T] = queue.SimpleQueue()

    def ring(self, reason: T) -> None:
        """Never blocks."""
        self._queue.put(reason)

    def wait(self, seconds: float) -> T | None:
        """The next reason; None if none comes in time."""
        try:
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            return None
