"""``larm report``: a crawl as one page of HTML."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import larm.web
from larm import cli
from larm.kit.clock import SystemClock
from larm.ops.history import Moment
from larm.ops.observers import build_crawl
from larm.ops.report import report_of
from larm.parse.fragments import fragments
from larm.testing.web import SyntheticWeb
from larm.web.report_page import page
from tests.stories.crawls import config_of, run_crawl
from tests.stories.test_clock import SetClock


@pytest.fixture
def start(web: SyntheticWeb, tmp_path: Path) -> str:
    site = web.host("a.localhost")
    site.page("/", "Home", links=["/one", "/two", "/gone", "/old", "/<b>"])
    site.page("/one", text="The same words are on both of these pages, to the last one.")
    site.page("/two", text="The same words are on both of these pages, to the last one.")
    site.redirect("/old", "/one")
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"frontier.retries": 0})
    return start


def test_what_is_counted(start: str, tmp_path: Path) -> None:
    found = report_of(tmp_path)
    (site,) = found.sites
    assert (found.pages, site.pages, site.errors, site.redirects) == (3, 3, 2, 1)
    assert site.received == found.received > 0
    assert found.statuses == {"200": 3, "404": 2, "301": 1}
    assert found.causes == {"404: no such page": 2}
    assert found.depths == {0: 1, 1: 2}
    assert found.sizes["below 1 KB"] == 3
    assert found.aliases == 1
    assert found.languages == [("en", 2)]
    assert {url for _, url in found.slowest} >= {start, f"{start}one"}
    assert found.moments


def test_after_a_revisit_each_page_counts_once(
    start: str, web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what has become of them is told: a page that was not there before is new, though it was asked for."""
    web.host("a.localhost").change("/", title="Changed")
    web.host("a.localhost").remove("/two")
    web.host("a.localhost").page("/gone", text="Here it is.")
    clock = SetClock(SystemClock().wall() + 100)
    crawl = build_crawl(config_of(start, {"frontier.retries": 0}), tmp_path, clock=clock)
    crawl.run()
    slowest = [url for _, url in report_of(tmp_path).slowest]
    assert slowest.count(start) == 1, "it was fetched twice"
    assert crawl.snapshot().counters["revisit/changed"] == 1
    found = report_of(tmp_path)
    assert (found.pages, found.sites[0].pages, found.depths) == (3, 3, {0: 1, 1: 2})
    assert len({each.run for each in found.moments}) == 2
    assert found.languages == [("en", 3)]
    assert sorted(change[::2] for change in found.changes) == [
        ("changed", start),
        ("gone", f"{start}two"),
        ("new", f"{start}gone"),
    ]
    assert cli.run(["report", "--changes", str(tmp_path)]) == 0
    assert f"gone\t{start}two\n" in capsys.readouterr().out
    assert "<td>" + f"{start}two" in page(found)


def test_the_page_needs_nothing_else_and_runs_nothing(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["report", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("<!DOCTYPE html>")
    assert not re.search("<script|src=|href=|url\\(|@import", out)
    assert "default-src 'none'" in out
    assert "3 pages of 1 host," in out
    assert fragments(out.encode()).links == ()


def test_curves_of_two_runs_and_hostile_names(start: str, tmp_path: Path) -> None:
    moments = [Moment(float(wall), run, wall, wall * 1000, 5, 9) for run, wall in [(0, 1), (0, 2), (1, 100), (1, 103)]]
    hostile = [(9, "http://a/<script>alert(1)</script>")]
    said = page(msgspec.structs.replace(report_of(tmp_path), moments=moments, slowest=hostile, directory="<i>"))
    assert said.count("<polyline") == 4 * 2
    assert "over 4 s" in said
    assert "<script" not in said
    assert "<i>" not in said
    template = (Path(larm.web.__file__).parent / "standalone" / "report.html").read_text()
    assert not re.search(r"\|\s*safe|autoescape|Markup|\son\w+=|<script|javascript:", template)


def test_without_a_crawl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["report", "--dir", str(tmp_path)]) == 2
