"""A page that is longer than what is read of it: counted, told everywhere, read again when the limit is larger."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from larm.index.search.searcher import IndexSearcher
from larm.model import cuts
from larm.ops.left_out import cut_numbers
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.parse.office_files import pdf, zipped
from tests.stories.crawls import run_crawl
from tests.stories.processes import crawl_arguments, larm_says

FILLER = "<p>" + "some words of no importance " * 1_000
LONG = (
    f"<html><head><title>Long</title></head><body>aardvark{FILLER}<p>wombat <a href=/last>the last</a></body></html>".encode()
)
SMALL = {"fetch.page_size": "20KB", "fetch.document_size": "20KB"}
SENTENCE = (
    "words or links are missing of pages that were cut: 1 longer than fetch.page_size; the same command with "
    "--set fetch.page_size=100MB reads them again; "
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

    run = run_crawl(tmp_path, start)
    assert answers(web) == {"/": 304, "/long": 200, "/short": 304, "/last": 200}
    assert run.last.pages == 4, "a page that is read again is no new one"
    (hit,) = IndexSearcher(tmp_path).search("wombat")
    assert (hit.title, hit.cuts) == ("Long", ())
    assert IndexSearcher(tmp_path).search("cut:all").total == 0

    run_crawl(tmp_path, start)
    assert answers(web) == {"/": 304, "/long": 304, "/short": 304, "/last": 304}


def test_what_a_person_is_told(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    for _ in range(2):  # also by a run that finds nothing else
        told = larm_says(*crawl_arguments(tmp_path, [start], SMALL))
        assert (told.status, SENTENCE in told.err) == (0, True)
    assert f"at its end: {SENTENCE}" in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    why = larm_says("why", f"{start}long", "--dir", str(tmp_path)).out.decode()
    assert (
        f"it is one longer than fetch.page_size; 'larm crawl --dir {tmp_path} --set fetch.page_size=100MB' reads it again"
        in why
    )
    assert "cut" not in larm_says("why", f"{start}short", "--dir", str(tmp_path)).out.decode()
    found = larm_says("search", "aardvark", "--dir", str(tmp_path))
    assert "not all of it was read" in found.out.decode()
    (hit,) = json.loads(larm_says("search", "aardvark", "--json", "--dir", str(tmp_path)).out.decode())["hits"]
    assert hit["cut"] == ["fetch.page_size"]

    told = larm_says(*crawl_arguments(tmp_path, [start]))
    assert (told.status, "missing of pages" in told.err) == (0, False)
    assert "missing of pages" not in larm_says("stats", "--dir", str(tmp_path)).out.decode()
    assert "not all of it" not in larm_says("search", "wombat", "--dir", str(tmp_path)).out.decode()


LAST = b"<a href=/last>y</a> wombat"


def _table(target: str) -> dict[str, tuple[dict[str, object], str, bytes, str]]:
    """What is lost, with these settings, of pages that lead to ``target`` in the end and say a word there: (settings, type,
    body, name of the limit)."""
    rows = b"".join(b"<url><loc>http://b.localhost/%d</loc></url>" % n for n in range(50))
    last = target.encode()
    deep, feed = (
        b"<y>" * 600 + b"</y>" * 600,
        b"<rss><channel>%s<item><link>%s</link><title>wombat</title></item></channel></rss>",
    )
    few: dict[str, object] = {"processing.links": 20}
    text = {"storage.index.text_size": "20KB"}
    words = f"<text:p>{'words ' * 5_000}</text:p><text:p><text:a xlink:href='{target}'>wombat</text:a></text:p>"
    large = f"<!--{'x' * 16_000_000}-->{words}"
    odt = "application/vnd.oasis.opendocument.text"
    document = pdf("Long", ["words " * 5_000, "wombat"], link=target)
    little = {"processing.documents.memory": "100MB"}
    return {
        "page": (SMALL, "text/html", LONG, cuts.PAGE),
        "gzip": (SMALL, "application/gzip", gzip.compress(LONG), cuts.PAGE),
        "file": (SMALL, "application/pdf", document, cuts.FILE),
        "text": (text, "text/html", LONG, cuts.TEXT),
        "text of a file": (text, odt, zipped({"content.xml": words}), cuts.TEXT),
        "memory of a file": (little, odt, zipped({"content.xml": large}), cuts.DOCUMENTS),
        "links": (few, "text/html", b"".join(b"<a href=http://b.localhost/%d>x</a>" % n for n in range(50)) + LAST, cuts.LINKS),
        "links of a sitemap": (few, "text/xml", b"<urlset>%s<url><loc>%s</loc></url></urlset>" % (rows, last), cuts.LINKS),
        "links of a list": (few, "text/plain", b"http://b.localhost/1\n" * 50 + last, cuts.LINKS),
        "links of a feed": (few, "text/xml", feed % (b"<item><link>/short</link></item>" * 50, last), cuts.LINKS),
        "nesting": ({}, "text/html", b"<div>x" * 22_000 + LAST, cuts.EFFORT),
        "a tag": ({}, "text/html", b"<p>a<b " + b"x " * 40_000 + b">" + LAST, cuts.EFFORT),
        "depth of XML": ({}, "text/xml", b"<x>" + deep + b"<z href='/last'>wombat</z></x>", cuts.EFFORT),
        "depth of a feed": ({}, "text/xml", feed % (deep, last), cuts.EFFORT),
        "members of gzip": ({}, "application/gzip", gzip.compress(b"") * 10_000 + gzip.compress(b"<html>" + LAST), cuts.EFFORT),
    }


def says_wombat(directory: Path) -> bool:
    """Whether the last words of the page are found."""
    return any(hit.url.endswith("/long") for hit in IndexSearcher(directory).search("wombat").hits)


def remedy_of(directory: Path) -> dict[str, object]:
    """What a person is told to say."""
    said = " ".join(cut_numbers(directory)["settings"]).removeprefix("--set ").split(" --set ")
    return {key: yaml.safe_load(value) for key, value in (each.split("=") for each in said)}


LINKED_AS_WELL = ("text", "text of a file")
"""Of these only words are lost."""
SAID_AS_WELL = ("links", "links of a feed")
"""Of these only links are."""
WORDLESS = ("links of a sitemap", "links of a list")
"""These are for nobody to search."""


@pytest.mark.parametrize("what", _table(""))
def test_whatever_is_lost_has_a_name_and_comes_with_the_remedy(
    web: SyntheticWeb, start: str, tmp_path: Path, what: str
) -> None:
    settings, kind, body, name = _table(f"{start}last")[what]
    web.host("a.localhost").add("/long", Reply(200, {"Content-Type": kind, "ETag": '"1"'}, body))
    run = run_crawl(tmp_path, start, settings)
    counted = {key: count for key, count in run.counters.items() if key.startswith("cut/")}
    assert counted == {f"cut/{name}": 1}
    assert ("/last" in answers(web)) == (what in LINKED_AS_WELL)
    assert says_wombat(tmp_path) == (what in SAID_AS_WELL)
    remedy = remedy_of(tmp_path)

    again = run_crawl(tmp_path, start, remedy)
    found = answers(web)
    assert found == {"/": 304, "/long": 200, "/short": 304, "/last": 304 if what in LINKED_AS_WELL else 200}
    assert not cuts.was_cut(again.counters)
    assert cut_numbers(tmp_path)["cuts"] == []
    assert says_wombat(tmp_path) == (what not in WORDLESS)
