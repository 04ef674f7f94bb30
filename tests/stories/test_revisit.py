"""The same command on a finished crawl: it asks for what has changed, and forgets what is gone (LARM-121)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from larm.engine.ending import Ending
from larm.engine.recrawl import revisit
from larm.engine.recrawl.revisit import Recrawl
from larm.frontier import handler
from larm.index.search.searcher import IndexSearcher
from larm.ops.observers import build_crawl
from larm.store.pages import page_rows
from larm.store.reader import StoreLog
from larm.testing.replies import html
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import (
    ALL_HOSTS,
    SILENCE,
    WatchedLog,
    asked,
    check_stored,
    config_of,
    indexed,
    lines,
    once,
    run_crawl,
    stored,
    watch,
)
from tests.support.random_web import random_web

PATHS = [f"/{number}" for number in range(10)]


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A host that was crawled: a home page with ten pages."""
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    for path in PATHS:
        site.page(path, text="first version")
    return web.url("a.localhost")


def urls(web: SyntheticWeb, *paths: str) -> Counter[str]:
    return once(*(web.url("a.localhost", path) for path in paths))


def test_it_asks_for_each_page_once_with_conditions_and_writes_nothing(tmp_path: Path) -> None:
    with random_web(seed=12, hosts=10, pages=200) as web:
        run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        links = lines(tmp_path, "links")
        answers = {request.key: request.status for request in web.requests if request.path != "/robots.txt"}
        pages = {key for key, status in answers.items() if status == 200}
        missing = {key for key, status in answers.items() if status == 404}
        web.log.clear()
        again = run_crawl(tmp_path, web.start_urls, ALL_HOSTS)
        assert again.ending == Ending("finished")
        assert any("is finished and is now revisited" in note for note in again.notes)
        assert asked(web) == Counter(pages | missing)
        assert {request.key for request in web.requests if request.status == 304} == pages
        check_stored(tmp_path, web, pages=web.expected())
        assert lines(tmp_path, "links") == links


def test_what_was_missing_or_forgotten_and_is_there_again_is_found(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """Links to it were visited long ago."""
    site = web.host("a.localhost")
    site.remove("/3")
    run_crawl(tmp_path, start)
    site.page("/3")
    site.remove("/7")
    run_crawl(tmp_path, start)
    assert indexed(tmp_path) == urls(web, "/", *PATHS) - urls(web, "/7")
    site.page("/7")
    run = run_crawl(tmp_path, start)
    assert indexed(tmp_path) == urls(web, "/", *PATHS)
    assert run.last.pages == len(PATHS) + 1


def test_what_is_new_or_changed_is_stored_and_what_is_gone_is_forgotten(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run_crawl(tmp_path, start)
    site = web.host("a.localhost")
    site.change("/", links=[*PATHS, "/new"])
    site.change("/3", text="second version")
    site.page("/new")
    site.remove("/7")
    web.log.clear()
    run = run_crawl(tmp_path, start)
    assert run.reason == "finished"
    assert web.fetched() == once("a.localhost/", "a.localhost/3", "a.localhost/new")
    assert indexed(tmp_path) == urls(web, "/", *PATHS, "/new") - urls(web, "/7")
    assert stored(tmp_path) == urls(web, "/", *PATHS, "/new") + urls(web, "/", "/3"), "store.log tells what happened"
    assert (run.counters["revisit/changed"], run.counters["revisit/gone"]) == (2, 1)
    assert run.last.pages == len(PATHS) + 1, "a page that was stored twice is one, and one that is gone is none"


def test_pages_that_redirect_for_now_to_a_stored_page_leave_and_are_counted(
    tmp_path: Path, web: SyntheticWeb, start: str
) -> None:
    """As to a login; what has moved for good, and what was no page, is not counted."""
    site = web.host("a.localhost")
    site.status("/8", 404)
    run_crawl(tmp_path, start)
    site.page("/login")
    for path, to, status in (
        ("/3", "/login", 302),
        ("/4", "/login", 307),
        ("/5", "/login", 301),
        ("/8", "/login", 302),
    ):
        site.redirect(path, web.url("a.localhost", to), status)
    run = run_crawl(tmp_path, start)
    assert run.counters["revisit/redirected"] == 2
    assert indexed(tmp_path) == urls(web, "/", *PATHS, "/login") - urls(web, "/3", "/4", "/5", "/8")
    assert "revisit/redirected" not in run_crawl(tmp_path, start).counters, "they are no pages of this crawl any more"


def test_a_site_that_is_gone_at_once_is_kept_until_it_is_back(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """More than half of a host's pages: it is broken rather than empty. When some are back, only the others may be gone."""
    run_crawl(tmp_path, start)
    site = web.host("a.localhost")
    for path in PATHS[:8]:
        site.remove(path)
    run_crawl(tmp_path, start)
    assert indexed(tmp_path) == urls(web, "/", *PATHS)
    for path in PATHS[:6]:
        site.page(path, text="first version")
    run = run_crawl(tmp_path, start)
    assert indexed(tmp_path) == urls(web, "/", *PATHS[:6], *PATHS[8:])
    assert run.last.pages == 1 + len(PATHS) - 2, "those that are back are no new ones"


def test_one_that_is_stopped_goes_on(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """No page is asked for twice, and what was gone before the stop is forgotten after it."""
    run_crawl(tmp_path, start)
    site = web.host("a.localhost")
    site.change("/8", text="second version")
    for path in PATHS[:3]:
        site.remove(path)
    site.first("/9", SILENCE)
    web.log.clear()
    crawl = build_crawl(config_of(start), tmp_path)
    log = web.log
    assert isinstance(log, WatchedLog)
    log.when(lambda request: request.path == "/9", crawl.stop)
    assert crawl.run().reason == "shutdown"
    assert indexed(tmp_path) == urls(web, "/", *PATHS)
    assert run_crawl(tmp_path, start).reason == "finished"
    found = {request.path: request.status for request in web.requests if request.status}
    found.pop("/robots.txt", None)
    assert found == {"/": 304, "/8": 200} | dict.fromkeys(PATHS[:3], 404) | dict.fromkeys([*PATHS[3:8], "/9"], 304)
    assert asked(web) == once("a.localhost/", *(f"a.localhost{path}" for path in PATHS)) + Counter({"a.localhost/9": 1})
    assert indexed(tmp_path) == urls(web, "/", *PATHS[3:])
    assert stored(tmp_path) == urls(web, "/", *PATHS) + urls(web, "/8")


@pytest.mark.parametrize("kept", ["log", "index"])
def test_a_storage_that_is_left_out_of_a_run_keeps_what_it_has_and_gets_the_rest_later(
    tmp_path: Path, web: SyntheticWeb, start: str, kept: str
) -> None:
    alone = {"storage.chain": [kept]}
    run_crawl(tmp_path, start)
    before = stored(tmp_path), indexed(tmp_path), lines(tmp_path, "links")
    run_crawl(tmp_path, start, alone)  # a revisit in which nothing has changed
    assert (stored(tmp_path), indexed(tmp_path), lines(tmp_path, "links")) == before
    web.host("a.localhost").change("/3", text="second version")
    run_crawl(tmp_path, start, alone)
    run = run_crawl(tmp_path, start)
    assert any("was not in all runs of this crawl; all pages are fetched whole for it" in note for note in run.notes)
    assert run.last.pages == 1 + len(PATHS)
    assert stored(tmp_path).keys() == before[0].keys()
    assert (tmp_path / "logs" / "store.log").stat().st_size > 0
    assert indexed(tmp_path) == before[1]
    hits = IndexSearcher(tmp_path).search("second version").hits
    assert [hit.url for hit in hits if hit.url.endswith("/3")]
    web.log.clear()
    assert run_crawl(tmp_path, start).counters["revisit/unchanged"] == 11  # and then everything is as ever
    assert {request.status for request in web.requests if request.path != "/robots.txt"} == {304}


def test_an_index_that_comes_later_gets_all_pages(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    run_crawl(tmp_path, start, {"storage.chain": ["log"]})
    run_crawl(tmp_path, start)
    assert indexed(tmp_path) == urls(web, "/", *PATHS)


def test_a_log_that_is_left_out_while_a_crawl_goes_on_is_not_emptied(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """Each run is stopped at a page that is not answered, or a slow machine would get all of them in one of the runs."""
    for chain, last in (["log", "index"], "/1"), (["index"], "/3"), (["log", "index"], "/5"):
        here = {"storage.chain": chain, "processing.processes": 0}  # a page is stored before the next one is asked for
        crawl = build_crawl(config_of(start, here), tmp_path)
        web.host("a.localhost").first(last, SILENCE)
        watch(web).when(lambda request, last=last: request.path == last, crawl.stop)
        assert crawl.run().reason == "shutdown"
    assert stored(tmp_path) == urls(web, "/", "/0", "/3", "/4")
    assert indexed(tmp_path) == urls(web, "/", *PATHS[:5])
    assert run_crawl(tmp_path, start).reason == "finished"
    run_crawl(tmp_path, start)
    assert stored(tmp_path).keys() == urls(web, "/", *PATHS).keys()
    assert indexed(tmp_path) == urls(web, "/", *PATHS)


def test_what_its_server_calls_current_is_not_asked_for(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """But for the start page, and where nobody is believed."""
    site = web.host("a.localhost")
    links = "".join(f'<a href="{path}">a page</a>' for path in PATHS)
    for path, text in [("/", links), *((path, f"<p>text of {path}") for path in PATHS[:4])]:
        site.add(path, html(text, Cache_Control="max-age=86400"))
    run_crawl(tmp_path, start)
    web.log.clear()
    again = run_crawl(tmp_path, start)
    assert again.ending == Ending("finished")
    assert asked(web) == Counter("a.localhost" + path for path in ["/", *PATHS[4:]])
    assert any(note.startswith("4 pages were not asked for") for note in again.notes)
    web.log.clear()
    run_crawl(tmp_path, start, {"recrawl.current": 0})
    assert asked(web) == Counter("a.localhost" + path for path in ["/", *PATHS])
    assert indexed(tmp_path) == urls(web, "/", *PATHS)


def test_a_crawl_of_every_day_keeps_what_it_was_told_to(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    """``storage.log.keep``: page files stay as large as the site; search, cat and reindex see what there is now."""
    keep = {"storage.log.keep.versions": 1, "storage.log.page_file_size": "2kB"}
    site = web.host("a.localhost")
    sizes = []
    for day in range(5):
        for path in PATHS[:6]:
            site.page(path, text=f"edition {day} of {path}")
        if day == 3:
            site.add("/9", html("", status=404))
        run = run_crawl(tmp_path, start, keep)
        assert run.reason == "finished"
        sizes.append(sum(path.stat().st_size for path in (tmp_path / "logs").glob("pagefile_*.pfl")))
    said = "7 old versions of pages were taken out of the logs"  # six of what changed, one of what is gone
    assert any(said in note for note in run.notes), run.notes
    last = run_crawl(tmp_path, start, keep)
    assert stored(tmp_path) == urls(web, "/", *PATHS[:9]), "each page once, and none that is gone"
    assert indexed(tmp_path) == urls(web, "/", *PATHS[:9])
    assert sum(path.stat().st_size for path in (tmp_path / "logs").glob("pagefile_*.pfl")) <= sizes[0] / 0.75
    assert last.counters["downloader/response_status_count/304"] == 10
    log = StoreLog(tmp_path)
    assert sorted(f"edition 4 of {path}" in log.body(entry).decode() for entry in log for path in PATHS[:6]).count(True) == 6
    assert {line.split("\t")[0] for line in lines(tmp_path, "links")} == {"<start>", start}


def test_requests_begin_with_the_first_of_the_pages_and_a_stop_loses_none(
    tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer of a revisit comes before all pages have been looked at; who stops it then asks for the rest later."""
    monkeypatch.setattr(page_rows, "_BATCH", 2)
    monkeypatch.setattr(revisit, "_PART", 1)
    run_crawl(tmp_path, start)
    web.log.clear()
    crawl = build_crawl(config_of(start), tmp_path)
    log = web.log
    assert isinstance(log, WatchedLog)
    log.when(lambda request: request.path != "/robots.txt", crawl.stop)
    assert crawl.run().reason == "shutdown"
    last = web.requests[-1].key
    recrawl = crawl._agenda.recrawl
    assert recrawl is not None
    assert recrawl.begins
    told = re.compile(r"the revisit has come to [0-9]?[0-9]% of its pages; the others do not count among the URLs that wait")
    assert [note for note in crawl.notes if told.fullmatch(note)]
    run = run_crawl(tmp_path, start)
    assert run.reason == "finished"
    assert not [note for note in run.notes if told.fullmatch(note)]
    assert asked(web)[last] <= 2, "it may have been cut off before its answer came"
    assert {**asked(web), last: 1} == once("a.localhost/", *(f"a.localhost{path}" for path in PATHS))
    assert indexed(tmp_path) == urls(web, "/", *PATHS)


def test_an_agent_of_a_cluster_asks_for_all_pages_before_hosts_may_move(
    tmp_path: Path, web: SyntheticWeb, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are: nobody looks at any of them before all are there."""
    monkeypatch.setattr(page_rows, "_BATCH", 2)
    monkeypatch.setattr(revisit, "_PART", 1)
    monkeypatch.setattr(handler, "MOST", 4)
    run_crawl(tmp_path, start)
    web.log.clear()
    crawl = build_crawl(config_of(start), tmp_path)
    recrawl = crawl._agenda.recrawl
    assert recrawl is not None
    crawl._member = Alone(recrawl)
    assert crawl.run().reason == "finished"
    assert asked(web) == once("a.localhost/", *(f"a.localhost{path}" for path in PATHS))


class Alone:
    """A member of a cluster that has no other."""

    goodbye = 1.0

    def __init__(self, recrawl: Recrawl) -> None:
        self._recrawl = recrawl

    def run(self) -> None:
        assert not self._recrawl.goes_on

    def gives_up(self) -> bool:
        return False

    def ending(self, reason: str) -> None:
        pass

    def stop(self) -> None:
        pass
