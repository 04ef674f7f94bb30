"""Hosts that are given up: the crawl ends without them, and they get one more try later (LARM-63 to LARM-65)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from larm.testing import replies
from larm.testing.replies import Reply
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, asked, check_stored, once, run_crawl
from tests.support import bad_replies

PATHS = [f"/{number}" for number in range(12)]


def keys(host: str, *paths: str) -> list[str]:
    return [host + path for path in paths]


@pytest.mark.parametrize("per_host", [1, 4])
def test_a_host_that_falls_silent_is_given_up_however_many_requests_are_in_the_air(
    tmp_path: Path, web: SyntheticWeb, per_host: int
) -> None:
    """Its URLs are not lost, and those in the air when it is given up do not keep the crawl waiting for its next try."""
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    site.otherwise(SILENCE)
    settings = {"fetch.timeout": "300ms", "frontier.health": 2, "frontier.per_host": per_host, "crawl.max_time": 30}
    run = run_crawl(tmp_path, web.url("a.localhost"), settings)
    assert run.reason == "finished"
    assert run.counters["item_scraped_count"] == 1
    assert 2 <= run.counters["downloader/exception_type_count/timeout"] <= 1 + per_host

    for path in PATHS:
        site.page(path)
    web.log.clear()
    second = run_crawl(
        tmp_path, web.url("a.localhost"), settings | {"fetch.timeout": "30s"}
    )  # where others use the machine, too
    assert second.reason == "finished"
    assert web.fetched() == once(*keys("a.localhost", *PATHS)), "the next run finds it well again"
    check_stored(tmp_path, web, pages=keys("a.localhost", "/", *PATHS))


def test_a_host_that_is_given_up_gets_one_more_try_and_then_all_of_its_pages(
    tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks until the host is given up; a slow host keeps the crawl going until it is well again."""
    monkeypatch.setattr("larm.frontier.politeness.DORMANT", 0.2)
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    for path in PATHS:
        site.page(path)
        site.first(path, SILENCE)
    wanted = once(*keys("a.localhost", "/", *PATHS))

    def until_all_is_well(request: Request) -> Reply:
        number = int(request.path[1:] or 0)
        onward = f"<a href=/{number + 1}>" if web.fetched("a.localhost") != wanted and number < 100 else ""
        return replies.html(onward, delay=0.1)

    slow = web.host("slow.localhost")
    for number in range(101):
        slow.add(f"/{number or ''}", until_all_is_well)
    run = run_crawl(
        tmp_path,
        [web.url("slow.localhost"), web.url("a.localhost")],
        {"fetch.timeout": "600ms", "frontier.health": 1, "frontier.per_host": 12},
    )
    assert run.reason == "finished"
    assert web.fetched("a.localhost") == wanted
    assert run.last.hosts_given_up == 0
    check_stored(tmp_path, web)


def test_a_host_that_breaks_off_all_its_answers(tmp_path: Path, web: SyntheticWeb) -> None:
    """Broken connections cost no health; each URL is tried three times."""
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    site.otherwise(replace(bad_replies.half(b"half of it" * 100), status=299))
    run = run_crawl(tmp_path, web.url("a.localhost"), {"frontier.per_host": 4})
    assert run.reason == "finished"
    assert asked(web) == once("a.localhost/") + Counter({"a.localhost" + path: 3 for path in PATHS})
