"""Signed questions over real sockets: to a server of ours, and to some that are not what they should be."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from larm.fetch.http_client import HttpClient, NoAnswer, is_address
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.peers.channel import Breaker, Channel, Contact
from larm.peers.door import Call, Door, Question
from larm.peers.identity import Identity
from larm.peers.yousearch.protocol import Card
from larm.testing.clock import FakeClock
from tests.web.conftest import serving


class Size(msgspec.Struct):
    number: int


class Text(msgspec.Struct):
    text: str


def filled(_: Call, asked: Size) -> Text:
    return Text("x" * asked.number)


@contextmanager
def answering(tmp_path: Path, identity: Identity) -> Iterator[Contact]:
    door = Door(identity, [Question("/fill", Size, Text, filled)], SystemClock())
    shares = SimpleNamespace(all=())
    peering = SimpleNamespace(door=door, card=Card(identity.key), host="", larger={}, shares=shares, peer=None)
    with serving([], tmp_path / "token", peering=peering) as served:
        yield Contact(identity.key, served.address)


@contextmanager
def saying(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that is none of ours."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        died: list[BaseException] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        continue

        workers = Workers(lambda _, error: died.append(error))
        workers.start("larm-test-server", serve)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    assert workers.join(30) == []
    assert died == []


@pytest.fixture
def channel() -> Iterator[Channel]:
    http = HttpClient()
    yield Channel(Identity.new(), http, SystemClock())
    http.close()


def reason(answer: object) -> str:
    assert isinstance(answer, NoAnswer), answer
    return answer.reason


def test_a_question_is_answered(tmp_path: Path, channel: Channel) -> None:
    with answering(tmp_path, Identity.new()) as contact:
        for _ in range(3):
            assert channel.ask(contact, "/fill", Size(5), Text, seconds=30) == Text("xxxxx")
        assert channel.ask(contact, "/fill", Size(5), Text, seconds=30, as_whom=Identity.new()) == Text("xxxxx")
        assert "longer than 1,000 bytes" in reason(channel.ask(contact, "/fill", Size(2_000), Text, seconds=30, most=1_000))
        assert "it refused: 404, there is no such question" in reason(channel.ask(contact, "/no", Size(1), Text, seconds=30))
        assert "can't be read" in reason(channel.ask(contact, "/fill", Size(5), Size, seconds=30))


def test_somebody_else_at_the_address_is_noticed(tmp_path: Path, channel: Channel) -> None:
    with answering(tmp_path, Identity.new()) as contact:
        wrong = msgspec.structs.replace(contact, key=Identity.new().key)
        assert "it refused: 401, it is for another recipient" in reason(channel.ask(wrong, "/fill", Size(5), Text, seconds=30))
    body = b'{"text":"trust me"}'
    with saying(lambda sock: drained(sock, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))) as url:
        said = reason(channel.ask(Contact(Identity.new().key, url), "/fill", Size(5), Text, seconds=30))
    assert "not this peer" in said


def drained(sock: socket.socket, answer: bytes) -> None:
    sock.recv(65_536)
    sock.sendall(answer)


def test_who_hangs_drips_or_floods_costs_a_deadline_and_some_bytes(channel: Channel) -> None:
    def hang(sock: socket.socket) -> None:
        while sock.recv(65_536):
            pass

    def flood(sock: socket.socket) -> None:
        sock.recv(65_536)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            sock.sendall(b"x" * 65_536)

    def long_head(sock: socket.socket) -> None:
        sock.recv(65_536)
        sock.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            sock.sendall(b"x-header: %s\r\n" % (b"y" * 1_000))

    def elsewhere(sock: socket.socket) -> None:
        drained(sock, b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    for answer, says, seconds in (
        (hang, "did not answer within 0.2 s", 0.2),
        (flood, "longer than 1,000,000 bytes", 30.0),
        (long_head, "longer than", 30.0),
        (elsewhere, "it refused: 302", 30.0),
    ):
        with saying(answer) as url:
            assert says in reason(channel.ask(Contact(Identity.new().key, url), "/fill", Size(5), Text, seconds=seconds))


def test_who_hung_the_last_time_is_waited_for_a_third_as_long(channel: Channel) -> None:
    with saying(lambda sock: sock.recv(65_536) and sock.recv(65_536)) as url:
        contact = Contact(Identity.new().key, url)
        said = [reason(channel.ask(contact, "/fill", Size(5), Text, seconds=0.3)) for _ in range(2)]
    assert said == ["it did not answer within 0.3 s", "it did not answer within 0.1 s"]


def test_peer_that_fails_repeatedly_is_not_asked_for_a_while(channel: Channel) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    contact = Contact(Identity.new().key, url)
    said = [reason(channel.ask(contact, "/fill", Size(5), Text, seconds=30)) for _ in range(4)]
    assert ["not asked for a while" in each for each in said] == [False, False, False, True]


def test_a_breaker_lets_one_try_after_each_pause() -> None:
    clock = FakeClock()
    breaker = Breaker(clock)
    for _ in range(3):
        assert breaker.allows("p")
        breaker.failed("p")
    assert not breaker.allows("p")
    assert breaker.allows("q")
    clock.advance(30)
    assert [breaker.allows("p"), breaker.allows("p")] == [True, False]
    breaker.failed("p")
    clock.advance(59)
    assert not breaker.allows("p")
    clock.advance(2)
    assert breaker.allows("p")
    breaker.succeeded("p")
    assert [breaker.allows("p"), breaker.allows("p")] == [True, True]


def test_a_breaker_forgets_who_failed_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.peers.channel._MOST_FAILING", 10)
    breaker = Breaker(FakeClock())
    for n in range(1_000):
        breaker.failed(str(n))
    breaker.failed("999")
    assert len(breaker._failed) == 10
    assert (breaker.failures("999"), breaker.failures("0")) == (2, 0)


def test_addresses_have_no_path_user_or_other_scheme() -> None:
    good = ["http://127.0.0.1:7070", "https://a.example", "http://[::1]:80"]
    bad = [
        "http://a/",
        "ftp://a",
        "http://u@a",
        "http://",
        "http://a:0",
        "http://a:x",
        "http://a b",
        "//a",
        "http://a?b",
        "file:///etc",
    ]
    assert [is_address(each) for each in good + bad] == [True] * 3 + [False] * 10
