"""Where the CPU is the limit, other processes read pages: the crawl is the same, and a page that ends them is left out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from larm.building import reading
from larm.engine import reading_pool as pool
from larm.engine.reading_pool import Ended, ReadingPool
from larm.frontier.queues import ENOUGH
from larm.ops.observers import build_crawl
from larm.parse.reading import ahead
from larm.testing.web import SyntheticWeb
from tests.parse.reading.poisoned_child import HANG, POISON
from tests.stories.crawls import ALL_HOSTS, config_of, lines, rows, run_crawl
from tests.stories.processes import ROOT, Process, crawl_arguments, larm_says
from tests.support.random_web import random_web

PAGES = [f"/{number}" for number in range(60)]
TWO = {"processing.processes": 2}


class NeededPool(ReadingPool):
    """The CPU is the limit from the first page on, and nothing is read before a process is ready."""

    handed = 0
    """Number of pages that were left to other processes."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._wanted = 9
        self._opened = threading.Event()

    def _open(self) -> None:
        super()._open()
        self._opened.set()

    def stop(self) -> None:
        super().stop()
        self._opened.set()

    def sort(self, ended: Sequence[Ended], full: Callable[[], object] = lambda: None) -> list[Ended]:
        assert self._opened.wait(60)
        own = super().sort(ended, full)
        type(self).handed += len(ended) - len(own)
        return own


def test_the_same_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    with random_web(4, hosts=6, pages=300) as web:
        assert run_crawl(alone, web.start_urls, {"processing.processes": 0} | ALL_HOSTS).reason == "finished"
        monkeypatch.setattr(reading, "ReadingPool", NeededPool)
        monkeypatch.setattr(NeededPool, "handed", 0)
        assert run_crawl(helped, web.start_urls, TWO | ALL_HOSTS).reason == "finished"
    assert {(row.url, row.title, row.mime, row.size) for row in rows(alone)} == {
        (row.url, row.title, row.mime, row.size) for row in rows(helped)
    }
    assert sorted(lines(alone, "links.log")) == sorted(lines(helped, "links.log"))
    assert NeededPool.handed > 0


def test_a_page_that_ends_the_process_is_set_aside_and_the_crawl_goes_on(
    tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "CHILD", "tests.parse.reading.poisoned_child")
    monkeypatch.setattr(reading, "ReadingPool", NeededPool)
    site = web.host("a.localhost")
    site.page("/", links=PAGES)
    for number, path in enumerate(PAGES):
        site.page(path, links=[*PAGES, "/bad"] if number == 30 else PAGES)
    site.page("/bad", body=POISON.decode())
    run = run_crawl(tmp_path, web.url("a.localhost"), TWO | {"frontier.per_host": 4})
    assert run.reason == "finished"
    stored = {row.url.rpartition("/")[2] for row in rows(tmp_path)}
    assert stored >= {path[1:] for path in PAGES}
    aside = run.counters.get("larm/set_aside", 0)
    assert (aside == 1) == ("bad" not in stored), "unless the fetcher has read it itself, as there was no room"


def test_a_stop_while_a_process_hangs(tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was given is fetched again by the next run, and nothing else is."""
    flag = tmp_path / "flag"
    site = web.host("a.localhost")
    site.page("/", links=[*PAGES, "/bad"])
    for path in PAGES:
        site.page(path)
    site.page("/bad", body=f"{HANG.decode()} {flag} -->")
    start, settings = web.url("a.localhost"), {"processing.processes": 1, "frontier.per_host": 4}
    with monkeypatch.context() as patched:
        patched.setattr(ahead, "CHILD", "tests.parse.reading.poisoned_child")
        patched.setattr(reading, "ReadingPool", NeededPool)
        crawl = build_crawl(config_of(start, settings), tmp_path / "crawl")
        crawl.on_second = lambda: flag.exists() and crawl.stop()
        assert crawl.run().reason == "shutdown"
    assert "/bad" not in "".join(row.url for row in rows(tmp_path / "crawl"))
    assert run_crawl(tmp_path / "crawl", start, settings).reason == "finished"
    assert sorted(row.url for row in rows(tmp_path / "crawl")) == sorted(
        web.url("a.localhost", path) for path in ["/", "/bad", *PAGES]
    )


class WaitsForEach(ReadingPool):
    """While a process is on its way, nobody reads."""

    made: WaitsForEach

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._came = threading.Condition(self._lock)
        WaitsForEach.made = self

    def _open(self) -> None:
        super()._open()
        with self._lock:
            self._came.notify_all()

    def sort(self, ended: Sequence[Ended], full: Callable[[], object] = lambda: None) -> list[Ended]:
        with self._lock:
            assert self._came.wait_for(lambda: self._ready == self._wanted or self._stopped, 60)
        return super().sort(ended, full)


def test_processes_come_one_by_one_as_long_as_the_fetchers_read_much_themselves(
    tmp_path: Path, web: SyntheticWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And there are enough URLs left: a process that comes for the last pages is none that pays."""
    for name in ("WINDOW", "MUCH", "WAITING"):  # there is never any room, and any page that is read here is too much
        monkeypatch.setattr(pool, name, 0)
    monkeypatch.setattr(reading, "ReadingPool", WaitsForEach)
    site, pages = web.host("a.localhost"), [f"/{number}" for number in range(ENOUGH + 100)]
    site.page("/", links=pages)
    for path in pages:
        site.page(path)
    run = run_crawl(
        tmp_path, web.url("a.localhost"), {"processing.processes": 3, "frontier.per_host": 16, "fetch.transfers": 16}
    )
    assert run.reason == "finished"
    assert "3 of 3 processes" in repr(WaitsForEach.made)
    assert len(rows(tmp_path)) == len(pages) + 1


FORKED_ALONE = """
import subprocess
from larm.building import reading
from tests.stories.test_relief import NeededPool
reading.ReadingPool = NeededPool
def popen(*arguments, **more):
    raise AssertionError("no other process")
subprocess.Popen = popen
"""


def test_the_first_process_is_a_copy_of_the_crawl(tmp_path: Path) -> None:
    """And what it reads is the same."""
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    with random_web(4, hosts=6, pages=100) as web:
        assert run_crawl(alone, web.start_urls, {"processing.processes": 0} | ALL_HOSTS).reason == "finished"
        settings = {"processing.processes": 1, "agent.contact": "mailto:tests@example.org"} | ALL_HOSTS
        done = larm_says(*crawl_arguments(helped, web.start_urls, settings, "-q"), before=FORKED_ALONE + LOADS_NO_PARSER)
    assert (done.status, done.err) == (0, "")
    assert {(row.url, row.title, row.size) for row in rows(alone)} == {(row.url, row.title, row.size) for row in rows(helped)}


LOADS_NO_PARSER = """
import os, sys
crawl = os.getpid()
class Never:
    def find_spec(self, name, *_):
        assert name != "larm.parse.by_mime" or os.getpid() != crawl, "the crawl itself has read a page"
sys.meta_path.insert(0, Never())
"""


def test_a_crawl_whose_pages_another_process_reads_loads_no_parser(tmp_path: Path) -> None:
    with random_web(5, hosts=3, pages=50) as web:
        settings = {"processing.processes": 1, "agent.contact": "mailto:tests@example.org"} | ALL_HOSTS
        done = larm_says(*crawl_arguments(tmp_path, web.start_urls, settings, "-q"), before=LOADS_NO_PARSER)
    assert (done.status, done.err) == (0, "")
    assert rows(tmp_path)


BROKEN_PARSER = """
import sys
class Broken:
    def find_spec(self, name, *_):
        if name.startswith("selectolax"):
            raise ImportError("selectolax is broken")
sys.meta_path.insert(0, Broken())
"""


def test_a_parser_that_can_not_be_loaded_is_said(tmp_path: Path, web: SyntheticWeb) -> None:
    """And is not the fault of a page, which the next run would find set aside."""
    crawled, broken = tmp_path / "crawl", tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(BROKEN_PARSER)  # for the processes beside the crawl, too
    site = web.host("a.localhost")
    site.page("/", links=["/1"])
    site.page("/1")
    settings = {"processing.processes": 1, "agent.contact": "mailto:tests@example.org"}
    arguments = crawl_arguments(crawled, [web.url("a.localhost")], settings, "-q")
    with Process(*arguments, environment={"PYTHONPATH": os.pathsep.join((str(broken), ROOT))}) as process:
        done = process.end()
    assert done.status == 1
    assert "selectolax is broken" in done.err
    assert larm_says(*arguments).status == 0
    assert len(rows(crawled)) == 2
