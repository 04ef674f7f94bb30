"""A server that asks us to come again in years does not keep a crawl running: it ends, says so, and the next run goes on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, run_crawl, stored
from tests.support.bad_replies import unavailable

YEARS = 10**8
SETTINGS = {"monitor.tick": "30ms"}


@pytest.mark.timeout(30)
def test_a_run_ends_when_only_long_waits_are_left_and_the_next_one_goes_on(web: SyntheticWeb, tmp_path: Path) -> None:
    good, away = web.host("good.localhost"), web.host("away.localhost")
    good.page("/", links=["/1", web.url("away.localhost", "/2")])
    good.page("/1")
    away.page("/")
    away.page("/2")
    away.first("/", unavailable(YEARS))
    starts = [web.url("good.localhost"), web.url("away.localhost")]
    run = run_crawl(tmp_path, starts, SETTINGS)
    assert run.reason == "hosts_waiting"
    assert stored(tmp_path).keys() == {starts[0], web.url("good.localhost", "/1")}
    (said,) = [note for note in run.notes if "longest_wait" in note]
    assert re.search(rf"away\.localhost:{web.port} \(2 URLs\) until \d{{4}}-\d\d-\d\d \d\d:\d\d; the same command", said)
    assert run_crawl(tmp_path, starts, SETTINGS).reason == "hosts_waiting", "at once: the wait is remembered"
    assert asked(web)["away.localhost/"] == 1
    assert sum(stored(tmp_path).values()) == 2, "it is not revisited"


@pytest.mark.timeout(30)
def test_robots_txt_may_ask_for_it_too(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("away.localhost").add("/robots.txt", unavailable(YEARS))
    run = run_crawl(tmp_path, web.url("away.localhost"), SETTINGS)
    assert run.reason == "hosts_waiting"
    assert not run.ending.start_fetched


def test_shorter_waits_are_waited_for(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/")
    site.first("/", unavailable(1))
    assert run_crawl(tmp_path, web.url("a.localhost"), SETTINGS | {"frontier.longest_wait": "2s"}).reason == "finished"
    assert len(stored(tmp_path)) == 1
