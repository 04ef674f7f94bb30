"""Story 1: a web of many hosts is fetched completely, each page once, and everything that was written agrees."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from larm.engine.ending import Ending
from tests.stories.crawls import ALL_HOSTS, asked, check_stored, run_crawl
from tests.support.random_web import random_web


def test_every_page_of_a_random_web_once(tmp_path: Path) -> None:
    with random_web(seed=11, hosts=20, pages=600) as web:
        run = run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        assert run.ending == Ending("finished")
        assert web.fetched() == Counter(web.expected())
        check_stored(tmp_path, web)
        assert run.counters["item_scraped_count"] == len(web.expected())
        assert set(asked(web).values()) == {1}, "nor is a redirect or a dead link asked for twice"
