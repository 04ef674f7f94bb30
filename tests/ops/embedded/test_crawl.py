"""A crawl inside a program: what it is given, what it is told, and that two of them are two."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import larm
from larm.errors import ConfigError, UsageError
from larm.kit.threads.workers import Workers
from larm.ops.embedded.crawling import Crawled
from larm.ops.embedded.page import Page, PageError
from larm.testing.web import SyntheticWeb

QUICK: dict[str, Any] = {"frontier": {"delay": 0, "retry_wait": "20ms", "backoff": "20ms"}, "fetch": {"threads": 1, "ip": "4"}}


@pytest.fixture
def web() -> Iterator[SyntheticWeb]:
    with SyntheticWeb() as served:
        yield served


def a_site(web: SyntheticWeb, name: str = "a.localhost", pages: int = 3) -> str:
    site = web.host(name)
    site.page("/", "Home", f"home of {name}", links=[*(f"/{number}" for number in range(pages)), "/gone"])
    for number in range(pages):
        site.page(f"/{number}", f"Page {number}", f"{name} number {number}")
    return web.url(name)


def test_pages_errors_and_reason(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web)
    told: list[Page] = []
    crawled = larm.crawl(start, dir=tmp_path, on_page=told.append, **QUICK)
    urls = {start, *(f"{start}{number}" for number in range(3))}
    assert crawled.reason == "finished"
    assert {page.url for page in crawled.pages} == {page.url for page in told} == urls
    assert len(crawled.pages) == 4
    assert crawled.errors == [PageError(f"{start}gone", 404, "HTTP status 404", start)]
    assert (crawled.more_errors, crawled.failed_starts) == (0, ())
    assert crawled.counters["item_scraped_count"] == 4
    (home,) = [page for page in told if page.url == start]
    assert (home.title, home.status, home.mime, home.depth, home.referrer) == ("Home", 200, "text/html", 0, "<start>")
    assert "home of a.localhost" in home.text
    assert home.links[0] == f"{start}0"
    assert not home.changed
    assert home.headers["content-type"].startswith("text/html")
    (stored,) = [page for page in crawled.pages if page.url == start]
    assert crawled.pages.body(stored) == home.body
    assert [hit.url for hit in larm.open_index(tmp_path).search("number 2").hits][:1] == [f"{start}2"]


def test_what_a_second_run_tells_is_what_has_changed(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web)
    larm.crawl(start, dir=tmp_path, **QUICK)
    web.host("a.localhost").page("/1", "Changed", "other words altogether")
    told: list[Page] = []
    crawled = larm.crawl(start, dir=tmp_path, on_page=told.append, **QUICK)
    assert [(page.title, page.changed) for page in told] == [("Changed", True)]
    assert [page.url for page in crawled.pages] == [f"{start}1"]
    assert not [note for note in crawled.notes if "on_page" in note]  # it is no storage that has missed something
    crawled = larm.crawl(start, dir=tmp_path, fresh=True, **QUICK)
    assert len(crawled.pages) == 4


def test_settings_are_those_of_the_file_and_the_call_wins(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web, pages=30)
    (tmp_path / "config.yaml").write_text(
        f"crawl:\n  start: [{start}]\n  max_pages: 2\nstorage:\n  chain: [log]\nfrontier:\n  delay: 0\n"
    )
    spent = larm.crawl(dir=tmp_path)
    assert (spent.reason, spent.ended) == ("closespider_pagecount", "stopped at --max-pages")
    assert not (tmp_path / "index").exists()
    sites = {"a.localhost:*": {"delay": 0}}
    crawled = larm.crawl(dir=tmp_path, max_pages=5, storage={"log": {"page_file_size": "1MB"}}, sites=sites)
    assert crawled.counters["item_scraped_count"] == 3
    other = tmp_path / "other.yaml"
    other.write_text("crawl:\n  max_depth: 0\n")
    assert len(larm.crawl(start, dir=tmp_path / "b", config=other, **QUICK).pages) == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_page": 1}, r"larm.crawl\(\): max_page: no such key; did you mean max_pages\?"),
        ({"directory": "x"}, r"larm.crawl\(\): directory: no such key; did you mean dir\?"),
        ({"fronteer": {"delay": 1}}, r"larm.crawl\(\): fronteer: no such key; did you mean frontier\?"),
        ({"max_pages": "many"}, r"larm.crawl\(\): crawl.max_pages: "),
        ({"frontier": {"dealy": 1}}, r"larm.crawl\(\): frontier.dealy: no such key; did you mean frontier.delay\?"),
        ({"frontier": 3}, r"larm.crawl\(\): frontier: "),
        ({"storage": {"index": {"text_size": "x"}}}, r"larm.crawl\(\): storage.index.text_size: "),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        larm.crawl("http://a.localhost/", dir=tmp_path, **settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("start", [(), ("ftp://a/",), ("./no-such-folder",)])
def test_wrong_starts_are_refused(tmp_path: Path, start: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        larm.crawl(*start, dir=tmp_path)


def test_what_on_page_raises_is_raised_and_the_same_call_goes_on(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web)

    def fail(page: Page) -> None:
        raise LookupError(page.url)

    with pytest.raises(LookupError, match=r"a\.localhost"):
        larm.crawl(start, dir=tmp_path, on_page=fail, **QUICK)
    told: list[str] = []
    assert larm.crawl(start, dir=tmp_path, on_page=lambda page: told.append(page.url), **QUICK).reason == "finished"
    assert {page.url for page in larm.crawl(start, dir=tmp_path, **QUICK).pages} == set()
    assert len(set(told)) == 4


def test_two_crawls_at_a_time(web: SyntheticWeb, tmp_path: Path) -> None:
    """They are both under way when the first ends; what they find, and the file for crashes, is each's own."""
    starts = {name: a_site(web, f"{name}.localhost", 8) for name in "ab"}
    both, first_over = threading.Barrier(2, timeout=60), threading.Event()
    crawled: dict[str, Crawled] = {}
    enabled: list[bool] = []

    def run(name: str) -> None:
        told: list[str] = []

        def on_page(page: Page) -> None:
            if not told:
                both.wait()
                if name == "b":
                    assert first_over.wait(60)
                    enabled.append(faulthandler.is_enabled())
                    assert (tmp_path / "b" / "cachingqueue" / "crash").exists()
            told.append(page.url)

        crawled[name] = larm.crawl(starts[name], dir=tmp_path / name, on_page=on_page, **QUICK)
        if name == "a":
            first_over.set()

    failed: list[BaseException] = []
    workers = Workers(lambda _name, error: (failed.append(error), first_over.set(), both.abort()))  # type: ignore[func-returns-value]
    for name in "ab":
        workers.start(name, lambda name=name: run(name))  # type: ignore[misc]
    workers.join(100)
    assert not failed
    assert enabled == [True]
    for name, start in starts.items():
        assert {page.url for page in crawled[name].pages} == {start, *(f"{start}{number}" for number in range(8))}
        assert not (tmp_path / name / "cachingqueue" / "crash").exists()


def test_a_directory_that_is_in_use_is_refused(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web)
    raised: list[str] = []

    def again(_page: Page) -> None:
        try:
            larm.crawl(start, dir=tmp_path, **QUICK)
        except UsageError as error:
            raised.append(str(error))

    larm.crawl(start, dir=tmp_path, on_page=again, **QUICK)
    assert len(raised) == 4
    assert f"in use by process {os.getpid()}" in raised[0]


def test_ctrl_c_ends_it_in_good_order(web: SyntheticWeb, tmp_path: Path) -> None:
    start = a_site(web, pages=20)
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            larm.crawl(start, dir=tmp_path, on_page=lambda _page: signal.raise_signal(signal.SIGINT), **QUICK)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    larm.crawl(start, dir=tmp_path, **QUICK)  # the rest
    assert larm.open_index(tmp_path).documents == 21


def test_importing_larm_loads_nothing_of_it() -> None:
    program = (
        "import sys, larm; print([name for name in sys.modules if name.split('.')[0] in ('pycurl', 'tantivy', 'msgspec')])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"
