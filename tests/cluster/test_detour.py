"""A and C can't see each other, both see B."""

from __future__ import annotations

import msgspec
import pytest

from larm.cluster.bus import Question
from larm.cluster.detour import KIND, Detour
from larm.kit.units import Seconds
from tests.support.local_bus import Hub, LocalBus


class Net:
    """Three buses and a clock; whoever is asked answers with its name and the question."""

    def __init__(self) -> None:
        self.now = 1.0
        self.hub = Hub()
        self.asked: list[tuple[str, str]] = []
        self.buses = {
            name: Detour(LocalBus(self.hub, name), lambda event, _=None: event(), lambda: self.now, 3.0) for name in "ABC"
        }
        for name, bus in self.buses.items():
            bus.open(lambda question, name=name: self._answer(name, question))  # type: ignore[misc]

    def _answer(self, name: str, question: Question) -> None:
        self.asked.append((name, question.kind))
        question.answer(f"{name}: ".encode() + question.payload)

    def ask(self, one: str, other: str, payload: bytes = b"?") -> bytes | None:
        answers: list[bytes | None] = []
        self.buses[one].ask(other, "beat", payload, Seconds(3), answers.append)
        assert len(answers) == 1
        return answers[0]

    def cut(self, one: str, other: str) -> None:
        self.hub.cut |= {(one, other), (other, one)}


@pytest.fixture
def net() -> Net:
    net = Net()
    for one, other in ("AB", "AC", "BA", "BC", "CA", "CB"):
        assert net.ask(one, other) == f"{other}: ?".encode()
    net.asked.clear()
    return net


def test_what_cant_go_directly_goes_by_way_of_a_third(net: Net) -> None:
    net.cut("A", "C")
    assert net.ask("A", "C") == b"C: ?"
    assert net.ask("C", "A", b"parcel") == b"A: parcel"
    assert net.asked == [("C", "beat"), ("A", "beat")], "who passes it on does not hear it"


def test_the_direct_way_is_taken_again(net: Net) -> None:
    net.cut("A", "C")
    net.ask("A", "C")
    net.hub.cut.clear()
    net.now += 6.0
    net.ask("A", "C")  # both ways: it answers directly
    net.hub.listening.pop("B")
    assert net.ask("A", "C") == b"C: ?"


def test_without_a_third_there_is_no_answer(net: Net) -> None:
    """It does not answer any more, is not there, or can't be reached either."""
    net.cut("A", "C")
    net.cut("B", "C")
    assert net.ask("A", "C") is None
    net.now += 60.0
    net.hub.cut.discard(("B", "C"))
    net.hub.cut.discard(("C", "B"))
    assert net.ask("A", "C") is None, "nobody has answered lately"
    assert net.ask("A", "B") == b"B: ?"
    assert net.ask("A", "C") == b"C: ?"
    net.hub.listening.pop("B")
    assert net.ask("A", "C") is None
    assert net.ask("A", "C") is None


def test_nobody_is_a_way_to_addresses_that_are_not_agents(net: Net) -> None:
    answers: list[bytes | None] = []
    net.hub.listening["D"] = lambda question: question.answer(b"secret")
    for passed in (("D", "beat", 3.0, b""), ("A", KIND, 3.0, b""), ("A", "beat", -1.0, b""), ("A", "beat", 9e9, b""), "no"):
        net.hub.listening["B"](Question(KIND, msgspec.msgpack.encode(passed), answers.append))
    assert answers == [None] * 5
