"""The fetcher against a well-behaved server: what is sent, what comes back, and how it is driven."""

from __future__ import annotations

import gzip
import threading
import time
import zlib
from collections.abc import Callable

import pycurl
import pytest

from larm.config import FetchSettings, RobotsSettings
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.tls import ca_file
from larm.kit.clock import SystemClock
from larm.kit.units import ByteSize, Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused
from larm.seams import Fetcher
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import CERTIFICATE, RawServer, page

Serve = Callable[..., RawServer]
Fetching = Callable[..., Outcome]
Making = Callable[..., CurlFetcher]


def fields(request: bytes) -> dict[str, str]:
    lines = request.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if value}


def test_it_is_a_fetcher(fetcher: Making) -> None:
    made: Fetcher = fetcher()
    assert made.in_flight == 0


def test_a_page(serve: Serve, fetch: Fetching) -> None:
    server = serve(page(b"<p>hello", b"Content-Type: text/html"))
    outcome = fetch(server.url("/a/../b?c=%20d"))
    assert isinstance(outcome, Fetched)
    assert (outcome.status, outcome.body, outcome.truncated) == (200, b"<p>hello", False)
    assert outcome.headers == {"content-length": "8", "content-type": "text/html"}
    assert outcome.timing.received == 8
    assert 0 < outcome.timing.seconds < 10
    assert server.requests[0].startswith(b"GET /a/../b?c=%20d HTTP/1.1\r\n")  # the URL as it was checked


def test_what_is_sent(serve: Serve, fetch: Fetching) -> None:
    server = serve(page(b""))
    fetch(server.url())
    sent = fields(server.requests[0])
    assert sent["user-agent"] == "larm-test/0.1"
    assert {"gzip", "deflate"} <= {coding.strip() for coding in sent["accept-encoding"].split(",")}
    assert set(sent) == {"host", "user-agent", "accept", "accept-encoding"}


def test_conditions_are_sent_and_not_sent_again(serve: Serve, fetcher: Making) -> None:
    server = serve(b"HTTP/1.1 304 Not Modified\r\nETag: new\r\n\r\n")
    made = fetcher()
    date = "Sat, 29 Oct 1994 19:43:31 GMT"
    for conditions in ({"etag": '"x\r\nEvil: 1"', "last_modified": date}, {"etag": '"é"'}, {}):
        made.start(lease(server.url(), **conditions))
        [(_, outcome)] = drain(made)
        assert isinstance(outcome, NotModified)
        assert outcome.headers == {"etag": "new"}
    first, second, third = server.requests
    assert (fields(first)["if-none-match"], fields(first)["if-modified-since"]) == ('"x Evil: 1"', date)
    assert b'If-None-Match: "\xe9"' in second
    assert "if-modified-since" not in fields(second)
    assert "if-none-match" not in fields(third)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_reported_not_followed(serve: Serve, fetch: Fetching, status: int) -> None:
    server = serve(page(b"moved", b"Location: /loop", status=b"%d Moved" % status))
    outcome = fetch(server.url("/loop"))
    assert isinstance(outcome, Moved)
    assert (outcome.status, outcome.location) == (status, "/loop")
    assert len(server.requests) == 1


def test_a_refusal_with_its_date(serve: Serve, fetch: Fetching) -> None:
    outcome = fetch(serve(page(b"busy", b"Retry-After: 120", status=b"503 Busy")).url())
    assert isinstance(outcome, Refused)
    assert (outcome.status, outcome.retry_after) == (503, 120.0)


@pytest.mark.parametrize(("coding", "encode"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress)])
def test_encoded_bodies_are_decoded(serve: Serve, fetch: Fetching, coding: bytes, encode: Callable[[bytes], bytes]) -> None:
    body = b"hello " * 5000
    outcome = fetch(serve(page(encode(body), b"Content-Encoding: " + coding)).url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == body
    assert outcome.timing.received == len(encode(body))


def test_cookies_are_not_kept(serve: Serve, fetcher: Making) -> None:
    server = serve(page(b"", b"Set-Cookie: id=1; Path=/"), keep=True)
    made = fetcher()
    for _ in range(2):
        made.start(lease(server.url()))
        drain(made)
    assert b"ookie" not in server.requests[1]


def test_no_proxy_is_taken_from_the_environment(serve: Serve, fetch: Fetching, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = serve(page(b"proxy"))
    for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url())
    outcome = fetch(serve(page(b"direct")).url())
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"direct"


def test_robots_have_bounds_of_their_own(serve: Serve) -> None:
    server = serve(page(b"x" * 5000))
    settings, robots = FetchSettings(page_size=ByteSize(10_000)), RobotsSettings(size=ByteSize(1000))
    made = make_fetcher(settings, robots)
    try:
        for for_robots, size in ((False, 5000), (True, 1000), (False, 5000)):
            made.start(lease(server.url(), robots=for_robots))
            [(_, outcome)] = drain(made)
            assert isinstance(outcome, Fetched)
            assert (len(outcome.body), outcome.truncated) == (size, for_robots)
    finally:
        made.close()


def test_robots_have_a_time_out_of_their_own(serve: Serve) -> None:
    server = serve(lambda request: server.stall())
    made = make_fetcher(FetchSettings(), RobotsSettings(timeout=Seconds(0.1)))
    try:
        made.start(lease(server.url(), robots=True))
        [(_, outcome)] = drain(made, 5.0)
        assert isinstance(outcome, Failed)
        assert outcome.reason is FailReason.TIMEOUT
    finally:
        made.close()


def test_many_at_a_time_come_back_with_their_leases(serve: Serve, fetcher: Making) -> None:
    server = serve(lambda request: page(request.split(b" ")[1]), keep=True)
    made = fetcher()
    leases = [lease(server.url(f"/{number}")) for number in range(64)]
    for one in leases:
        made.start(one)
    assert made.in_flight == 64
    ended = drain(made)
    assert sorted(one.number for one, _ in ended) == [one.number for one in leases]
    for one, outcome in ended:
        assert isinstance(outcome, Fetched)
        assert one.message.url.access.endswith(outcome.body.decode())


def test_a_host_under_localhost_is_reached_though_nobody_listens_on_its_ipv6_address(serve: Serve, fetch: Fetching) -> None:
    server = serve(page(b"here"))
    outcome = fetch(server.url(host="some-site.localhost"))
    assert isinstance(outcome, Fetched)
    assert outcome.timing.seconds < 1.0


def test_certificates_are_verified(serve: Serve, fetch: Fetching) -> None:
    server = serve(page(b"secret"), tls=True)
    outcome = fetch(server.url(host="localhost"))
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.TLS
    assert isinstance(fetch(server.url(host="localhost"), insecure_hosts=("all",)), Fetched)


def test_some_hosts_may_have_a_certificate_of_their_own(serve: Serve, fetcher: Making) -> None:
    """And only these, with the same fetcher, one after the other; not on a connection that was made for another either."""
    server = serve(page(b"secret"), keep=True, tls=True)
    made = fetcher(insecure_hosts=("A.localhost", f"b.localhost:{server.port}", "c.localhost:443"))
    trusted = []
    for name in ("a", "localhost", "b", "c", "a", "d"):
        host = name if name == "localhost" else f"{name}.localhost"
        made.start(lease(server.url(host=host)))
        [(_, outcome)] = drain(made)
        trusted.append(isinstance(outcome, Fetched))
        if not trusted[-1]:
            assert isinstance(outcome, Failed)
            assert outcome.reason is FailReason.TLS
    assert trusted == [True, False, True, False, True, False]


def test_whom_the_certificate_is_for_is_said_where_it_is_for_another_host(
    serve: Serve, fetch: Fetching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first word with a host, which is robots.txt."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    ca_file.cache_clear()
    try:
        outcome = fetch(serve(page(b"x"), tls=True).url("/robots.txt", host="[::ffff:127.0.0.1]"), robots=True)
    finally:
        ca_file.cache_clear()
    assert isinstance(outcome, Failed)
    said = "the certificate is for localhost, *.localhost, 127.0.0.1; fetch.insecure_hosts trusts it all the same"
    assert (outcome.reason, outcome.detail) == (FailReason.TLS, said)


def test_the_authorities_are_those_of_ssl_cert_file(serve: Serve, fetch: Fetching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    ca_file.cache_clear()
    try:
        assert isinstance(fetch(serve(page(b"secret"), tls=True).url(host="localhost")), Fetched)
    finally:
        ca_file.cache_clear()


def test_wait_returns_when_the_time_is_over_and_burns_no_cpu(serve: Serve, fetcher: Making) -> None:
    server = serve(lambda request: server.stall())
    made = fetcher()
    made.start(lease(server.url()))
    before = time.thread_time()
    assert made.wait(0.4) == []
    assert time.thread_time() - before < 0.1
    assert made.in_flight == 1


def test_wait_without_anything_under_way_waits_too(fetcher: Making) -> None:
    before = time.thread_time()
    assert fetcher().wait(0.2) == []
    assert time.thread_time() - before < 0.1


def test_wake_ends_the_next_wait_once(fetcher: Making) -> None:
    made = fetcher()
    made.wake()
    made.wake()
    began = time.perf_counter()
    made.wait(20.0)
    assert time.perf_counter() - began < 5.0
    began = time.perf_counter()
    made.wait(0.1)
    assert time.perf_counter() - began >= 0.09


def test_wake_ends_a_running_wait(fetcher: Making) -> None:
    made = fetcher()
    waker = threading.Timer(0.05, made.wake)
    waker.start()
    began = time.perf_counter()
    made.wait(20.0)
    assert time.perf_counter() - began < 5.0
    waker.join()


def test_abandon_gives_all_leases_back(serve: Serve, fetcher: Making) -> None:
    server = serve(lambda request: server.stall())
    made = fetcher()
    leases = [lease(server.url(f"/{number}")) for number in range(4)] + [lease("ftp://x/")]
    for one in leases:
        made.start(one)
    made.wait(0.05)
    made.start(lease("ftp://y/"))
    abandoned = {one.message.url.access for one in made.abandon()}
    assert {one.message.url.access for one in leases[:4]} <= abandoned
    assert "ftp://y/" in abandoned
    assert made.in_flight == 0
    made.start(lease(serve(page(b"still works")).url()))
    [(_, outcome)] = drain(made)
    assert isinstance(outcome, Fetched)


def test_close_while_transfers_run_and_twice(serve: Serve) -> None:
    server = serve(lambda request: server.stall())
    made = make_fetcher()
    made.start(lease(server.url()))
    made.wait(0.05)
    made.close()
    made.close()
    made.wake()  # another thread may not know yet
    assert made.in_flight == 0


def test_made_and_closed_by_one_thread_driven_by_another(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    server = serve(page(b"x"), keep=True)
    stalled = serve(lambda request: stalled.stall())
    made = make_fetcher()
    ended: list[object] = []

    def drive() -> None:
        made.start(lease(server.url()))
        made.start(lease(stalled.url()))
        while not ended:
            ended.extend(made.wait(1.0))

    thread = threading.Thread(target=drive)  # noqa: TID251
    thread.start()
    thread.join(10)
    made.close()
    assert len(ended) == 1
    assert capfd.readouterr().err == ""  # where pycurl complains of its callbacks


def test_the_address_of_a_host_holds_for_its_time_and_no_longer(
    serve: Serve, fetcher: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LARM-126. libcurl would look through all addresses after each request; it does so now and then."""
    server = serve(page(b"x", b"Connection: close"), keep=False)
    monkeypatch.setattr("larm.fetch.transfer.DNS_TTL", 1.0)
    monkeypatch.setattr("larm.fetch.curl_fetcher._TIDY", 1.0)
    made = fetcher()
    said: list[str] = []

    def fetch() -> bool:
        said.clear()
        made.start(lease(server.url(host="a.localhost")))
        [(_, outcome)] = drain(made)
        assert isinstance(outcome, Fetched)
        return any("found in DNS cache" in line for line in said)

    fetch()
    [transfer] = made._idle
    transfer.handle.setopt(pycurl.VERBOSE, 1)
    transfer.handle.setopt(pycurl.DEBUGFUNCTION, lambda _, line: said.append(line.decode("latin-1")))
    assert fetch()
    deadline = SystemClock().monotonic() + 30
    while fetch():
        assert SystemClock().monotonic() < deadline


def test_only_now_and_then_all_addresses_are_looked_through(serve: Serve, fetcher: Making) -> None:
    made, server = fetcher(), serve(page(b"x"))
    for _ in range(3):
        made.start(lease(server.url()))
    assert [transfer._tidying for transfer in made._active.values()] == [True, False, False]
    drain(made)
