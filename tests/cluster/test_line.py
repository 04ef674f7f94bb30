"""Line: what comes in waits for the thread of the agents, and is answered once or not at all."""

from __future__ import annotations

import threading
from typing import Any

from larm.cluster.line import Line
from larm.cluster.transport import Asked, NoAnswer, Origin, Refusal
from larm.kit.threads.workers import Workers

ASKED = Asked("parcel", Origin("c", 1, 1, "b", 1), b"x")


class Client:
    """Keeps what it is asked, with the address."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def ask(self, name: str, address: str, kind: str, body: bytes, seconds: float, told: Any) -> None:
        self.asked.append((address, told))


def line_of(client: Client, answer: Any = lambda _: b"yes", seconds: float = 30.0) -> Line:
    return Line(client, lambda name: f"{name}:1" if name == "b" else "", answer, seconds)  # type: ignore[arg-type]


def test_answer_comes_on_the_thread_that_takes_it() -> None:
    client, answers = Client(), list[bytes | None]()
    line = line_of(client)
    line.ask("b", "parcel", b"x", answers.append)
    ((address, told),) = client.asked
    assert address == "b:1"
    told(b"taken")
    assert answers == []
    line.take(0.0)
    assert answers == [b"taken"]
    line.ask("b", "parcel", b"x", answers.append)
    client.asked[1][1](NoAnswer("silent", "it did not answer"))
    line.take(0.0)
    assert answers == [b"taken", None]


def test_agent_without_an_address_gives_no_answer_at_once() -> None:
    client, answers = Client(), list[bytes | None]()
    line_of(client).ask("x", "parcel", b"x", answers.append)
    assert answers == [None]
    assert client.asked == []


def test_question_is_answered_by_the_thread_that_takes_it() -> None:
    threads: list[str] = []

    def answer(asked: Asked) -> bytes:
        threads.append(threading.current_thread().name)
        return asked.body * 2

    line, found = line_of(Client(), answer), list[bytes | Refusal]()
    workers = Workers(lambda name, error: None)
    workers.start("server", lambda: found.append(line.asked(ASKED)))
    line.take(30.0)
    assert workers.join(30.0) == []
    assert found == [b"xx"]
    assert threads == [threading.current_thread().name]


def test_question_that_waits_too_long_is_refused_and_not_carried_out_later() -> None:
    """Its sender asks again: what was carried out without an answer would be carried out twice."""
    done: list[Asked] = []
    line = line_of(Client(), done.append, 0.0)
    found = line.asked(ASKED)
    assert isinstance(found, Refusal)
    assert found.code == "busy"
    line.take(0.0)
    assert done == []
