"""Story 1: a web of many hosts is fetched completely, each page once, and everything that was written agrees."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from larm.testing.random_web import random_web
from tests.stories.crawls import check_stored, run_crawl

HOSTS = {"crawl.restrict_to": r"http://h\d\d\.localhost:\d+/.*"}


def test_every_page_of_a_random_web_once_and_nothing_at_the_second_run(tmp_path: Path) -> None:
    with random_web(seed=11, hosts=20, pages=600) as web:
        first = run_crawl(tmp_path, web.start_urls, HOSTS)
        assert first.ending == type(first.ending)("finished")
        assert web.fetched() == Counter(web.expected())
        check_stored(tmp_path, web)
        assert first.counters["item_scraped_count"] == len(web.expected())

        requests = len(web.requests)
        second = run_crawl(tmp_path, web.start_urls, HOSTS)
        assert second.reason == "finished"
        assert second.ending.start_fetched
        assert len(web.requests) == requests, "a finished crawl has nothing to fetch"
        check_stored(tmp_path, web)
        assert any("is finished" in note for note in second.notes)
