"""Story 2: how hosts are treated, read off the server's own log."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from larm.ops.observers import build_crawl
from larm.testing.replies import Reply
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, WatchedLog, asked, check_stored, config_of, run_crawl

PAGES = [f"/{number}" for number in range(12)]


def fill(web: SyntheticWeb, names: list[str]) -> list[str]:
    """Hosts of equally many pages; the start URL of each."""
    for name in names:
        site = web.host(name)
        site.page("/", links=PAGES)
        for path in PAGES:
            site.page(path, links=["/", *PAGES])
    return [web.url(name) for name in names]


def keys(names: list[str]) -> set[str]:
    return {name + path for name in names for path in ["/", *PAGES]}


@pytest.mark.parametrize("threads", [1, 4])
def test_one_request_at_a_time_and_never_closer_than_the_delay(tmp_path: Path, web: SyntheticWeb, threads: int) -> None:
    names = [f"{letter}.localhost" for letter in "abcde"]
    starts = fill(web, names)
    for name in names:
        web.host(name).delay = 0.01  # requests that overlap would show
    run = run_crawl(tmp_path, starts, {"frontier.delay": 0.05, "fetch.threads": threads})
    assert run.reason == "finished"
    assert asked(web) == dict.fromkeys(keys(names), 1)
    for name in names:
        assert web.overlaps(name) == 0
        assert web.closest(name) >= 0.05
    assert web.alternation() > 0.9, "hosts take turns"


def test_hosts_of_one_address_share_a_delay_and_a_number_of_requests(tmp_path: Path, web: SyntheticWeb) -> None:
    """Nothing is known of them when the crawl begins. A connection takes its time, so some milliseconds are allowed for it."""
    names = [f"{letter}.localhost" for letter in "abcdefgh"]
    starts = fill(web, names)
    run = run_crawl(tmp_path, starts, {"frontier.delay": 0.2, "frontier.per_address": 4})
    assert run.reason == "finished"
    assert asked(web) == dict.fromkeys(keys(names), 1)
    times = sorted(request.started for request in web.requests)
    assert times[-1] - times[0] > 0.05 * (len(times) - 1) * 0.95
    assert most_at_a_time(web.requests) <= 4


def test_hosts_take_turns_without_a_delay_too(tmp_path: Path, web: SyntheticWeb) -> None:
    names = [f"{letter}.localhost" for letter in "abcde"]
    starts = fill(web, names)
    for name in names:
        web.host(name).delay = 0.01
    run_crawl(tmp_path, starts, {"fetch.threads": 1})
    order = [request.host for request in web.requests]
    for earlier, later in itertools.pairwise(order[: -len(names)]):
        assert earlier != later
    assert all(web.overlaps(name) == 0 for name in names)


def test_as_many_at_a_time_as_allowed_and_no_more(tmp_path: Path, web: SyntheticWeb) -> None:
    fill(web, ["a.localhost"])
    web.host("a.localhost").delay = 0.05
    run_crawl(tmp_path, web.url("a.localhost"), {"frontier.per_host": 3, "fetch.threads": 2})
    assert most_at_a_time(web.log.requests("a.localhost")) == 3


def most_at_a_time(requests: list[Request]) -> int:
    moments = sorted([(each.started, 1) for each in requests] + [(each.ended, -1) for each in requests])
    return max(itertools.accumulate(change for _, change in moments))


def test_a_slow_answer_is_followed_by_as_long_a_pause(tmp_path: Path, web: SyntheticWeb) -> None:
    """``delay_factor``: a host that needs 80 ms for an answer is asked 80 ms after it again, whatever the delay."""
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/2", "/3"], delay=0.08)
    for number in (1, 2, 3):
        site.page(f"/{number}", delay=0.08)
    run_crawl(tmp_path, web.url("a.localhost"), {"frontier.delay": 0.001})
    pages = [request for request in web.requests if request.path != "/robots.txt"]
    assert [later.started - earlier.ended >= 0.075 for earlier, later in itertools.pairwise(pages)] == [True] * 3


def test_a_crawl_delay_of_robots_txt_is_obeyed(tmp_path: Path, web: SyntheticWeb) -> None:
    starts = fill(web, ["a.localhost", "b.localhost"])
    web.host("a.localhost").robots("User-agent: *\nCrawl-delay: 0.1\nDisallow: /nothing")
    run = run_crawl(tmp_path, starts)
    assert run.reason == "finished"
    assert asked(web) == dict.fromkeys(keys(["a.localhost", "b.localhost"]), 1)
    assert web.closest("a.localhost") >= 0.1, "robots.txt itself is a request like all others"
    log = web.requests
    last_of_b = max(place for place, request in enumerate(log) if request.host == "b.localhost")
    pages_of_a = [place for place, request in enumerate(log) if request.host == "a.localhost"]
    assert last_of_b < pages_of_a[6], "who asks for no delay is not delayed"


def test_a_host_that_stalls_does_not_slow_the_others(tmp_path: Path, web: SyntheticWeb) -> None:
    """It never answers, the time-out is 75 s: all pages of the others are fetched meanwhile, then we stop."""
    names = [f"{letter}.localhost" for letter in "abcd"]
    starts = fill(web, names)
    web.host("stalled.localhost").otherwise(SILENCE)
    crawl = build_crawl(
        config_of([web.url("stalled.localhost"), *starts], {"fetch.threads": 1, "fetch.transfers": 2}), tmp_path
    )
    log = web.log
    assert isinstance(log, WatchedLog)
    answered = keys(names)
    log.when(lambda _: set(asked(web)) >= answered | {"stalled.localhost/"}, crawl.stop)
    assert crawl.run().reason == "shutdown"
    assert web.log.requests("stalled.localhost")[-1].status == 0
    assert asked(web) == dict.fromkeys([*answered, "stalled.localhost/"], 1)


def test_a_host_that_stalls_is_given_up(tmp_path: Path, web: SyntheticWeb) -> None:
    """Five of its URLs time out, the rest is not even tried; the crawl ends with all pages of the others."""
    names = [f"{letter}.localhost" for letter in "abcd"]
    starts = fill(web, names)
    stalled = web.host("stalled.localhost")
    stalled.page("/", links=[f"/{number}" for number in range(20)])
    stalled.otherwise(SILENCE)
    run = run_crawl(
        tmp_path,
        [web.url("stalled.localhost"), *starts],
        {"fetch.timeout": "250ms", "frontier.retries": 0, "frontier.health": 5},
    )
    assert run.reason == "finished"
    assert set(web.fetched()) == keys([*names]) | {"stalled.localhost/"}
    assert run.counters["downloader/exception_type_count/timeout"] == 5
    assert len(asked(web)) == len(keys(names)) + 6
    log = web.requests
    third = [place for place, request in enumerate(log) if request.host == "stalled.localhost"][4]
    assert all(request.host == "stalled.localhost" for request in log[third:]), "the others were through before"
    check_stored(tmp_path, web)


def test_a_slow_host_does_not_slow_the_others(tmp_path: Path, web: SyntheticWeb) -> None:
    names = [f"{letter}.localhost" for letter in "abcd"]
    starts = fill(web, names)
    slow = web.host("slow.localhost")
    slow.page("/", links=[f"/{number}" for number in range(4)])
    slow.otherwise(Reply(200, {"Content-Type": "text/plain"}, b"at last"))
    slow.delay = 0.25
    run = run_crawl(tmp_path, [web.url("slow.localhost"), *starts], {"fetch.threads": 1, "fetch.transfers": 2})
    assert run.reason == "finished"
    assert asked(web) == dict.fromkeys(keys(names) | {"slow.localhost/", *(f"slow.localhost/{n}" for n in range(4))}, 1)
    order = [request.host for request in web.requests]
    fourth = [place for place, host in enumerate(order) if host == "slow.localhost"][3]
    assert set(order[fourth:]) == {"slow.localhost"}
    check_stored(tmp_path, web)
