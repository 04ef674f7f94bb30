"""Detour: agents that can't see each other ask by way of a third one that sees both. On ``larm-agents``.

A question that got no answer is asked again through another agent, one that has answered lately; it is passed on as it is, and
so is the answer. What worked goes on at once for the next questions, and now and then the direct way is tried again. Whoever
passes something on does so to addresses that it asks by itself, and only once. Questions may thus be heard twice, as they may
be anyway.
"""

from collections.abc import Callable

import msgspec

from larm.cluster.bus import Bus, Question
from larm.cluster.said import GARBAGE

KIND = "pass"
_TRIED_AGAIN = 5.0
"""Seconds between two tries of the direct way while a detour is taken."""
_LATELY = 3.0
"""Leases in which somebody must have answered to be asked to pass something on."""
_ADDRESSES = 4_000
_passed = msgspec.msgpack.Decoder(tuple[str, str, float, bytes])
_encode = msgspec.msgpack.Encoder().encode
_OnAnswer = Callable[[bytes | None], object]


class Detour:
    """In place of a `larm.cluster.bus.Bus`. ``later``: have something done on our thread, as no thread of a bus may ask; that
    about a question, which is its second argument, may be left.
    """

    def __init__(self, bus: Bus, later: Callable[..., object], now: Callable[[], float], lease: float) -> None:
        """``now``: the clock of agents; ``lease``: seconds."""
        # constant after construction
        self._bus = bus
        self._later = later
        self._now = now
        self._lease = lease
        # only larm-agents
        self._answered: dict[str, float] = {}
        """When an address has answered directly, at last; 0: never, but it was asked."""
        self._by: dict[str, str] = {}
        """Of an address that does not answer, who passes on what it is asked."""
        self._tried: dict[str, float] = {}

    def open(self, on_question: Callable[[Question], object]) -> None:
        """See `Bus`."""
        self._bus.open(lambda question: self._later(lambda: self._asked(question, on_question), question))

    def ask(self, address: str, kind: str, payload: bytes, timeout: float, on_answer: _OnAnswer) -> None:
        """See `Bus`; with a detour it may take twice as long."""
        if len(self._answered) > _ADDRESSES:  # others tell them, and may do so without end
            for known in (self._answered, self._by, self._tried):
                known.clear()
        self._answered.setdefault(address, 0.0)
        by = self._by.get(address)
        if by is None:
            self._directly(
                address, kind, payload, timeout, lambda said: self._said(address, kind, payload, timeout, said, on_answer)
            )
            return
        self._ask_by(by, address, kind, payload, timeout, on_answer)
        if self._now() - self._tried.get(address, 0.0) >= _TRIED_AGAIN:
            self._tried[address] = self._now()
            self._directly(address, kind, payload, timeout, lambda _: None)

    def close(self) -> None:
        """See `Bus`."""
        self._bus.close()

    def _asked(self, question: Question, on_question: Callable[[Question], object]) -> None:
        if question.kind == KIND:
            self._pass_on(question)
        else:
            on_question(question)

    def _directly(self, address: str, kind: str, payload: bytes, timeout: float, on_answer: _OnAnswer) -> None:
        def answered(said: bytes | None) -> None:
            if said is not None:
                self._answered[address] = self._now()
                self._by.pop(address, None)
            on_answer(said)

        self._bus.ask(address, kind, payload, timeout, lambda said: self._later(lambda: answered(said)))

    def _said(  # noqa: PLR0917
        self, address: str, kind: str, payload: bytes, timeout: float, said: bytes | None, on_answer: _OnAnswer
    ) -> None:
        by = self._helper(address) if said is None else None
        if by is None:
            on_answer(said)
        else:
            self._ask_by(by, address, kind, payload, timeout, on_answer)

    def _ask_by(  # noqa: PLR0917
        self, by: str, address: str, kind: str, payload: bytes, timeout: float, on_answer: _OnAnswer
    ) -> None:
        def answered(said: bytes | None) -> None:
            if not said:  # who was to pass it on does not answer, or got no answer
                self._by.pop(address, None)
            else:
                self._by[address] = by
            on_answer(said or None)

        self._bus.ask(
            by,
            KIND,
            _encode((address, kind, float(timeout), payload)),
            2 * timeout,
            lambda said: self._later(lambda: answered(said)),
        )

    def _helper(self, address: str) -> str | None:
        """Who has answered last, if that is not long ago."""
        known = {other: at for other, at in self._answered.items() if other != address}
        last = max(known, key=known.__getitem__, default=None)
        return last if last is not None and known[last] and self._now() - known[last] < _LATELY * self._lease else None

    def _pass_on(self, question: Question) -> None:
        try:
            address, kind, timeout, payload = _passed.decode(question.payload)
        except GARBAGE:
            question.answer(None)
            return
        if kind == KIND or address not in self._answered or not 0 < timeout <= 60:
            question.answer(None)
        else:
            self._directly(address, kind, payload, timeout, question.answer)
