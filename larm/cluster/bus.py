"""Bus: how agents reach each other: questions with an answer, to an address. What a cluster runs on is behind this.

Nothing in it is lasting and nothing is certain: no answer means that nobody knows whether the question arrived. Both callbacks
come on threads of the bus and must return at once.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol


class Question(NamedTuple):
    """One that came in."""

    kind: str
    payload: bytes
    answer: Callable[[bytes | None], object]
    """To be called once, on any thread; None: nothing is said."""


class Bus(Protocol):
    """`larm.cluster.zenoh_bus` has the real one, `tests.support.local_bus` one within a process."""

    def open(self, on_question: Callable[[Question], object]) -> None:
        """Begin to listen. Raises ConfigError where that is not possible."""

    def ask(self, address: str, kind: str, payload: bytes, timeout: float, on_answer: Callable[[bytes | None], object]) -> None:
        """``on_answer`` is called once: with the answer, or with None after ``timeout`` seconds at the latest."""

    def close(self) -> None:
        """No further callbacks that matter. A second call does nothing."""
