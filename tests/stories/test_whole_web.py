"""Story 1: a web of many hosts is fetched completely, each page once, and everything that was written agrees."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from larm.crawl import Ending
from larm.testing.random_web import random_web
from tests.stories.crawls import ALL_HOSTS, asked, check_stored, lines, run_crawl


def test_every_page_of_a_random_web_once(tmp_path: Path) -> None:
    with random_web(seed=11, hosts=20, pages=600) as web:
        run = run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        assert run.ending == Ending("finished")
        assert web.fetched() == Counter(web.expected())
        check_stored(tmp_path, web)
        assert run.counters["item_scraped_count"] == len(web.expected())
        assert set(asked(web).values()) == {1}, "nor is a redirect or a dead link asked for twice"


def test_a_second_run_asks_for_changes_and_finds_none(tmp_path: Path) -> None:
    """A finished crawl is revisited: every page is asked for once, with its conditions, and nothing is written."""
    with random_web(seed=12, hosts=10, pages=200) as web:
        run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        links = lines(tmp_path, "links")
        pages = {request.key for request in web.requests if request.status == 200 and request.path != "/robots.txt"}
        web.log.clear()
        again = run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        assert again.ending == Ending("finished")
        assert any("is finished and is now revisited" in note for note in again.notes)
        assert asked(web) == Counter(pages)
        assert {request.status for request in web.requests if request.path != "/robots.txt"} == {304}
        check_stored(tmp_path, web, pages=web.expected())
        assert lines(tmp_path, "links") == links


def test_a_second_run_finds_what_has_changed(tmp_path: Path) -> None:
    with random_web(seed=13, hosts=5, pages=100) as web:
        run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        host = web.host("h01.localhost")
        host.change("/", title="Changed", text="entirely", links=["/new"])
        host.page("/new", title="New")
        web.log.clear()
        run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        assert web.fetched() == Counter(["h01.localhost/", "h01.localhost/new"])
