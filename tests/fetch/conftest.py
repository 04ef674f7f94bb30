"""Fixtures: servers and fetchers that are closed after the test, and ``fetch`` for one request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from larm.config import FetchSettings, RobotsSettings
from larm.fetch.curl_fetcher import CurlFetcher
from larm.kit.units import Seconds
from larm.model.outcome import Outcome
from tests.fetch.driving import drain, lease, make_fetcher
from tests.fetch.raw_server import Answer, RawServer


@pytest.fixture
def serve() -> Iterator[Callable[..., RawServer]]:
    """``serve(answer, keep=, tls=)`` -> a running server."""
    with ExitStack() as stack:

        def start(answer: bytes | Answer, **options: bool) -> RawServer:
            return stack.enter_context(RawServer(answer, **options))

        yield start


@pytest.fixture
def fetcher() -> Iterator[Callable[..., CurlFetcher]]:
    """``fetcher(**settings of Fetch)`` -> one that may reach loopback."""
    with ExitStack() as stack:

        def make(**settings: Any) -> CurlFetcher:
            made = make_fetcher(FetchSettings(**{"timeout": Seconds(10), **settings}), RobotsSettings())
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def fetch(fetcher: Callable[..., CurlFetcher]) -> Callable[..., Outcome]:
    """``fetch(url, lease fields=..., **settings of Fetch)`` -> the outcome."""

    def one(url: str, robots: bool = False, etag: str = "", last_modified: str = "", **settings: Any) -> Outcome:
        made = fetcher(**settings)
        made.start(lease(url, robots=robots, etag=etag, last_modified=last_modified))
        [(_, outcome)] = drain(made)
        return outcome

    return partial(one)
