"""Servers as wrong as they come: a clear outcome for each, nothing hangs, memory stays bounded."""

from __future__ import annotations

import gzip
import socket
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from larm.kit.units import ByteSize, Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome, Refused
from tests.fetch.raw_server import RawServer, page

Serve = Callable[..., RawServer]
Fetching = Callable[..., Outcome]
OK = b"HTTP/1.1 200 OK\r\n"
SHORT = {"timeout": Seconds(0.3)}


def reason(outcome: Outcome) -> FailReason:
    assert isinstance(outcome, Failed), outcome
    assert outcome.detail
    assert outcome.detail.isprintable()
    return outcome.reason


def forever(head: bytes, piece: bytes) -> Iterator[bytes]:
    yield head
    while True:
        yield piece


def test_no_such_host(fetch: Fetching) -> None:
    """A label of 64 characters: no resolver needs to be asked."""
    assert reason(fetch("http://" + "a" * 64 + ".invalid/")) is FailReason.UNRESOLVED


def test_connection_refused(fetch: Fetching) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert reason(fetch(f"http://127.0.0.1:{port}/")) is FailReason.CONNECT


def test_silence(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: server.stall())
    assert reason(fetch(server.url(), **SHORT)) is FailReason.TIMEOUT


def test_silence_in_the_middle_of_a_body(serve: Serve, fetch: Fetching) -> None:
    def answer(request: bytes) -> Iterator[bytes]:
        yield OK + b"Content-Length: 100\r\n\r\nhalf"
        yield from server.stall()

    server = serve(answer)
    assert reason(fetch(server.url(), **SHORT)) is FailReason.TIMEOUT


def test_silence_in_the_handshake(serve: Serve, fetch: Fetching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.fetch.transfer.CONNECT", 0.3)
    server = serve(lambda request: server.stall())
    outcome = fetch(f"https://127.0.0.1:{server.port}/", timeout=Seconds(20))
    assert reason(outcome) is FailReason.TIMEOUT
    assert outcome.timing.seconds < 5.0


def test_a_drop_at_a_time(serve: Serve, fetch: Fetching) -> None:
    """The time-out is for the whole request, however busy the line is."""

    def answer(request: bytes) -> Iterator[bytes]:
        yield OK + b"\r\n"
        while not server.over.wait(0.02):
            yield b"."

    server = serve(answer)
    assert reason(fetch(server.url(), **SHORT)) is FailReason.TIMEOUT


def test_a_time_out_of_nothing_is_not_endless(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: server.stall())
    assert reason(fetch(server.url(), timeout=Seconds(0))) is FailReason.TIMEOUT


def test_closed_without_a_word(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(b"").url())) is FailReason.DROPPED


def test_closed_in_the_headers(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(OK + b"Content-Type: text/html\r\n").url())) is FailReason.DROPPED


def test_closed_in_the_body(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(OK + b"Content-Length: 100\r\n\r\nhalf").url())) is FailReason.DROPPED


def test_closed_in_a_chunk(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(OK + b"Transfer-Encoding: chunked\r\n\r\n10\r\nhalf").url())) is FailReason.DROPPED


def test_chunks_that_are_none(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(OK + b"Transfer-Encoding: chunked\r\n\r\nwhat?\r\n").url())) is FailReason.PROTOCOL


@pytest.mark.parametrize("answer", [b"hello\r\n", b"<html>" * 1000, b"\0" * 5000, b"SSH-2.0-x\r\n", b"220 smtp\r\n"])
def test_not_http(serve: Serve, fetch: Fetching, answer: bytes) -> None:
    assert reason(fetch(serve(answer).url())) is FailReason.PROTOCOL


def test_no_tls(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(f"https://127.0.0.1:{serve(page(b'plain')).port}/")) is FailReason.TLS


def test_one_endless_header(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: forever(OK + b"X: ", b"x" * 10_000))
    assert reason(fetch(server.url())) is FailReason.PROTOCOL


def test_endlessly_many_headers(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: forever(OK, b"X-Header: value\r\n" * 100))
    assert reason(fetch(server.url())) is FailReason.PROTOCOL


def test_endless_interim_answers(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: forever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100))
    assert reason(fetch(server.url())) is FailReason.PROTOCOL


def test_nul_in_a_header(serve: Serve, fetch: Fetching) -> None:
    assert reason(fetch(serve(OK + b"X: a\0b\r\n\r\n").url())) is FailReason.PROTOCOL


def test_an_endless_body_is_cut_exactly_at_the_limit(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: forever(OK + b"\r\n", b"0123456789" * 1000))
    outcome = fetch(server.url(), page_size=ByteSize(123_456))
    assert isinstance(outcome, Fetched)
    assert outcome.truncated
    assert outcome.body == (b"0123456789" * 12_346)[:123_456]


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
def test_the_limit_itself_is_allowed(serve: Serve, fetch: Fetching, size: int, truncated: bool) -> None:
    outcome = fetch(serve(page(b"x" * size)).url(), page_size=ByteSize(1000))
    assert isinstance(outcome, Fetched)
    assert (len(outcome.body), outcome.truncated) == (min(size, 1000), truncated)


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        (b"application/pdf", b"x"),
        (b"application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"x"),
        (b"Application/vnd.oasis.opendocument.text", b"x"),
        (b"application/octet-stream", b"%PDF-1.7"),
    ],
)
@pytest.mark.parametrize(("size", "truncated"), [(400_000, False), (500_000, False), (500_001, True)])
def test_a_document_may_be_larger_than_a_page(
    serve: Serve, fetch: Fetching, kind: bytes, start: bytes, size: int, truncated: bool
) -> None:
    body = start + b"x" * (size - len(start))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, size)
    outcome = fetch(serve(head + body).url(), page_size=ByteSize(1000), document_size=ByteSize(500_000))
    assert isinstance(outcome, Fetched)
    assert (outcome.body, outcome.truncated) == (body[:500_000], truncated)


def test_the_endless_body_of_a_404_is_not_even_kept(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: forever(b"HTTP/1.1 404 Not Found\r\n\r\n", b"x" * 10_000))
    outcome = fetch(server.url())
    assert isinstance(outcome, Refused)
    assert outcome.timing.received < 1_000_000


def test_50_mb_of_nul_are_bounded_in_memory(serve: Serve, fetch: Fetching) -> None:
    server = serve(lambda request: [OK + b"Content-Length: 50000000\r\n\r\n", *([b"\0" * 1_000_000] * 50)])
    assert peak_of(lambda: fetch(server.url(), page_size=ByteSize(1_000_000))) < 6_000_000


def test_a_bomb_is_counted_as_what_it_becomes(serve: Serve, fetch: Fetching) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    server = serve(page(bomb, b"Content-Encoding: gzip"))
    assert peak_of(lambda: fetch(server.url(), page_size=ByteSize(1_000_000))) < 6_000_000


def peak_of(fetch_one: Callable[[], Outcome]) -> int:
    """Most bytes that Python held, the server included, during a fetch which must end truncated at 1 MB."""
    tracemalloc.start()
    try:
        outcome = fetch_one()
        assert isinstance(outcome, Fetched)
        assert (len(outcome.body), outcome.truncated) == (1_000_000, True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


PACKED = gzip.compress(bytes(range(256)) * 100)


@pytest.mark.parametrize("body", [b"\0no text", PACKED[:20] + b"?" * 50 + PACKED[70:], b"\x1f\x8b" + b"\0" * 100])
def test_broken_gzip(serve: Serve, fetch: Fetching, body: bytes) -> None:
    assert reason(fetch(serve(page(body, b"Content-Encoding: gzip")).url())) is FailReason.CONTENT


@pytest.mark.parametrize("coding", [b"rot13", b"gzip", b"br"])
def test_an_encoding_nobody_knows_or_that_is_not_true(serve: Serve, fetch: Fetching, coding: bytes) -> None:
    outcome = fetch(serve(page(b"plain text, " * 20, b"Content-Encoding: " + coding)).url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"plain text, " * 20
    assert coding.decode() in outcome.flaw


def test_broken_gzip_of_a_404_is_still_a_404(serve: Serve, fetch: Fetching) -> None:
    outcome = fetch(serve(page(b"plain text", b"Content-Encoding: gzip", status=b"404 Not Found")).url())
    assert isinstance(outcome, Refused)


def test_a_wrong_content_type_is_not_our_business(serve: Serve, fetch: Fetching) -> None:
    outcome = fetch(serve(page(b"<html>", b"Content-Type: ;;image/\xff;charset")).url())
    assert isinstance(outcome, Fetched)
    assert outcome.headers["content-type"] == ";;image/\xff;charset"


def test_a_url_of_10_000_characters(serve: Serve, fetch: Fetching) -> None:
    server = serve(page(b"long"))
    path = "/" + "a" * 10_000
    assert isinstance(fetch(server.url(path)), Fetched)
    assert path.encode() in server.requests[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://a b/",
        "http://127.0.0.1:99999/",
        "http:///",
        "http://x/\0",
        "http://\N{SNOWMAN}/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "",
        pytest.param("http://x/" + "a" * 9_000_000, id="9 MB"),
    ],
)
def test_what_libcurl_must_not_or_can_not_fetch(fetch: Fetching, url: str) -> None:
    assert reason(fetch(url)) is FailReason.URL


def test_a_gzip_that_was_cut_short_with_the_right_length(serve: Serve, fetch: Fetching) -> None:
    outcome = fetch(serve(page(PACKED[:-20], b"Content-Encoding: gzip")).url())
    assert isinstance(outcome, Fetched)
    assert outcome.truncated
    assert outcome.flaw == "the gzip ends too early"


def test_a_transfer_encoding_nobody_asked_for(serve: Serve, fetch: Fetching) -> None:
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PACKED), PACKED)
    server = serve(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + body)
    outcome = fetch(server.url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == gzip.decompress(PACKED)
    assert b"\r\nte:" not in server.requests[0].lower()
    assert b"\r\nconnection:" not in server.requests[0].lower()
