"""Pages that revisits bring no more: what is found of them, what is said, and that they come back."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from larm.building.searching import open_searcher
from larm.cli import run
from larm.config import Config, SearchSettings
from larm.engine.figures.notes import Note
from larm.ops.afterwards import explain_url
from larm.ops.report import changes_of
from larm.store.reader import StoreLog
from larm.testing.replies import Reply, html
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import Run, asked, indexed, run_crawl

PATHS = [f"/{number}" for number in range(20)]
ONE = "http://a.localhost:{port}/3"


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A host of a home page and twenty others."""
    site = web.host("a.localhost")
    site.page("/", links=PATHS)
    for path in PATHS:
        site.page(path, f"Page {path[1:]}", f"zeppelin number {path[1:]}")
    return web.url("a.localhost")


def crawl(directory: Path, start: str, **settings: object) -> Run:
    """A run that asks for every page."""
    return run_crawl(directory, start, {"frontier.retries": 0, "recrawl.current": 0, **settings})


def found(directory: Path) -> set[str]:
    return {url.rpartition("/")[2] for url in indexed(directory)}


def why(directory: Path, url: str) -> Note:
    return explain_url(Config(), directory, url).note


@pytest.mark.parametrize(
    ("status", "runs"), [(451, 1), (401, 2), (403, 2), (402, 2), (406, 2), (204, 2), (302, 2), (303, 2), (307, 2)]
)
def test_page_leaves_when_a_refusal_repeats_and_comes_back(
    tmp_path: Path, web: SyntheticWeb, start: str, status: int, runs: int
) -> None:
    site, url = web.host("a.localhost"), web.url("a.localhost", "/3")
    crawl(tmp_path, start)
    site.add("/3", Reply(status, {"Location": "/nothing-there"} if 300 <= status < 400 else {}))
    there = []
    for _ in range(runs):
        crawl(tmp_path, start)
        there.append("3" in found(tmp_path))
    assert there == [True] * (runs - 1) + [False]
    assert len(found(tmp_path)) == len(PATHS), "all others are there"
    assert [change.url for change in changes_of(tmp_path) if change.what == "gone"] == [url]
    said = why(tmp_path, url)
    assert said.key == "why_not_found"
    assert str(status) in said.numbers["reason"]
    site.page("/3", "Page 3", "zeppelin number 3")
    crawl(tmp_path, start)
    assert "3" in found(tmp_path)
    assert why(tmp_path, url).key == "why_fetched"


def test_page_that_robots_txt_forbids_leaves_in_the_second_run(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    crawl(tmp_path, start)
    site, there = web.host("a.localhost"), []
    for rules in ("User-agent: *\nDisallow: /3\n", "User-agent: *\nDisallow: /3\n", ""):
        site.robots(rules)
        crawl(tmp_path, start, **{"robots.ttl": "1ms"})
        there.append("3" in found(tmp_path))
    assert there == [True, False, True]


def test_redirect_to_a_page_that_is_stored_is_its_duplicate_at_once(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    crawl(tmp_path, start)
    web.host("a.localhost").redirect("/3", "/4", 302)
    crawl(tmp_path, start)
    assert found(tmp_path) == {"", *(path[1:] for path in PATHS)} - {"3"}
    moved = f"302: moved to {web.url('a.localhost', '/4')}"
    assert why(tmp_path, web.url("a.localhost", "/3")).numbers["reason"] == moved


def test_unreached_page_is_found_and_said_until_it_is_given_up(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    crawl(tmp_path, start)
    site, url = web.host("a.localhost"), web.url("a.localhost", "/3")
    site.status("/3", 500)
    for _ in range(4):
        run = crawl(tmp_path, start, **{"recrawl.give_up": 0})
    (hit,) = open_searcher(tmp_path, SearchSettings()).search('"zeppelin number 3"').hits
    assert hit.failing > 0
    assert any("report --changes" in note for note in run.notes)
    assert [change.url for change in changes_of(tmp_path) if change.what == "failing"] == [url]
    assert why(tmp_path, url).numbers["runs"] == 4
    assert StoreLog(tmp_path).find(url) is not None
    crawl(tmp_path, start)
    assert "3" in found(tmp_path), "thirty days are not over"
    crawl(tmp_path, start, **{"recrawl.give_up": 0})
    assert "3" not in found(tmp_path)


@pytest.mark.parametrize("status", [404, 451])
def test_copy_of_a_removed_page_is_shown_only_where_it_is_asked_for(
    tmp_path: Path, web: SyntheticWeb, start: str, status: int, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    crawl(tmp_path, start)
    web.host("a.localhost").status("/3", status)
    crawl(tmp_path, start)
    for options, there in (((), False), (("--removed",), True)):
        assert run(["cat", *options, web.url("a.localhost", "/3"), "--dir", str(tmp_path)]) == (not there)
        out, err = capsysbinary.readouterr()
        assert (b"zeppelin number 3" in out) is there
        assert f"was removed (HTTP status {status})" in err.decode()
    assert run(["cat", web.url("a.localhost", "/4"), "--dir", str(tmp_path)]) == 0
    assert capsysbinary.readouterr().err == b""


@pytest.mark.parametrize(("chain", "name"), [(["log"], "out"), (["log"], "a.wacz"), (["log", "warc"], "b.wacz")])
def test_archive_of_a_crawl_leaves_out_pages_that_were_removed(
    tmp_path: Path, web: SyntheticWeb, start: str, chain: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl(tmp_path / "crawl", start, **{"storage.chain": chain})
    web.host("a.localhost").status("/3", 451)
    crawl(tmp_path / "crawl", start, **{"storage.chain": chain})
    assert run(["warc", "export", "--dir", str(tmp_path / "crawl"), "--output", str(tmp_path / name)]) == 0
    assert "1 page left out: removed from the index since" in capsys.readouterr().err
    if name.endswith(".wacz"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            packed = [archive.read(each) for each in archive.namelist() if each.startswith("archive/")]
    else:
        packed = [file.read_bytes() for file in (tmp_path / name).glob("*.warc.gz")]
    found = b"".join(map(gzip.decompress, packed))
    assert b"zeppelin number 4" in found
    assert b"zeppelin number 3" not in found


def test_page_of_a_host_that_is_given_up_counts_as_failing_in_each_revisit(
    tmp_path: Path, web: SyntheticWeb, start: str
) -> None:
    """Its first page alone was requested, and no other for some revisits."""
    home = web.host("b.localhost")
    home.page("/", links=[f"http://a.localhost:{web.port}{path}" for path in ("/", *PATHS)])
    starts = [start, web.url("b.localhost")]
    pages = [web.url("a.localhost", path) for path in ("/", *PATHS)]
    run_crawl(tmp_path, starts)
    down = {"sites": {"a.localhost": {"proxy": "http://127.0.0.1:9"}}, "recrawl.give_up": 0, "frontier.retries": 0}
    for runs in range(1, 6):
        run = run_crawl(tmp_path, starts, down)
        assert {why(tmp_path, url).numbers["runs"] for url in pages} == {runs}
    assert any("recrawl.most_gone" in note for note in run.notes), "the guard holds"
    web.log.clear()
    run_crawl(tmp_path, starts)
    assert {why(tmp_path, url).numbers["since"] for url in pages} == {0}
    assert {count for url, count in asked(web).items() if url.startswith("a.")} == {1}


def test_site_that_refuses_most_pages_is_kept(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """The guard most_gone: it is more often broken, or refuses this crawler, than empty."""
    crawl(tmp_path, start)
    for path in PATHS[:15]:
        web.host("a.localhost").status(path, 403)
    for _ in range(3):
        run = crawl(tmp_path, start)
    assert len(found(tmp_path)) == 1 + len(PATHS)
    assert any("recrawl.most_gone" in note for note in run.notes)


def test_pages_that_left_count_as_gone_once_when_they_go_on_failing(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """Else they would be gone again in each run, and count against most_gone with those that are gone now."""
    site = web.host("a.localhost")
    crawl(tmp_path, start)
    for path in PATHS[:8]:
        site.status(path, 403)
    crawl(tmp_path, start)
    crawl(tmp_path, start)
    assert len(found(tmp_path)) == 1 + len(PATHS) - 8
    site.status("/19", 404)
    run = crawl(tmp_path, start)
    assert not any("recrawl.most_gone" in note for note in run.notes)
    assert run.counters["revisit/gone"] == 1
    assert "19" not in found(tmp_path)


@pytest.mark.parametrize("conditional", [True, False])
def test_header_that_is_new_counts_though_the_body_is_the_same(
    tmp_path: Path, web: SyntheticWeb, start: str, conditional: bool
) -> None:
    site = web.host("a.localhost")
    validators = {"ETag": '"1"'} if conditional else {}
    for path, body in (("/3", "<p>zeppelin three"), ("/4", "<p>zeppelin four")):
        site.add(path, html(body, **validators))
    crawl(tmp_path, start)
    site.add("/3", html("<p>zeppelin three", **validators, X_Robots_Tag="noindex"))
    crawl(tmp_path, start)
    # a 304 may leave out what has not changed (RFC 9110 15.4.5); the server of this web leaves out all but validators
    assert ("3" not in found(tmp_path)) is not conditional
    site.add(
        "/3",
        lambda request: (
            Reply(304, {"X-Robots-Tag": "noindex"})
            if "if-none-match" in request.headers
            else html("<p>zeppelin three", X_Robots_Tag="noindex")
        ),
    )
    run = crawl(tmp_path, start)
    assert "3" not in found(tmp_path)
    assert run.counters.get("revisit/unchanged", 0) >= len(PATHS) - 1
