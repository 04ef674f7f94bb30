"""Leases and fetchers for tests."""

from __future__ import annotations

import itertools

from larm.config import FetchSettings, FrontierSettings, RobotsSettings
from larm.fetch.addresses import AddressRule
from larm.fetch.air import Air
from larm.fetch.curl_fetcher import CurlFetcher
from larm.fetch.look_ups import LookUps
from larm.fetch.terms import FetchTerms
from larm.frontier.shared_addresses import SharedAddresses
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.lease import Lease
from larm.model.message import Known, URLMessage
from larm.model.outcome import Outcome
from larm.model.url import Url

_numbers = itertools.count(1)


def lease(url: str, robots: bool = False, etag: str = "", last_modified: str = "") -> Lease:
    known = Known(etag, last_modified, digest=0) if etag or last_modified else None
    return Lease(next(_numbers), "host", URLMessage(Url(url, url, "host", 0), known=known), robots=robots)


def make_fetcher(
    settings: FetchSettings | None = None, robots: RobotsSettings | None = None, rule: AddressRule | None = None
) -> CurlFetcher:
    return CurlFetcher(terms(settings or FetchSettings(), robots, rule), SystemClock())


def terms(
    settings: FetchSettings, robots: RobotsSettings | None = None, rule: AddressRule | None = None, air: Air | None = None
) -> FetchTerms:
    rule = rule or AddressRule([], allow_private=True)
    crowd = SharedAddresses(SystemClock(), FrontierSettings(delay=Seconds(0)))
    names = LookUps(SystemClock())
    return FetchTerms(settings, robots or RobotsSettings(), "larm-test/0.1", rule, crowd, air or Air(settings.page_size), names)


def drain(fetcher: CurlFetcher, seconds: float = 20.0) -> list[tuple[Lease, Outcome]]:
    """All that is under way; fails if it takes longer."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    ended: list[tuple[Lease, Outcome]] = []
    while fetcher.in_flight:
        assert clock.monotonic() < deadline, f"a transfer hangs: {fetcher!r}"
        ended += fetcher.wait(1.0)
    return ended
