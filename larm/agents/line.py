"""Line: the bus as ``larm-agents`` has it: whatever comes in, questions and answers, waits until that thread takes it.

Only that thread uses it, but for the bus itself, whose callbacks put what they bring into a queue.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import suppress

from larm.agents.bus import Bus, Question


class Line:
    """``addresses``: of the other agents, by name; the greeting keeps them."""

    def __init__(self, bus: Bus, addresses: dict[str, str]) -> None:
        # constant after construction
        self._bus = bus
        self._events: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        # only larm-agents
        self.addresses = addresses

    def open(self, on_question: Callable[[Question], object]) -> None:
        """Raises ConfigError."""
        self._bus.open(lambda question: self._events.put(lambda: on_question(question)))

    def close(self) -> None:
        """Nothing comes in any more."""
        self._bus.close()

    def take(self, seconds: float) -> None:
        """Do what has come in first, or comes in within so many seconds."""
        with suppress(queue.Empty):
            self._events.get(timeout=seconds)()

    def put(self, event: Callable[[], object]) -> None:
        """Have something done on ``larm-agents``. Any thread."""
        self._events.put(event)

    def ask(self, name: str, kind: str, payload: bytes, seconds: float, on_answer: Callable[[bytes | None], object]) -> None:
        """Ask an agent; see `Bus.ask`. The answer comes on ``larm-agents``, and None at once where its address is not known."""
        address = self.addresses.get(name)
        if address is None:
            on_answer(None)
        else:
            self.ask_at(address, kind, payload, seconds, on_answer)

    def ask_at(
        self, address: str, kind: str, payload: bytes, seconds: float, on_answer: Callable[[bytes | None], object]
    ) -> None:
        """The same for who is known by an address only."""
        self._bus.ask(address, kind, payload, seconds, lambda said: self._events.put(lambda: on_answer(said)))
