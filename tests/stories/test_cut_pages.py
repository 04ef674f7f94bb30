"""A page that is longer than what is read of it: counted, told everywhere, read again when the limit is larger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from larm.search.searcher import IndexSearcher
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import rows, run_crawl
from tests.stories.processes import crawl_arguments, larm_says

FILLER = "<p>" + "some words of no importance " * 1_000
LONG = (
    f"<html><head><title>Long</title></head><body>aardvark{FILLER}<p>wombat <a href=/last>the last</a></body></html>".encode()
)
SMALL = {"fetch.page_size": "20KB", "fetch.document_size": "20KB"}
SENTENCE = (
    "words or links are missing of pages that were cut: 1 longer than fetch.page_size; the same command with "
    "--set fetch.page_size=100MB reads them again; larm search cut:all finds them"
)


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    site = web.host("a.localhost")
    site.page("/", "Home", links=["/long", "/short"])
    site.page("/short", "Short")
    site.page("/last", "Last")
    site.add("/long", Reply(200, {"Content-Type": "text/html", "ETag": '"1"'}, LONG))
    return web.url("a.localhost")


def answers(web: SyntheticWeb) -> dict[str, int]:
    """Path -> status, of the last run."""
    found = {request.path: request.status for request in web.requests if request.path != "/robots.txt"}
    web.log.clear()
    return found


def test_a_page_that_is_cut(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    run = run_crawl(tmp_path, start, SMALL)
    assert run.counters["cut/fetch.page_size"] == 1
    assert answers(web) == {"/": 200, "/long": 200, "/short": 200}
    hits = {hit.url.rpartition("/")[2]: hit.cuts for hit in IndexSearcher(tmp_path).search("words OR home OR short")}
    assert hits == {"long": ("fetch.page_size",), "": (), "short": ()}
    assert [hit.title for hit in IndexSearcher(tmp_path).search("cut:all")] == ["Long"]
    assert IndexSearcher(tmp_path).search("wombat").total == 0

    run_crawl(tmp_path, start, SMALL)  # nothing is different: "not modified" will do
    assert answers(web) == {"/": 304, "/long": 304, "/short": 304}

    run_crawl(tmp_path, start)
    assert answers(web) == {"/": 304, "/long": 200, "/short": 304, "/last": 200}
    (hit,) = IndexSearcher(tmp_path).search("wombat")
    assert (hit.title, hit.cuts) == ("Long", ())
    assert IndexSearcher(tmp_path).search("cut:all").total == 0

    run_crawl(tmp_path, start)
    assert answers(web) == {"/": 304, "/long": 304, "/short": 304, "/last": 304}


def test_what_a_person_is_told(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    told = larm_says(*crawl_arguments(tmp_path, [start], SMALL))
    assert (told.status, SENTENCE in told.err) == (0, True)
    assert f"cut: {SENTENCE}" in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    why = larm_says("why", f"{start}long", "--dir", str(tmp_path)).out.decode()
    assert "it is one longer than fetch.page_size; larm crawl with --set fetch.page_size=100MB reads it again" in why
    assert "cut" not in larm_says("why", f"{start}short", "--dir", str(tmp_path)).out.decode()
    found = larm_says("search", "aardvark", "--dir", str(tmp_path))
    assert "not all of it was read" in found.out.decode()
    (hit,) = json.loads(larm_says("search", "aardvark", "--json", "--dir", str(tmp_path)).out.decode())["hits"]
    assert hit["cut"] == ["fetch.page_size"]

    told = larm_says(*crawl_arguments(tmp_path, [start]))
    assert (told.status, "missing of pages" in told.err) == (0, False)
    assert "missing of pages" not in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    assert "not all of it" not in larm_says("search", "wombat", "--dir", str(tmp_path)).out.decode()


@pytest.mark.parametrize(
    ("settings", "path", "body", "name"),
    [
        ({"storage.index.text_size": "20KB"}, "/long", LONG, "storage.index.text_size"),
        (SMALL, "/x.pdf", b"%PDF-1.4\n" + b"x" * 30_000, "fetch.document_size"),
        ({}, "/links", b"<a href=/1>x</a>" * 50_001, "reader"),
        ({}, "/deep.xml", b"<?xml version='1.0'?>" + b"<a>" * 600 + b"word", "reader"),
        ({}, "/huge", b"<p>a<b " + b"x " * 40_000 + b">b", "reader"),
        ({}, "/sitemap.xml", b"<urlset>" + b"<url><loc>http://b.localhost/</loc></url>" * 50_001 + b"</urlset>", "reader"),
    ],
)
def test_each_limit_has_its_name(
    web: SyntheticWeb, tmp_path: Path, settings: dict[str, object], path: str, body: bytes, name: str
) -> None:
    site = web.host("a.localhost")
    kind = {"pdf": "application/pdf", "xml": "text/xml"}.get(path.partition(".")[2], "text/html")
    site.page("/", links=[path])
    site.add(path, Reply(200, {"Content-Type": kind}, body))
    run = run_crawl(tmp_path, web.url("a.localhost"), settings)
    counted = {key: count for key, count in run.counters.items() if key.startswith("cut/")}
    assert counted == {f"cut/{name}": 1}
    assert len(rows(tmp_path)) == 2
