"""Hosts that never end: a crawl comes to an end all the same, with all of the real pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.afterwards import explain_url
from larm.testing.endless import ENDLESS, prose
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, lines, run_crawl

PAGES = 60
BUDGET = 4000
"""Requests of a host, some five times what it takes on an idle machine: the slower the storage, the later it tells. Without
the filter the crawls would not end, but for the shop's 10,000 lists."""
QUICK = {"frontier.delay": 0, "frontier.per_host": 4, "monitor.tick": "100ms"}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_host_ends_and_its_real_pages_are_found(tmp_path: Path, web: SyntheticWeb, kind: str) -> None:
    host = f"{kind}.localhost"
    real = ENDLESS[kind](web.host(host), PAGES)
    run = run_crawl(tmp_path, web.url(host), {**QUICK, "crawl.max_pages": 20_000})
    fetched = [key.removeprefix(host) for key in web.fetched(host)]
    found = {key.partition(end)[0] for key in fetched for end in ("?", ";hb=")}
    requests = len([each for each in web.requests if each.host == host])
    closed = run.counters.get("traps/closed", 0)
    print(f"{kind}: {requests} requests, {len(set(real) & found)} of {len(real)} real pages, {closed} patterns closed")
    assert run.ending.reason == "finished"
    assert set(real) <= found
    assert requests <= BUDGET
    assert run.counters["traps/filtered"] > 0


def test_what_is_closed_is_told(tmp_path: Path, web: SyntheticWeb) -> None:
    """In the filter's log, by `larm why`, and after a restart."""
    ENDLESS["calendar"](web.host("club.localhost"), 5)
    start = web.url("club.localhost")
    run_crawl(tmp_path, start, {**QUICK, "crawl.max_pages": 700})
    said = [line for line in lines(tmp_path, "TrapsFilter") if line.startswith("#")]
    assert any("closed: /calendar/" in line and line.endswith("pages said nothing new") for line in said)
    later = web.url("club.localhost", "/calendar/day/2031-01-01")
    rows = explain_url(config_of(start), tmp_path, later)
    assert "is closed: it went on and on without anything new" in dict(rows)["filter traps"]
    assert any(topic == "closed here" and "/calendar/" in sentence for topic, sentence in rows)


def test_a_site_of_which_every_page_is_new_is_fetched_whole(tmp_path: Path, web: SyntheticWeb) -> None:
    """Numbers, parameters, a chain of 300 lists that have no text of their own: nothing is closed."""
    site = web.host("good.localhost")
    for page in range(300):
        site.page(f"/list?page={page}", "News", links=[f"/list?page={page + 1}", f"/news/{page}", f"/news/{page + 300}"])
        for number in (page, page + 300):
            site.page(f"/news/{number}", f"News {number}", prose(number, 80))
    run = run_crawl(tmp_path, web.url("good.localhost", "/list?page=0"), {**QUICK, "frontier.per_host": 1})
    assert len(web.fetched()) == 900
    assert run.counters.get("traps/filtered", 0) == run.counters.get("traps/closed", 0) == 0


def test_limits_hold_without_an_index(tmp_path: Path, web: SyntheticWeb) -> None:
    ENDLESS["maze"](web.host("maze.localhost"), 10)
    settings = {**QUICK, "storage.chain": ["log"], "filters.traps.pages": 500}
    run = run_crawl(tmp_path, web.url("maze.localhost"), settings)
    assert run.ending.reason == "finished"
    assert run.counters["item_scraped_count"] == 501  # the start URL is not counted
