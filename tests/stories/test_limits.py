"""Story 5: limits are exact, and what a limit cut off is fetched when it is lifted."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import ALL_HOSTS, SILENCE, asked, check_stored, lines, once, run_crawl, stored
from tests.support.random_web import random_web


@pytest.mark.parametrize("limits", [(1, 2), (7, 60), (33, 34, 100)])
def test_max_pages_is_exact_and_the_rest_comes_later(tmp_path: Path, limits: tuple[int, ...]) -> None:
    """However many hosts, threads and transfers, and with dead links and redirects between: no page too many, none twice."""
    settings = ALL_HOSTS | {"fetch.threads": 4, "frontier.per_host": 2}
    with random_web(seed=5, hosts=12, pages=200) as web:
        for limit in limits:
            run = run_crawl(tmp_path, web.start_urls, settings | {"crawl.max_pages": limit})
            assert run.reason == "closespider_pagecount"
            assert web.fetched().total() == len(web.fetched()) == limit
            check_stored(tmp_path, web)
        requests = len(web.requests)
        run = run_crawl(tmp_path, web.start_urls, settings | {"crawl.max_pages": limits[-1]})
        assert (run.reason, len(web.requests)) == ("closespider_pagecount", requests), "it was reached before"
        assert run_crawl(tmp_path, web.start_urls, settings).reason == "finished"
        assert web.fetched() == Counter(web.expected())
        check_stored(tmp_path, web)


def test_max_pages_beyond_what_there_is(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/2", "/gone"])
    site.page("/1")
    site.page("/2")
    assert run_crawl(tmp_path, web.url("a.localhost"), {"crawl.max_pages": 4}).reason == "finished"


def test_the_last_page_allowed_is_waited_for_without_haste(tmp_path: Path, web: SyntheticWeb) -> None:
    """One page may still be fetched and hangs, a hundred hosts are ready: the threads must not spin meanwhile."""
    web.host("hangs.localhost").add("/", SILENCE)
    names = [f"h{number}.localhost" for number in range(100)]
    for name in names:
        web.host(name).page("/")
    busy = time.process_time()
    run = run_crawl(
        tmp_path,
        [web.url("hangs.localhost"), *map(web.url, names)],
        {"crawl.max_pages": 1, "fetch.timeout": "1500ms", "frontier.retries": 0},
    )
    assert run.reason == "closespider_pagecount"
    assert len(web.fetched()) == 1
    assert asked(web)["hangs.localhost/"] == 1
    assert time.process_time() - busy < 0.75


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_max_depth(tmp_path: Path, web: SyntheticWeb, depth: int) -> None:
    """0: the start URLs alone. A redirect is no step."""
    site = web.host("a.localhost")
    site.page("/", links=["/1", "/moved"])
    site.page("/1", links=["/2"])
    site.redirect("/moved", "/moved-to")
    site.page("/moved-to", links=["/2", "/x2"])
    site.page("/2", links=["/3", "/"])
    site.page("/x2")
    site.page("/3", links=["/4"])
    site.page("/4")
    run = run_crawl(tmp_path, web.url("a.localhost"), {"crawl.max_depth": depth})
    assert run.reason == "finished"
    levels = [["/"], ["/1", "/moved-to"], ["/2", "/x2"], ["/3"]]
    assert web.fetched() == once(*(f"a.localhost{path}" for level in levels[: depth + 1] for path in level))
    check_stored(tmp_path, web)


def test_max_time(tmp_path: Path, web: SyntheticWeb) -> None:
    """What is in the air then is fetched by the next run."""
    site = web.host("a.localhost")
    site.page("/", links=["/hangs", "/1"])
    site.page("/hangs")
    site.page("/1")
    site.first("/hangs", SILENCE)
    run = run_crawl(tmp_path, web.url("a.localhost"), {"crawl.max_time": 0.5})
    assert (run.reason, web.fetched()) == ("closespider_timeout", once("a.localhost/"))
    assert run_crawl(tmp_path, web.url("a.localhost")).reason == "finished"
    assert web.fetched() == once("a.localhost/", "a.localhost/hangs", "a.localhost/1")
    check_stored(tmp_path, web)


def test_max_bytes(tmp_path: Path, web: SyntheticWeb) -> None:
    """All runs together have it, and no page is lost or fetched twice; a revisit begins to count anew."""
    site = web.host("a.localhost")
    for number in range(9):
        site.page("/" if not number else f"/{number}", text="word " * 2_000, links=[f"/{number + 1}"] if number < 8 else [])
    start, settings = web.url("a.localhost"), {"limits.bytes": "35KB"}
    assert run_crawl(tmp_path, start, settings).reason == "bytes_spent"
    assert web.fetched().total() == 4, "as long as there are less, the next one is asked for"
    assert run_crawl(tmp_path, start, settings).reason == "bytes_spent"
    assert web.fetched().total() == 4, "it was received before"
    assert run_crawl(tmp_path, start, {"limits.bytes": "45KB"}).reason == "bytes_spent"
    assert web.fetched().total() == 5
    run = run_crawl(tmp_path, start)
    assert (run.reason, run.counters["limits/bytes"]) == ("finished", run.counters["downloader/response_bytes"])
    assert set(web.fetched().values()) == {1}
    check_stored(tmp_path, web)
    assert run_crawl(tmp_path, start, {"limits.bytes": "50KB"}).reason == "finished", "a revisit"


def test_urls_of_2048_characters_and_no_longer(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    room = 2048 - len(web.url("a.localhost"))
    fits, too_long = "/" + "x" * room, "/" + "y" * (room + 1)
    site.page("/", links=[fits, too_long])
    site.page(fits)
    site.page(too_long)
    run_crawl(tmp_path, web.url("a.localhost"))
    assert stored(tmp_path) == once(web.url("a.localhost"), web.url("a.localhost", fits))
    assert lines(tmp_path, "URLLengthFilter") == [web.url("a.localhost", too_long)]


def test_the_crawl_ends_before_its_disk_is_full(tmp_path: Path, web: SyntheticWeb) -> None:
    """No disk has a petabyte free; and it goes on when there is room."""
    site = web.host("a.localhost")
    site.page("/", links=["/hangs"])
    site.add("/hangs", SILENCE)
    run = run_crawl(tmp_path, web.url("a.localhost"), {"limits.disk": "1000000GB"})
    assert run.reason == "disk_nearly_full"
    assert any("limits.disk is 1,000,000,000 MB: make room" in note for note in run.notes)
    site.page("/hangs")
    assert run_crawl(tmp_path, web.url("a.localhost")).reason == "finished"
    assert stored(tmp_path).total() == 2
