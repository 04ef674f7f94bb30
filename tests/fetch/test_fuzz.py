"""Any bytes as an answer: an outcome in time, in words that can be printed, and a document for whatever came; no exception."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larm.config import FetchSettings, FrontierSettings, ProcessingSettings, RobotsSettings
from larm.engine.landing import Lander
from larm.fetch.curl_fetcher import CurlFetcher
from larm.kit.units import ByteSize, Seconds
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Failed, Fetched
from larm.model.url import URLNormalizer
from larm.parse.by_mime import processors
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import RawServer

TIMEOUT = 0.7


class Rig(NamedTuple):
    server: RawServer
    fetcher: CurlFetcher
    lander: Lander
    answer: list[bytes]


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """A server that answers with ``answer[0]``, and all that reads it, used for all examples."""
    answer = [b""]
    fetcher = make_fetcher(FetchSettings(timeout=Seconds(TIMEOUT), page_size=ByteSize(5_000)), RobotsSettings())
    normalizer = URLNormalizer()
    lander = Lander(processors(LinkMemo(normalizer), ProcessingSettings()).process, normalizer.join, FrontierSettings(), None)
    with RawServer(lambda request: answer[0]) as server:
        yield Rig(server, fetcher, lander, answer)
        fetcher.close()


def fetch(rig: Rig, answer: bytes) -> None:
    rig.answer[0] = answer
    rig.fetcher.start(lease(rig.server.url()))
    [(found, outcome)] = drain(rig.fetcher, 10.0)
    assert outcome.timing.seconds < TIMEOUT + 5
    if isinstance(outcome, Failed):
        assert outcome.detail
        assert outcome.detail.isprintable()
    if isinstance(outcome, Fetched):
        assert len(outcome.body) <= 5_000
        assert outcome.flaw.isprintable()
    message = URLMessage(URLNormalizer().parse(found.message.url.access))
    landed = rig.lander.land(lease(message.url.access), outcome)
    assert landed.counts["downloader/request_count"] == 1


BODY = b"<!DOCTYPE html><title>t</title><a href='/x'>x</a><p>" + bytes(range(256)) * 3
HEADS = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n",
    b"HTTP/1.0 200\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: http://a b/\xff\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: //\xc3\xa9:99999/\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-2/3\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: \x9b\r\n",
    b"HTTP/1.1 429 Slow\r\nRetry-After: 99999999999999999999\r\n",
    b"HTTP/1.1 999 What\r\nRetry-After: Mon, 99 Xxx\r\n",
    b"HTTP/2 200\r\n",
    b"ICY 200 OK\r\n",
]
FRAMES = {
    b"": lambda body: body,
    b"Content-Length: %d\r\n" % len(BODY): lambda body: body,
    b"Content-Length: -1\r\n": lambda body: body,
    b"Content-Length: 5, 5\r\n": lambda body: body,
    b"Content-Length: 99999999999999999999999\r\n": lambda body: body,
    b"Transfer-Encoding: chunked\r\n": lambda body: b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
    b"Transfer-Encoding: gzip, chunked\r\n": lambda body: b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
    b"Content-Encoding: gzip\r\n": gzip.compress,
    b"Content-Encoding: deflate\r\n": zlib.compress,
    b"Content-Encoding: br\r\n": lambda body: body,
    b"Content-Encoding: zstd, gzip\r\n": gzip.compress,
    b"X-Robots-Tag: none, \x00\r\nLink: <:>; rel=canonical\r\nRefresh: 0;url=\x1b\r\n": lambda body: body,
}
relaxed = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@relaxed
@given(answer=st.binary(max_size=300))
def test_any_bytes(rig: Rig, answer: bytes) -> None:
    fetch(rig, answer)


@relaxed
@given(
    head=st.sampled_from(HEADS),
    frame=st.sampled_from(sorted(FRAMES)),
    cut=st.integers(0, 1500),
    at=st.integers(0, 400),
    dirt=st.binary(max_size=8),
)
def test_answers_that_were_damaged(rig: Rig, head: bytes, frame: bytes, cut: int, at: int, dirt: bytes) -> None:
    """Cut short somewhere, with some bytes of them replaced."""
    whole = head + frame + b"\r\n" + FRAMES[frame](BODY)
    damaged = whole[:at] + dirt + whole[at + len(dirt) :]
    fetch(rig, damaged[:-cut] if cut else damaged)
