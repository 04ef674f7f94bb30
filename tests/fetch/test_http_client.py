"""HttpClient: what it can tell of a request that was not answered, and the certificate that it shows."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import pytest

from larm.fetch.http_client import HttpAnswer, HttpClient, NoAnswer
from tests.fetch.raw_server import CERTIFICATE, RawServer, page


@pytest.fixture
def client() -> Iterator[HttpClient]:
    made = HttpClient()
    yield made
    made.close()


def ask(client: HttpClient, url: str) -> HttpAnswer | NoAnswer:
    return client.ask("GET", url, {}, b"", seconds=10, most=1000)


def test_refused_connection_has_sent_nothing(client: HttpClient) -> None:
    with RawServer(page(b"")) as server:
        url = server.url()
    answer = ask(client, url)
    assert isinstance(answer, NoAnswer)
    assert answer.unsent


def test_request_is_sent_if_kept_connection_ends_and_the_next_is_refused(client: HttpClient) -> None:
    with RawServer(lambda request: page(b"") if len(server.requests) == 1 else last(), keep=True) as server:

        def last() -> bytes:
            server._listener.shutdown(socket.SHUT_RDWR)
            raise ConnectionError  # the server dies with the request in its hands

        assert isinstance(ask(client, server.url()), HttpAnswer)
        answer = ask(client, server.url())
        assert isinstance(answer, NoAnswer)
        assert not answer.unsent
        assert len(server.requests) == 2


def test_certificate_is_shown() -> None:
    with RawServer(page(b"in"), tls=True, wants=ssl.CERT_REQUIRED) as server:
        client = HttpClient(ca=str(CERTIFICATE), certificate=str(CERTIFICATE))
        answer = ask(client, server.url(host="localhost"))
        client.close()
        assert isinstance(answer, HttpAnswer), answer
        assert server.shown == [True]


def test_foreign_certificate_has_sent_nothing(client: HttpClient) -> None:
    with RawServer(page(b"in"), tls=True) as server:
        answer = ask(client, server.url(host="localhost"))
        assert isinstance(answer, NoAnswer), answer
        assert answer.unsent
        assert "certificate" in answer.reason
