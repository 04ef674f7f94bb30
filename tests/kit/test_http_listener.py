"""HttpListener: clients that are slow, wrong, many or gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from larm.kit import http_listener
from larm.kit.http_listener import HttpListener, Request, Response
from larm.kit.threads.workers import Workers


class Running(NamedTuple):
    listener: HttpListener
    workers: Workers

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.listener.port), timeout=10)


@contextmanager
def running(answer: Callable[[Request], Response] = lambda request: Response(200, request.body)) -> Iterator[Running]:
    deaths: list[str] = []
    workers = Workers(lambda name, error: deaths.append(f"{name}: {error!r}"))
    listener = HttpListener("127.0.0.1", 0, answer, lambda *_: None, largest=1_000_000)
    workers.start("run", listener.run)
    for number in range(2):
        workers.start(f"serve-{number}", listener.serve)
    try:
        yield Running(listener, workers)
    finally:
        listener.close(0.0)
        assert not workers.join(5.0)
        assert not deaths


def post(body: bytes, *fields: bytes) -> bytes:
    return b"\r\n".join((b"POST /x HTTP/1.1", b"Content-Length: %d" % len(body), *fields, b"", body))


def response(client: socket.socket) -> tuple[int, bytes]:
    """Status and body of the next one."""
    came = b""
    while b"\r\n\r\n" not in came:
        data = client.recv(1)
        assert data, came
        came += data
    size = int(came.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    body = b""
    while len(body) < size:
        body += client.recv(size - len(body))
    return int(came.split(b" ")[1]), body


def ended(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_kept_connection_takes_requests_in_pieces_and_in_advance() -> None:
    with running() as server, server.connect() as client:
        for byte in post(b"one"):
            client.sendall(bytes([byte]))
        assert response(client) == (200, b"one")
        client.sendall(post(b"two") + post(b"three") + post(b"four")[:20])
        assert response(client) == (200, b"two")
        assert response(client) == (200, b"three")
        client.sendall(post(b"four")[20:])
        assert response(client) == (200, b"four")


def test_connection_ends_after_the_response_if_the_client_says_so() -> None:
    with running() as server, server.connect() as client:
        client.sendall(post(b"one", b"Connection: close"))
        assert response(client) == (200, b"one")
        assert ended(client)


def test_kept_connection_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_LIFETIME", -1.0)
    with running() as server, server.connect() as client:
        client.sendall(post(b"one"))
        assert response(client) == (200, b"one")
        assert ended(client)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01", 400),
        (b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST /" + b"x" * 9_000, 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1000001\r\n\r\n" + b"x" * 1000, 413),
    ],
)
def test_malformed_or_large_request_is_refused_and_the_connection_ended(sent: bytes, status: int) -> None:
    with running() as server, server.connect() as client:
        client.sendall(sent)
        assert response(client) == (status, b"")
        assert ended(client)


def test_body_waits_for_memory_that_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_BUFFERED", 1_000)
    taken, go = threading.Event(), threading.Event()

    def answer(request: Request) -> Response:
        taken.set()
        go.wait(10)
        return Response(200, b"")

    with running(answer) as server, server.connect() as first, server.connect() as second, server.connect() as third:
        first.sendall(post(b"x" * 900))
        assert taken.wait(10)
        second.sendall(post(b"x" * 900))
        assert response(second) == (503, b"")
        go.set()
        assert response(first) == (200, b"")
        third.sendall(post(b"x" * 900))
        assert response(third) == (200, b"")


def test_slow_request_is_dropped_and_its_memory_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_REQUEST", 0.05)
    monkeypatch.setattr(http_listener, "_TICK", 0.01)
    with running() as server, server.connect() as client:
        client.sendall(post(b"one"))
        assert response(client) == (200, b"one")
        client.sendall(post(b"x" * 900)[:-1])
        assert ended(client)
        assert server.listener._buffered == 0


def test_silent_clients_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_CONNECTIONS", 3)
    with running() as server:
        silent = [server.connect() for _ in range(5)]
        with server.connect() as client:
            client.sendall(post(b"one"))
            assert response(client) == (200, b"one")
        assert ended(silent[0])
        for each in silent:
            each.close()


def test_client_that_takes_no_response_delays_no_other() -> None:
    large = bytes(50_000_000)
    with running(lambda request: Response(200, large if request.body else b"")) as server:
        deaf = [server.connect() for _ in range(4)]
        for each in deaf:
            each.sendall(post(b"large"))
        with server.connect() as client:
            client.sendall(post(b""))
            assert response(client) == (200, b"")
        assert response(deaf[0]) == (200, large)
        for each in deaf:
            each.close()


def test_client_that_goes_before_its_response_harms_no_other() -> None:
    taken, go = threading.Event(), threading.Event()

    def answer(request: Request) -> Response:
        taken.set()
        go.wait(10)
        return Response(200, bytes(1_000_000))

    with running(answer) as server:
        with server.connect() as client:
            client.sendall(post(b"one"))
            assert taken.wait(10)
        go.set()
        with server.connect() as client:
            client.sendall(post(b"two"))
            assert response(client)[0] == 200


def test_close_lets_a_request_in_progress_end_and_takes_no_other() -> None:
    taken, go = threading.Event(), threading.Event()

    def answer(request: Request) -> Response:
        taken.set()
        go.wait(10)
        return Response(200, b"done")

    with running(answer) as server, server.connect() as busy, server.connect() as idle:
        busy.sendall(post(b"one"))
        assert taken.wait(10)
        server.listener.close(10.0)
        assert ended(idle)
        with pytest.raises(ConnectionRefusedError):
            server.connect()
        go.set()
        assert response(busy) == (200, b"done")
        assert ended(busy)
        busy.close()
        assert not server.workers.join(5.0)
