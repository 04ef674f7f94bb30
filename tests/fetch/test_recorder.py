"""What a transfer sends and receives is kept where it is asked for, to the byte."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import pytest

from larm.config import FetchSettings
from larm.fetch.curl_fetcher import CurlFetcher
from larm.kit.clock import SystemClock
from larm.kit.units import ByteSize, Seconds
from larm.model.exchange import Exchange
from larm.model.outcome import Failed, Fetched, Moved, NotModified, Outcome, Refused
from tests.fetch.driving import drain, lease, terms
from tests.fetch.raw_server import RawServer, page


def recording(*, exchanges: bool = True, page_size: int = 20_000_000, timeout: float = 30) -> CurlFetcher:
    settings = FetchSettings(timeout=Seconds(timeout), page_size=ByteSize(page_size), insecure_hosts=("all",))
    return CurlFetcher(terms(settings), SystemClock(), exchanges=exchanges)


@pytest.fixture
def fetcher() -> Iterator[CurlFetcher]:
    made = recording()
    yield made
    made.close()


def one(fetcher: CurlFetcher, url: str, *, robots: bool = False, etag: str = "") -> Outcome:
    fetcher.start(lease(url, robots=robots, etag=etag))
    [(_, outcome)] = drain(fetcher, 60)
    return outcome


def kept(outcome: Outcome) -> Exchange:
    assert outcome.exchange is not None
    return outcome.exchange


def test_request_and_answer_are_those_of_the_wire(fetcher: CurlFetcher) -> None:
    packed = gzip.compress(b"<p>hello")
    odd = b"HTTP/1.1 200  Fine \r\nX-ODD:  a \r\nx-odd: b\r\ncontent-encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    before = SystemClock().wall()
    with RawServer(odd + packed) as server:
        outcome = one(fetcher, server.url("/a?b"), etag='"x"')
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"<p>hello"
    found = kept(outcome)
    assert found.request == server.requests[0]
    assert b'If-None-Match: "x"\r\n' in found.request
    assert (found.url, found.head, found.body) == (server.url("/a?b"), odd, packed)
    assert (found.address, found.truncated, found.tls, found.cipher) == ("127.0.0.1", "", "", "")
    assert before <= found.began <= SystemClock().wall()


@pytest.mark.parametrize("status", [301, 404, 503])
def test_bodies_that_the_crawl_does_not_want_are_kept_whole(fetcher: CurlFetcher, status: int) -> None:
    body = b"x" * 200_000
    with RawServer(page(body, b"Location: /b", status=b"%d No" % status)) as server:
        outcome = one(fetcher, server.url())
    assert isinstance(outcome, Moved if status == 301 else Refused)
    assert kept(outcome).body == body
    assert kept(outcome).head.startswith(b"HTTP/1.1 %d No\r\n" % status)


def test_304_and_robots_have_theirs(fetcher: CurlFetcher) -> None:
    with RawServer(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n") as server:
        outcome = one(fetcher, server.url(), etag="x")
    assert isinstance(outcome, NotModified)
    assert kept(outcome).head == b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    with RawServer(page(b"User-agent: *")) as server:
        assert kept(one(fetcher, server.url("/robots.txt"), robots=True)).body == b"User-agent: *"


def test_neither_early_answers_nor_chunks_nor_trailers(fetcher: CurlFetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with RawServer(early + head + b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n") as server:
        found = kept(one(fetcher, server.url()))
    assert (found.head, found.body) == (head, b"abcde")


def test_a_handle_that_is_used_again_begins_anew(fetcher: CurlFetcher) -> None:
    with RawServer(lambda request: page(request.split()[1]), keep=True) as server:
        for path in ("/a", "/b", "/c"):
            found = kept(one(fetcher, server.url(path)))
            assert (found.url, found.body) == (server.url(path), path.encode())
            assert found.request.startswith(b"GET %b HTTP/1.1\r\n" % path.encode())
            assert found.request.count(b"GET ") == 1


def test_why_a_body_is_not_the_whole_one() -> None:
    short = recording(page_size=1_000)
    with RawServer(page(b"y" * 5_000)) as server:
        found = kept(one(short, server.url()))
    assert (found.truncated, len(found.body)) == ("length", 1_000)
    with RawServer(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc") as server:
        outcome = one(short, server.url())
    assert isinstance(outcome, Failed)
    assert (kept(outcome).truncated, kept(outcome).body) == ("disconnect", b"abc")
    short.close()


def test_a_body_that_does_not_end_in_time() -> None:
    hasty = recording(timeout=0.5)
    with RawServer(lambda _: [b"HTTP/1.1 200 OK\r\n\r\nabc", *server.stall()]) as server:
        outcome = one(hasty, server.url())
        server.over.set()
    hasty.close()
    assert outcome.exchange is None or outcome.exchange.truncated == "time"


def test_where_no_header_came_there_is_none(fetcher: CurlFetcher) -> None:
    for answer in (b"", b"HTTP/1.1 200 OK\r\nServer: x"):
        with RawServer(answer) as server:
            assert one(fetcher, server.url()).exchange is None


def test_tls_is_known_of_connections_that_are_used_again(fetcher: CurlFetcher) -> None:
    with RawServer(page(b"z"), keep=True, tls=True) as server:
        for _ in range(3):
            found = kept(one(fetcher, server.url(host="localhost")))
            assert re.fullmatch(r"TLSv1\.\d", found.tls)
            assert found.cipher.startswith("TLS_")
        assert server.connections == 1
        fetcher.close()  # the server waits for its end


def test_without_a_storage_that_asks_nothing_is_kept() -> None:
    plain = recording(exchanges=False)
    with RawServer(page(b"x" * 100)) as server:
        assert one(plain, server.url()).exchange is None
    plain.close()
