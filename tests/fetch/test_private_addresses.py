"""Ways into an intranet, by real connections.

127.0.0.1 stands for the web here, 127.0.0.2 for a machine behind the firewall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from larm.config import FetchSettings
from larm.fetch import addresses
from larm.fetch.addresses import AddressRule
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.look_ups import LookUps
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, FailReason, Fetched, Outcome
from larm.model.url import URLNormalizer
from tests.fetch.driving import drain, lease, terms
from tests.fetch.raw_server import RawServer, page

WEB, INTRANET, ELSEWHERE = "127.0.0.1", "127.0.0.2", "8.8.8.8"


Get = Callable[..., Outcome]


@pytest.fixture
def server() -> Iterator[RawServer]:
    """Reachable at all addresses of this machine; each answer ends the connection."""
    with RawServer(page(b"secret"), address="0.0.0.0") as running:
        yield running


@pytest.fixture
def get(server: RawServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Get]:
    """``get(url, addresses of evil.example)``; the start host is evil.example."""
    monkeypatch.setattr(addresses, "is_public", lambda ip: ip in (WEB, ELSEWHERE))
    rule = AddressRule(["evil.example"], False, lambda host: [ELSEWHERE])
    with ExitStack() as stack:

        def one(url: str, *answers: str) -> Outcome:
            settings = FetchSettings(timeout=Seconds(5), ip="any")
            names = LookUps(SystemClock(), resolve=lambda _, __: answers)
            fetcher = CurlFetcher(terms(settings, rule=rule)._replace(names=names), SystemClock())
            stack.callback(fetcher.close)
            fetcher.start(lease(URLNormalizer().parse(url).access))
            [(_, outcome)] = drain(fetcher)
            return outcome

        yield one


def refused(outcome: Outcome) -> bool:
    return isinstance(outcome, Failed) and outcome.reason is FailReason.PRIVATE


def test_the_web_is_reached(server: RawServer, get: Get) -> None:
    assert isinstance(get(server.url(host="evil.example"), WEB), Fetched)


@pytest.mark.parametrize("answers", [(INTRANET, WEB), (WEB, INTRANET)])
def test_of_an_answer_of_both_kinds_only_the_public_address_is_used(
    server: RawServer, get: Get, answers: tuple[str, ...]
) -> None:
    assert isinstance(get(server.url(host="evil.example"), *answers), Fetched)
    assert set(server.reached) == {WEB}


def test_a_name_that_moves_between_two_requests(server: RawServer, get: Get) -> None:
    assert isinstance(get(server.url(host="evil.example"), WEB), Fetched)
    assert refused(get(server.url(host="evil.example"), INTRANET))
    assert set(server.reached) == {WEB}


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.2",
        "127.2",
        "2130706434",
        "0x7f000002",
        "0x7f.0.2",
        "0177.0.0.02",
        "%31%32%37.0.0.2",
        "\uff11\uff12\uff17.0.0.2",
        "\u2460\u2461\u2466.0.0.2",
        "127.0.0.2.",
        "127\u30020\u30020\u30022",
        "[::ffff:127.0.0.2]",
        "[::ffff:7f00:2]",
        "user@127.0.0.2",
        "evil.example@127.0.0.2",
        "0",
        "0.0.0.0",
        "[::]",
        "localhost.",
        "a.localhost",
    ],
)
def test_all_the_ways_to_write_an_address(server: RawServer, get: Get, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the text, the rule is asked with the address that would be connected to."""
    monkeypatch.setattr(addresses, "is_public", lambda ip: ip == ELSEWHERE)
    outcome = get(f"http://{host}:{server.port}/")
    assert refused(outcome) or (host == "[::]" and isinstance(outcome, Failed))
    assert server.connections == 0
