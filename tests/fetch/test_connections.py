"""Connections: kept, bounded, given back, and never to an address that the rule forbids."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from larm.config import FetchSettings
from larm.fetch.addresses import AddressRule
from larm.fetch.curl_fetcher import CurlFetcher, connections_kept
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import RawServer, page

Serve = Callable[..., RawServer]
Making = Callable[..., CurlFetcher]


def one(fetcher: CurlFetcher, url: str) -> Outcome:
    fetcher.start(lease(url))
    [(_, outcome)] = drain(fetcher)
    return outcome


def test_a_connection_is_used_again(serve: Serve, fetcher: Making) -> None:
    server = serve(page(b"x"), keep=True)
    made = fetcher()
    for _ in range(50):
        assert isinstance(one(made, server.url()), Fetched)
    assert server.connections == 1


def test_also_after_answers_that_are_no_pages(serve: Serve, fetcher: Making) -> None:
    statuses = iter([b"404 No", b"302 Moved", b"500 Oops", b"200 OK"] * 5)
    server = serve(lambda request: page(b"x" * 3000, b"Location: /", status=next(statuses)), keep=True)
    made = fetcher()
    for _ in range(20):
        one(made, server.url())
    assert server.connections == 1


def test_a_connection_that_the_server_closed_meanwhile_is_no_failure(serve: Serve, fetcher: Making) -> None:
    server = serve(page(b"x"))  # says nothing of closing, and closes
    made = fetcher()
    for _ in range(10):
        assert isinstance(one(made, server.url()), Fetched)


@pytest.mark.parametrize("tls", [False, True])
def test_a_page_that_hangs_holds_up_no_other_page_of_its_host(serve: Serve, fetcher: Making, tls: bool) -> None:
    server = serve(lambda request: server.stall() if b"/hangs " in request else page(b"x"), tls=tls)
    made = fetcher(transfers=8, insecure_hosts=("all",))
    for path in ("/hangs", "/a", "/b", "/c"):
        made.start(lease(server.url(path, host="localhost")))
    clock = SystemClock()
    deadline = clock.monotonic() + 5.0
    ended: list[Outcome] = []
    while len(ended) < 3:
        assert clock.monotonic() < deadline, "the others wait for it"
        ended += (outcome for _, outcome in made.wait(1.0))
    assert all(isinstance(outcome, Fetched) for outcome in ended)
    assert [one.message.url.access for one in made.abandon()] == [server.url("/hangs", host="localhost")]


def test_many_transfers_to_one_host_use_as_many_connections(serve: Serve, fetcher: Making) -> None:
    server = serve(page(b"x"), keep=True)
    made = fetcher(transfers=32)
    for _ in range(10):
        for _ in range(32):
            made.start(lease(server.url()))
        assert all(isinstance(outcome, Fetched) for _, outcome in drain(made))
    assert server.connections <= 32


def test_connections_to_many_hosts_are_bounded(serve: Serve, fetcher: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 hosts keep no 1,000 sockets open."""
    monkeypatch.setattr("larm.fetch.curl_fetcher._MOST_CONNECTIONS", 8)
    server = serve(page(b"x"), keep=True)
    made = fetcher(transfers=8)
    before = descriptors()
    for number in range(100):
        assert isinstance(one(made, server.url(host=f"h{number}.localhost")), Fetched)
    assert server.connections == 100
    for _ in range(100):  # both ends are in this process, and the server's closes a little later
        if descriptors() - before <= 2 * 8 + 4:
            return
        made.wait(0.05)
    pytest.fail(f"{descriptors() - before} descriptors are still open")


@pytest.mark.parametrize(("soft", "kept"), [(1024, 128), (65_536, 256), (resource.RLIM_INFINITY, 256), (64, 16)])
def test_connections_leave_half_of_the_descriptors(monkeypatch: pytest.MonkeyPatch, soft: int, kept: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, soft))
    assert connections_kept(FetchSettings(threads=4, transfers=16)) == kept


def descriptors() -> int:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no /proc")
    return len(os.listdir("/proc/self/fd"))


def test_2000_requests_leak_no_descriptor(serve: Serve) -> None:
    keeping, closing = serve(page(b"x"), keep=True), serve(page(b"x", b"Connection: close"))
    before = descriptors()
    made = make_fetcher(FetchSettings(transfers=16))
    for number in range(2000):
        server = closing if number % 4 == 0 else keeping
        made.start(lease(server.url(host="localhost" if number % 3 else "127.0.0.1")))
        while made.in_flight >= 16:
            made.wait(1.0)
    drain(made)
    made.close()
    keeping.close()
    closing.close()
    assert descriptors() <= before


PUBLIC_START = "larm.example"


def guarded(*answers: str) -> CurlFetcher:
    """A fetcher of a crawl that began at a public host."""
    return make_fetcher(FetchSettings(timeout=Seconds(10)), rule=AddressRule([PUBLIC_START], False, lambda host: list(answers)))


LOOPBACK = ["127.0.0.1", "localhost", "evil.localhost", "127.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"]


@pytest.mark.parametrize("host", LOOPBACK)
def test_a_public_crawl_opens_no_private_connection(serve: Serve, host: str) -> None:
    server = serve(page(b"secret"))
    made = guarded("93.184.216.34")
    try:
        outcome = one(made, server.url(host=host))
    finally:
        made.close()
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.PRIVATE
    assert "private address" in outcome.detail
    assert server.connections == 0


def test_a_private_start_host_lets_in_who_is_at_its_address_and_nobody_else(serve: Serve) -> None:
    server = serve(page(b"intranet"))
    made = guarded("127.0.0.1")
    try:
        assert isinstance(one(made, server.url(host="wiki.localhost")), Fetched)
        outcome = one(made, server.url(host="127.0.0.2"))
    finally:
        made.close()
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.PRIVATE


def test_out_of_descriptors_is_not_blamed_on_the_host(serve: Serve, fetcher: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(page(b"x"))
    made = fetcher()

    def none_left(*arguments: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("larm.fetch.transfer.socket.socket", none_left)
        outcome = one(made, server.url())
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.DROPPED
    assert "ulimit" in outcome.detail
