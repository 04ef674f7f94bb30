"""Line: the bus as ``larm-agents`` has it: whatever comes in, questions and answers, waits until that thread takes it; and what
goes out is signed (`larm.cluster.said`), as is what comes in, or it is refused.

Only that thread uses it, but for the bus itself, whose callbacks put what they bring into a queue. Questions that come
in faster than they are answered get no answer once `_MOST` of them wait, or `_LARGEST` bytes: who asks will ask again.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress

from larm.cluster.bus import Bus, Question
from larm.cluster.detour import Detour
from larm.cluster.said import GARBAGE, Said, Sealing, fingerprint_of

_MOST, _LARGEST = 2_000, 64_000_000
Asked = Callable[[str, Said], bytes | None]
"""Kind of a question, and what is asked: what to answer; None: nothing."""


class Line:
    """Of the agent ``me``. ``addresses``: of the other agents, by name; the greeting keeps them.

    ``refused`` is told why something was not heard.
    """

    def __init__(
        self,
        me: str,
        bus: Bus,
        seal: Sealing,
        addresses: dict[str, str],
        refused: Callable[..., object],
        *,
        now: Callable[[], float],
        lease: float,
    ) -> None:
        """``now``, ``lease``: see `Detour`."""
        # constant after construction
        self._me = me
        self._bus = Detour(bus, self.put, now, lease)
        self._seal = seal
        self._refused = refused
        self._events: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        # guarded by self._lock
        self._questions, self._bytes = 0, 0
        """That wait."""
        self._unheard = 0
        """Questions for which there was no room."""
        # only larm-agents
        self.addresses = addresses

    def open(self, on_question: Asked) -> None:
        """Raises ConfigError."""
        self._bus.open(lambda question: self._asked(question, on_question))

    def close(self) -> None:
        """Nothing comes in any more."""
        self._bus.close()

    def take(self, seconds: float) -> None:
        """Do what has come in first, or comes in within so many seconds."""
        with suppress(queue.Empty):
            self._events.get(timeout=seconds)()
        if self._unheard:
            with self._lock:
                self._unheard, some = 0, self._unheard
            self._refused(f"questions, as {_MOST:,} of them wait, or {_LARGEST:,} bytes", some)

    def put(self, event: Callable[[], object], question: Question | None = None) -> None:
        """Have something done on ``larm-agents``; about a question only if there is room. Any thread."""
        if question is None:
            self._events.put(event)
            return
        size = len(question.payload)
        with self._lock:
            room = self._questions < _MOST and self._bytes + size <= _LARGEST
            if room:
                self._questions, self._bytes = self._questions + 1, self._bytes + size
            else:
                self._unheard += 1

        def begin() -> None:
            with self._lock:
                self._questions, self._bytes = self._questions - 1, self._bytes - size
            event()

        if room:
            self._events.put(begin)
        else:
            question.answer(None)

    def ask(self, name: str, kind: str, payload: bytes, seconds: float, on_answer: Callable[[bytes | None], object]) -> None:
        """Ask an agent; see `Bus.ask`. The answer comes on ``larm-agents``, and None at once where its address is not known."""
        address = self.addresses.get(name)
        if address is None:
            on_answer(None)
            return

        def answered(said: Said | None) -> None:
            if said is not None and not said.may_speak_for(name):
                self._refused(f"an answer of {said.by}, who was not asked, but {name}")
                said = None
            on_answer(None if said is None else said.payload)

        self.ask_at(address, name, kind, payload, seconds, answered)

    def ask_at(  # noqa: PLR0917
        self, address: str, name: str, kind: str, payload: bytes, seconds: float, on_answer: Callable[[Said | None], object]
    ) -> None:
        """The same for who is known by an address, and perhaps not by his name yet. The caller looks at who has answered."""

        def answered(data: bytes | None) -> None:
            on_answer(None if data is None else self._opened(data, ("answer", kind, fingerprint_of(payload))))

        sealed = self._seal.close(payload, "question", kind, name)
        self._bus.ask(address, kind, sealed, seconds, answered)

    def _asked(self, question: Question, on_question: Asked) -> None:
        kind, answer = question.kind, None
        ours = [("question", kind, self._me)]
        if kind == "beat":
            ours.append(("question", kind, ""))  # of one who does not know yet whom he will find here
        try:
            said = self._opened(question.payload, *ours)
            found = None if said is None else on_question(kind, said)
            if found is not None and said is not None:
                answer = self._seal.close(found, "answer", kind, fingerprint_of(said.payload))
        finally:
            question.answer(answer)

    def _opened(self, data: bytes, *contexts: tuple[str, ...]) -> Said | None:
        """By the first context that fits."""
        why = ""
        for context in contexts:
            try:
                return self._seal.open(data, *context)
            except GARBAGE as error:
                why = str(error)[:200]
        self._refused(why)
        return None
