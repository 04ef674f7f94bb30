"""Names of which DNS says nothing: they hold up nobody else, and what waits for them can be taken back at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import pytest

from larm.config import FetchSettings
from larm.fetch import look_ups
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.look_ups import Found, LookUp, LookUps, name_in
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from larm.testing.clock import FakeClock
from tests.fetch.driving import drain, lease, terms
from tests.fetch.raw_server import RawServer, page


class Dns:
    """Hosts are at 127.0.0.1, but for those whose names begin with ``hang``, until somebody lets them go, and with ``no``."""

    place = "127.0.0.1"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.families: set[int] = set()
        self.let_go = threading.Event()

    def __call__(self, host: str, family: int) -> Sequence[str]:
        self.asked.append(host)
        self.families.add(family)
        if host.startswith("hang"):
            self.let_go.wait(60)
        if host.startswith(("hang", "no")):
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if host.startswith("bad"):
            raise OSError(24, "Too many open files")
        return [self.place]


@pytest.fixture
def dns() -> Iterator[Dns]:
    made = Dns()
    yield made
    made.let_go.set()


Making = Callable[..., CurlFetcher]


@pytest.fixture
def fetcher(dns: Dns) -> Iterator[Making]:
    """``fetcher(most, **settings of Fetch)``; ``most`` look-ups at a time."""
    undo: list[Callable[[], None]] = []

    def make(most: int = 8, **settings: Any) -> CurlFetcher:
        made = FetchSettings(**{"timeout": Seconds(10), **settings})
        names = LookUps(SystemClock(), made.ip, most, dns)
        found = CurlFetcher(terms(made)._replace(names=names), SystemClock())
        undo.extend((found.close, names.close))
        return found

    yield make
    for each in undo:
        each()


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer(page(b"here"), keep=True) as running:
        yield running


def failed(outcome: Outcome) -> tuple[FailReason, str]:
    assert isinstance(outcome, Failed)
    return outcome.reason, outcome.detail


def ended(fetcher: CurlFetcher, count: int) -> list[Outcome]:
    """So many outcomes, of all that is under way."""
    clock = SystemClock()
    deadline, outcomes = clock.monotonic() + 20, []
    while len(outcomes) < count:
        assert clock.monotonic() < deadline, fetcher
        outcomes += [outcome for _, outcome in fetcher.wait(1.0)]
    return outcomes


def test_names_that_hang_take_no_place_of_other_hosts(fetcher: Making, dns: Dns, server: RawServer) -> None:
    """Of two places; libcurl would look up ten names at a time."""
    made = fetcher(most=40, transfers=2)
    hanging = [lease(server.url(host=f"hang{number}.test")) for number in range(30)]
    for each in hanging:
        made.start(each)
    for number in range(12):
        made.start(lease(server.url(host=f"live{number}.test")))
    assert all(isinstance(outcome, Fetched) for outcome in ended(made, 12))
    assert (made.in_flight, made.aside) == (30, 30)
    assert {each.number for each in made.abandon()} == {each.number for each in hanging}
    assert (made.in_flight, made.aside) == (0, 0)
    dns.let_go.set()
    made.start(lease(server.url(host="live0.test")))
    assert isinstance(drain(made)[0][1], Fetched), "what was given back does not come back"


def test_no_more_is_under_way_than_may_be_however_many_names_are_found_at_once(fetcher: Making, server: RawServer) -> None:
    made = fetcher(most=1, transfers=2)
    for number in range(9):
        made.start(lease(server.url(host=f"live{number}.test")))
    active = set()
    while made.in_flight:
        made.wait(1.0)
        active.add(len(made._active))
    assert max(active) <= 2
    assert len(server.requests) == 9


def test_all_requests_of_a_host_wait_for_one_look_up(fetcher: Making, dns: Dns, server: RawServer) -> None:
    """One of them takes no place, the others do, or one host could take any number."""
    made = fetcher(most=1)
    made.start(lease(server.url(host="hang.test")))
    while not dns.asked:
        made.wait(0.01)
    for host in ("hang.test", "live.test"):
        made.start(lease(server.url(host=host)))
    assert (made.in_flight, made.aside) == (3, 1), "live.test waits for a thread"
    dns.let_go.set()
    outcomes = ended(made, 3)
    assert [isinstance(each, Fetched) for each in outcomes].count(True) == 1
    assert dns.asked == ["hang.test", "live.test"]


def test_an_address_holds_for_its_time(fetcher: Making, dns: Dns, server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for ttl, count in ((60.0, 1), (0.0, 3)):
        dns.asked.clear()
        monkeypatch.setattr("larm.fetch.look_ups.DNS_TTL", ttl)
        made = fetcher(ip="4")
        for _ in range(3):
            made.start(lease(server.url(host="live.test")))
            assert isinstance(ended(made, 1)[0], Fetched)
        assert dns.asked == ["live.test"] * count
    assert dns.families == {socket.AF_INET}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("no.test", (FailReason.UNRESOLVED, "Could not resolve host: no.test (Temporary failure in name resolution)")),
        ("bad.test", (FailReason.DROPPED, "bad.test could not be looked up: [Errno 24] Too many open files")),
    ],
)
def test_a_failure_is_told_and_not_remembered(fetcher: Making, dns: Dns, host: str, expected: tuple[FailReason, str]) -> None:
    made = fetcher()
    for times in (1, 2):
        made.start(lease(f"http://{host}/"))
        assert failed(ended(made, 1)[0]) == expected
        assert dns.asked == [host] * times


def test_a_name_that_hangs_for_too_long_is_given_up_and_may_be_asked_again(
    fetcher: Making, dns: Dns, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("larm.fetch.curl_fetcher.CONNECT", 0.05)
    made = fetcher()
    made.start(lease(server.url(host="hang.test")))
    said = "the look-up of hang.test in DNS took more than 0.05 s"
    assert failed(ended(made, 1)[0]) == (FailReason.TIMEOUT, said)
    dns.let_go.set()  # the answer that nobody waits for any more comes to nobody
    made.start(lease(server.url(host="live.test")))
    assert isinstance(ended(made, 1)[0], Fetched)
    made.start(lease(server.url(host="hang.test")))
    assert failed(ended(made, 1)[0])[0] is FailReason.UNRESOLVED


@pytest.mark.parametrize("closed", [True, False])
def test_a_host_that_moves_is_found_where_it_is_now(
    fetcher: Making, dns: Dns, server: RawServer, monkeypatch: pytest.MonkeyPatch, *, closed: bool
) -> None:
    """Not an hour later, when its old address is too old: it would be given up by then."""
    made = fetcher(timeout=Seconds(1 if not closed else 10))
    with socket.create_server(("127.0.0.2", urlsplit(server.url()).port or 0)) as elsewhere:  # it accepts, and says nothing
        if closed:
            elsewhere.close()
        monkeypatch.setattr(Dns, "place", "127.0.0.2")
        made.start(lease(server.url(host="live.test")))
        assert failed(ended(made, 1)[0])[0] is (FailReason.CONNECT if closed else FailReason.TIMEOUT)
        monkeypatch.undo()
        made.start(lease(server.url(host="live.test")))
        assert isinstance(ended(made, 1)[0], Fetched)
    assert dns.asked == ["live.test"] * 2


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://www.example.org/x", "www.example.org"),
        ("https://WWW.example.org.:8443/x", "WWW.example.org"),
        ("http://127.0.0.1/", ""),
        ("http://[::1]:80/", ""),
        ("http://a.localhost/", ""),
        ("http://localhost./", ""),
        ("http://www.Localhost/", ""),
        ("http://abc.onion/", ""),
        ("https://www.ABC.Onion.:8443/", ""),
        ("http://myonion/", "myonion"),
        ("ftp://example.org/", ""),
        ("http://a b/", ""),
        (f"http://{'a' * 254}/", ""),
        ("", ""),
    ],
)
def test_which_names_are_looked_up(url: str, name: str) -> None:
    assert name_in(url) == name


# -- the look-ups alone


@pytest.mark.parametrize("allowed", [0, 1])
def test_where_no_thread_may_be_started_those_there_are_do_the_work(
    dns: Dns, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    """As in a container with few processes: that is no reason to end the crawl."""
    names = LookUps(FakeClock(), resolve=dns)
    start, started = names._workers.start, list[str]()

    def start_few(name: str, target: Callable[[], None]) -> None:
        if len(started) >= allowed:
            raise RuntimeError("can't start new thread")
        started.append(name)
        start(name, target)

    monkeypatch.setattr(names._workers, "start", start_few)
    came: SimpleQueue[tuple[LookUp, Found]] = SimpleQueue()
    asked = [names.ask(f"live{number}.test", lambda *answer: came.put(answer)) for number in range(3)]
    why = "could not be looked up: no thread may be started"
    failed = [Found((), FailReason.DROPPED, f"{each.host} {why}") for each in asked]
    expected = [Found(("127.0.0.1",))] * 3 if allowed else failed
    assert [came.get(timeout=30) for _ in range(3)] == list(zip(asked, expected, strict=True))
    assert names.waiting == 0
    names.close()


def test_threads_are_used_again_and_go_when_there_is_nothing_to_do(dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ups, "_IDLE", 0.01)
    names = LookUps(FakeClock(), resolve=dns)
    came: SimpleQueue[tuple[LookUp, Found]] = SimpleQueue()
    for number in range(20):
        asked = names.ask(f"live{number}.test", lambda *answer: came.put(answer))
        assert came.get(timeout=30) == (asked, Found(("127.0.0.1",)))
    names._workers.join(30)
    assert (names._workers.alive(), names.under_way, names.waiting) == ([], 0, 0)


def test_the_hosts_that_were_found_last_are_remembered(dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ups, "_REMEMBERED", 2)
    names = LookUps(FakeClock(), resolve=dns)
    came: SimpleQueue[tuple[LookUp, Found]] = SimpleQueue()
    hosts = ["a.test", "b.test", "a.test", "c.test"]
    for host in hosts:
        names.ask(host, lambda *answer: came.put(answer))
        came.get(timeout=30)
    assert [host for host in sorted(set(hosts)) if names.known(host)] == ["a.test", "c.test"]
    names.close()


def test_what_was_found_is_forgotten_in_time_and_in_its_order(dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr("larm.fetch.look_ups.DNS_TTL", 10.0)
    names = LookUps(clock, resolve=dns)
    came: SimpleQueue[tuple[LookUp, Found]] = SimpleQueue()
    for _ in range(4):
        for host in ("a.test", "b.test"):
            names.ask(host, lambda *answer: came.put(answer))
            came.get(timeout=30)
        assert (names.known("a.test"), names.known("c.test")) == (Found(("127.0.0.1",)), None)
        clock.advance(10.0)
        assert names.known("a.test") is None
    names.ask("c.test", lambda *answer: came.put(answer))
    came.get(timeout=30)
    assert "1 known" in repr(names)
    names.close()
