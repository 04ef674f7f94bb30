"""Bodies in the air take so much memory together and no more; and what we hold up is not the fault of a server."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from larm.config import FetchSettings
from larm.fetch.air import STEP, Air
from larm.fetch.curl_fetcher import CurlFetcher
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from tests.fetch.driving import drain, lease, terms
from tests.fetch.raw_server import RawServer

Serve = Callable[..., RawServer]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def whole(body: bytes) -> bytes:
    return OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


class WatchedAir(Air):
    """Remembers the most that was in it."""

    most = 0
    refusals = 0

    def more(self, holder: object) -> bool:
        granted = super().more(holder)
        self.most = max(self.most, self._used)
        self.refusals += not granted
        return granted


class Jumping(SystemClock):
    """A clock that goes on by itself, and in jumps."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


@pytest.fixture
def make() -> Iterator[Callable[..., CurlFetcher]]:
    made: list[CurlFetcher] = []

    def one(air: Air | None = None, clock: SystemClock | None = None, timeout: float = 10, threads: int = 1) -> CurlFetcher:
        settings = FetchSettings(timeout=Seconds(timeout), threads=threads)
        made.append(CurlFetcher(terms(settings, air=air), clock or SystemClock()))
        return made[-1]

    yield one
    for fetcher in made:
        fetcher.close()


def test_a_body_in_chunks_of_one_byte_takes_no_more_memory_than_another(serve: Serve, fetch: Callable[..., Outcome]) -> None:
    size = 100_000
    server = serve(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * size + b"0\r\n\r\n")
    tracemalloc.start()
    try:
        outcome = fetch(server.url())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"x" * size
    assert most < 30 * size


def test_the_first_goes_on_and_the_others_wait_for_it() -> None:
    air, called = Air(2 * STEP), []
    air.on_room = lambda: called.append(repr(air))
    first, second, third = object(), object(), object()
    assert [air.more(first), air.more(second), air.more(third)] == [True, True, False]
    assert [air.more(first), air.more(first)] == [True, True], "whatever it takes"
    assert not air.more(second)
    air.leave(second)
    assert len(called) == 1, "somebody was refused"
    assert not air.more(third)
    air.leave(first)
    assert air.more(third)
    air.leave(third)
    assert called[1:] == ["<Air: 0 of 524,288 bytes, 0 transfers>"]
    air.leave(third)
    assert len(called) == 2


def test_what_does_not_fit_waits_and_comes_whole(serve: Serve, make: Callable[..., CurlFetcher]) -> None:
    bodies = [bytes([letter]) * 2_000_000 for letter in b"abcd"]
    together = threading.Barrier(len(bodies))

    def begun_by_all(body: bytes) -> Iterator[bytes]:
        yield whole(body)[:1000]
        together.wait(10)
        yield whole(body)[1000:]

    air = WatchedAir(3 * STEP)
    fetcher = make(air)
    air.on_room = fetcher.wake
    for body in bodies:
        fetcher.start(lease(serve(lambda _, body=body: begun_by_all(body)).url()))
    found = [outcome.body for _, outcome in drain(fetcher) if isinstance(outcome, Fetched)]
    assert sorted(found) == bodies
    assert air.refusals > 0
    assert air.most <= 3 * STEP + 2_000_000
    assert air._used == 0


def test_what_is_cut_off_while_it_waits_leaves_its_room(serve: Serve, make: Callable[..., CurlFetcher]) -> None:
    air = WatchedAir(STEP)
    assert air.more(air), "somebody holds all there is"
    fetcher = make(air)
    leases = [lease(serve(whole(b"x" * 2_000_000), keep=True).url()) for _ in range(2)]
    for each in leases:
        fetcher.start(each)
    while air.refusals < 2:
        fetcher.wait(0.05)
    assert fetcher.abandon() == leases
    air.leave(air)
    assert air._used == 0


def test_bombs_that_end_together_come_one_after_the_other(
    serve: Serve, make: Callable[..., CurlFetcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("larm.fetch.curl_fetcher._AT_A_TIME", 1_000)
    server = serve(whole(b"x" * 400))
    for threads, most in ((1, 3), (2, 2), (4, 1)):  # of two fetchers each may have half
        fetcher = make(threads=threads)
        for _ in range(6):
            fetcher.start(lease(server.url()))
        batches = []
        while fetcher.in_flight:
            batches.append(len(fetcher.wait(1.0)))
        assert sum(batches) == 6
        assert max(batches) <= most


def test_a_time_out_counts_against_us_where_nobody_turned(serve: Serve, make: Callable[..., CurlFetcher]) -> None:
    silent = serve(lambda _: iter(()), keep=True)
    for absent, reason in ((0.0, FailReason.TIMEOUT), (10.0, FailReason.BUSY)):
        clock = Jumping()
        fetcher = make(clock=clock, timeout=0.2)
        fetcher.start(lease(silent.url()))
        fetcher.wait(0)
        clock.ahead += absent  # somebody parses a large page on its thread
        [(_, outcome)] = drain(fetcher)
        assert isinstance(outcome, Failed)
        assert outcome.reason is reason


def test_a_time_out_of_what_had_to_wait_for_room_is_ours(serve: Serve, make: Callable[..., CurlFetcher]) -> None:
    air = Air(STEP)
    assert air.more(air), "somebody holds all there is"
    fetcher = make(air, timeout=0.3)
    fetcher.start(lease(serve(whole(b"x" * 2_000_000), keep=True).url()))
    [(_, outcome)] = drain(fetcher)
    assert isinstance(outcome, Failed)
    assert outcome.reason is FailReason.BUSY
    assert "larm was busy, or had no room for it" in outcome.detail
