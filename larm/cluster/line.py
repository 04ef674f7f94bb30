"""Line: what agents ask each other, as ``larm-agents`` has it: whatever comes in waits until that thread takes it.

The server's threads put questions into a queue and wait for the answers, so no more of them wait than it has threads; the
client's thread puts answers into it.
"""

import queue
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from contextlib import suppress
from typing import Final

import msgspec

from larm.cluster.agent_client import AgentClient
from larm.cluster.transport import Asked, NoAnswer, Refusal

GARBAGE: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoders raise for what no agent of ours says; the last one for what is nested a thousand times."""
_LATE = Refusal("busy", "it has too much to do now, or it ends")


class Line:
    """``address_of``: of another agent, by its name; empty: not known."""

    def __init__(
        self,
        client: AgentClient,
        address_of: Callable[[str], str],
        on_question: Callable[[Asked], bytes | Refusal],
        seconds: float,
    ) -> None:
        """``on_question``: what to answer, on ``larm-agents``; ``seconds``: in which it has to be answered."""
        # constant after construction
        self._client = client
        self._address_of = address_of
        self._on_question = on_question
        self._seconds = seconds
        self._events: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()

    def take(self, seconds: float) -> None:
        """Do what has come in first, or comes in within so many seconds."""
        with suppress(queue.Empty):
            self._events.get(timeout=seconds)()

    def put(self, event: Callable[[], object]) -> None:
        """Have something done on ``larm-agents``. Any thread."""
        self._events.put(event)

    def ask(self, name: str, kind: str, payload: bytes, on_answer: Callable[[bytes | None], object]) -> None:
        """Ask an agent. The answer comes on ``larm-agents``; None: there is none."""
        address = self._address_of(name)
        if not address:
            on_answer(None)
            return

        def answered(said: bytes | NoAnswer) -> None:
            self.put(lambda: on_answer(said if isinstance(said, bytes) else None))

        self._client.ask(name, address, kind, payload, self._seconds, answered)

    def asked(self, question: Asked) -> bytes | Refusal:
        """What to answer. On a thread of the server, which waits for it."""
        found: Future[bytes | Refusal] = Future()

        def answer() -> None:
            if found.set_running_or_notify_cancel():  # else the server waits no more
                try:
                    found.set_result(self._on_question(question))
                except BaseException as error:
                    found.set_exception(error)
                    raise

        self.put(answer)
        try:
            return found.result(self._seconds)
        except LateError:
            found.cancel()
            return _LATE
