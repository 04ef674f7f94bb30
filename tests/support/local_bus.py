"""LocalBus: agents of one process reach each other without a network. Implements `larm.cluster.bus.Bus`.

A question is delivered on the thread that asks; links can be cut.
"""

from collections.abc import Callable

from larm.cluster.bus import Question


class Hub:
    """What the buses of one test have in common."""

    def __init__(self) -> None:
        # single operations on a dictionary
        self.listening: dict[str, Callable[[Question], object]] = {}
        self.cut: set[tuple[str, str]] = set()
        """Pairs of addresses, from and to, between which nothing passes."""


class LocalBus:
    """Of the agent at ``address``."""

    def __init__(self, hub: Hub, address: str) -> None:
        # constant after construction
        self._hub = hub
        self._address = address

    def open(self, on_question: Callable[[Question], object]) -> None:
        """See `Bus`."""
        self._hub.listening[self._address] = on_question

    def ask(
        self,
        address: str,
        kind: str,
        payload: bytes,
        timeout: float,
        on_answer: Callable[[bytes | None], object],
    ) -> None:
        """See `Bus`."""
        listener = self._hub.listening.get(address)
        if listener is None or (self._address, address) in self._hub.cut:
            on_answer(None)
            return
        back = (address, self._address) not in self._hub.cut
        listener(Question(kind, payload, on_answer if back else lambda _: on_answer(None)))

    def close(self) -> None:
        """See `Bus`."""
        self._hub.listening.pop(self._address, None)
