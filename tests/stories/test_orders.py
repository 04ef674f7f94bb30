"""Story: whatever the order, a crawl fetches the same pages in the end; killed and continued, too; even under another order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import ALL_HOSTS, check_complete, reference_links, run_crawl, watch
from tests.stories.processes import Process, crawl_arguments, larm_says
from tests.stories.test_kill import SCOPE, SETTINGS
from tests.support.random_web import RandomWeb, random_web

ORDERS = ("opic", "host-budget", "pagerank")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RandomWeb, list[str]]]:
    """A web, and the links of a crawl without interruption."""
    with random_web(6, hosts=8, pages=300, delay=0.005) as web:
        yield web, reference_links(web, tmp_path_factory.mktemp("orders") / "reference")


@pytest.mark.parametrize("order", ORDERS)
def test_the_same_pages(tmp_path: Path, served: tuple[RandomWeb, list[str]], order: str) -> None:
    web, links = served
    settings = ALL_HOSTS | SETTINGS | {"frontier.order": order}
    assert run_crawl(tmp_path, web.start_urls, settings).reason == "finished"
    check_complete(tmp_path, web, links)
    watch(web)
    assert run_crawl(tmp_path, web.start_urls, settings).reason == "finished"  # a revisit
    assert {request.host + request.path for request in web.requests if request.status == 304} == web.expected()


@pytest.mark.parametrize("order", ORDERS)
def test_killed_and_continued(tmp_path: Path, served: tuple[RandomWeb, list[str]], order: str) -> None:
    web, links = served
    settings = SETTINGS | {"frontier.order": order}
    for after in (60, 80):
        kill(web, tmp_path, settings, after)
    assert larm_says(*crawl_arguments(tmp_path, web.start_urls, settings, *SCOPE)).status == 0
    check_complete(tmp_path, web, links)


def test_the_order_may_change_on_the_way(tmp_path: Path, served: tuple[RandomWeb, list[str]]) -> None:
    web, links = served
    for order in ("breadth-first", "opic", "host-budget"):
        kill(web, tmp_path, SETTINGS | {"frontier.order": order}, 50)
    assert larm_says(*crawl_arguments(tmp_path, web.start_urls, SETTINGS, *SCOPE)).status == 0
    check_complete(tmp_path, web, links)


def test_the_richest_page_comes_first(tmp_path: Path) -> None:
    """Thirty pages that all link to one: breadth-first asks for all of them before it."""
    places = {}
    for order in ("breadth-first", "opic"):
        with SyntheticWeb() as web:
            pages = [f"/page{number}" for number in range(30)]
            site = web.host("a.localhost")
            site.page("/", links=pages)
            for page in pages:
                site.page(page, links=["/rich", f"{page}/poor"])
                site.page(f"{page}/poor")
            site.page("/rich")
            run_crawl(tmp_path / order, web.url("a.localhost"), {"frontier.order": order, "fetch.threads": 1})
            asked = [request.path for request in web.requests if request.path != "/robots.txt"]
            places[order] = asked.index("/rich")
    assert places["opic"] < 30 <= places["breadth-first"]


def kill(web: RandomWeb, directory: Path, settings: dict[str, object], after: int) -> None:
    log = watch(web)
    with Process(*crawl_arguments(directory, web.start_urls, settings, *SCOPE)) as process:
        log.at(after, lambda: process.signal(signal.SIGKILL))
        assert process.end().status == -signal.SIGKILL
