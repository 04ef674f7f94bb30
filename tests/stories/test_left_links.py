"""Links that a run does not follow, by its settings: counted, told, and followed by a later run whose settings allow it."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from larm.config import FrontierSettings
from larm.crawldir.state import last_header
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.testing.replies import Reply, html, moved
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import Run, config_of, indexed, run_crawl, stored
from tests.support.bad_replies import half

LONG = "/" + "x" * 100
ROBOTS = b"User-agent: *\n" + b"# nothing\n" * 2_000 + b"Sitemap: /sitemap.txt\n"
CHANGED = "other links are followed than in earlier runs"
LEFT: dict[str, tuple[dict[str, object], dict[str, object], str, str]] = {
    "length": ({"filters.length.max": 60}, {}, "length", "too_long"),
    "depth": (
        {"crawl.max_depth": 1},
        {},
        "",
        "too_deep",
    ),
    "scope": ({}, {"crawl.restrict_to": ".*"}, "scope", ""),
    "path": ({"filters.known_paths": ["/deep*"]}, {}, "known_paths", ""),
    "nofollow": ({}, {"processing.nofollow": False}, "", "nofollow"),
    "embedded": ({}, {"processing.follow_embedded": True}, "", ""),
}
"""What is left: (by these settings, found with these, counted by this filter, told by the note with this key)."""
PAGES = ("/", "/deep/")
FOUND = {
    "length": LONG,
    "depth": "/deep/deeper",
    "scope": "//b.localhost",
    "path": "/deep/",
    "nofollow": "/nofollow",
    "embedded": "/image.png",
}


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    a, b = web.host("a.localhost"), web.host("b.localhost")
    b.page("/", "B")
    for path in (LONG, "/deep/deeper", "/nofollow"):
        a.page(path, path)
    a.add("/image.png", Reply(200, {"Content-Type": "image/png"}, b"\x89PNG"))
    links = (
        f"<a href={web.url('b.localhost')}>b</a><a href={LONG}>l</a><a href=/nofollow rel=nofollow>n</a><a href=/deep/>d</a>"
    )
    page = f"<title>A</title>{links}<img src=/image.png>"
    a.add("/", Reply(200, {"Content-Type": "text/html", "ETag": '"1"'}, page.encode()))
    a.add("/deep/", Reply(200, {"Content-Type": "text/html", "ETag": '"2"'}, b"<title>Deep</title><a href=deeper>x</a>"))
    return web.url("a.localhost")


def has(directory: Path, what: str) -> bool:
    return any(FOUND[what] in url for url in stored(directory))


def statuses(web: SyntheticWeb) -> dict[str, int]:
    """Of the two pages with links."""
    return {request.path: request.status for request in web.requests if request.host == "a.localhost" and request.path in PAGES}


def told(directory: Path, start: str, run: Run, settings: dict[str, object]) -> dict[str, dict[str, Any]]:
    return {each.key: each.numbers for each in left_out(directory, config_of(start, settings), run.last)}


@pytest.mark.parametrize("what", LEFT)
def test_what_is_left_is_found_when_it_is_allowed(web: SyntheticWeb, start: str, tmp_path: Path, what: str) -> None:
    """The pages have not changed, so that a server sends none of them to who asks whether they have."""
    little, more, name, key = LEFT[what]
    run = run_crawl(tmp_path, start, little)
    assert not has(tmp_path, what)
    assert not name or run.last.filtered[name]
    assert not key or key in told(tmp_path, start, run, little)

    run = run_crawl(tmp_path, start, more)
    assert f"{CHANGED}, by scope, length, depth or kind: all pages are fetched whole for it" in run.notes
    assert has(tmp_path, what)

    web.log.clear()
    run = run_crawl(tmp_path, start, more)
    assert not any(CHANGED in note for note in run.notes)
    assert statuses(web) == {"/": 304, "/deep/": 304}


def test_a_crawl_that_goes_on_with_more_says_when_the_rest_comes(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    run_crawl(tmp_path, start, {"filters.length.max": 60})
    starts = [start, web.url("b.localhost")]
    (note,) = (note for note in run_crawl(tmp_path, starts).notes if CHANGED in note)
    assert note.endswith("on pages that are there they count from the next revisit on")
    assert not has(tmp_path, "length")
    run = run_crawl(tmp_path, starts)
    assert any(CHANGED in note for note in run.notes)
    assert has(tmp_path, "length")


def test_less_is_no_reason_to_fetch_all_again(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    run_crawl(tmp_path, start)
    web.log.clear()
    run = run_crawl(tmp_path, start, {"filters.length.max": 60, "crawl.max_depth": 1})
    assert not any(CHANGED in note for note in run.notes)
    assert statuses(web) == {"/": 304, "/deep/": 304}


def test_why_names_the_setting_by_which_links_are_not_followed(web: SyntheticWeb, start: str, tmp_path: Path) -> None:
    settings = config_of(start, {"crawl.max_depth": 1})
    run_crawl(tmp_path, start, {"crawl.max_depth": 1})

    def why(what: str) -> str:
        return explain_url(settings, tmp_path, web.url("a.localhost", FOUND[what])).note.key

    assert why("nofollow") == why("embedded") == "why_noted"
    assert ("linked from", start) in explain_url(settings, tmp_path, web.url("a.localhost", FOUND["embedded"])).rows
    assert why("depth") == "why_linked"


def test_search_pages_are_fetched_and_descriptions_of_searches_are_not_pages(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    opensearch = "<?xml version='1.0'?><OpenSearchDescription><ShortName>Site</ShortName></OpenSearchDescription>"
    head = (
        '<link rel="search" type="application/opensearchdescription+xml" href="/typed.xml" title="Site">'
        '<link rel="search" href="/search.html"><link rel="search" href="/untyped.xml">'
    )
    site.add("/", Reply(200, {"Content-Type": "text/html"}, f"{head}<p>Words <a rel=search href=/find>find</a>".encode()))
    site.page("/search.html", "Search")
    site.page("/find", "Find")
    for path in ("/typed.xml", "/untyped.xml"):
        site.add(path, Reply(200, {"Content-Type": "application/xml"}, opensearch.encode()))
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start)
    paths = {url.removeprefix(start) for url in indexed(tmp_path)}
    assert paths == {"", "search.html", "find"}
    assert run.counters["links/opensearch"] == 1
    verdict = explain_url(config_of(start), tmp_path, f"{start}typed.xml")
    assert (verdict.note.key, "describe a search" in verdict.note.text) == ("why_noted", True)


def test_a_page_that_says_nofollow_of_all_its_links(web: SyntheticWeb, tmp_path: Path) -> None:
    """In a <meta> or in a header."""
    site = web.host("a.localhost")
    site.page("/", links=["/meta", "/header"])
    site.page("/meta", head='<meta name="robots" content="nofollow">', links=["/x", "/y"])
    site.add("/header", Reply(200, {"Content-Type": "text/html", "X-Robots-Tag": "nofollow"}, b"<a href=/z rel=nofollow>z</a>"))
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start)
    assert run.counters["links/nofollow"] == 2
    run = run_crawl(tmp_path, start, {"processing.nofollow": False})
    assert "links/nofollow" not in run.counters


def test_redirects_in_a_row(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", "A", links=["/0"])
    for number in range(8):
        site.add(f"/{number}", moved(f"/{number + 1}"))
    site.page("/8", "The last")
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start, {"frontier.redirects": 3})
    assert run.counters["redirect/too_many"] == 1
    assert told(tmp_path, start, run, {"frontier.redirects": 3})["redirects"] == {"pages": 1, "most": 3, "enough": 20}
    assert told(tmp_path, start, run, {"frontier.redirects": 20})["redirects"]["enough"] == 40
    run = run_crawl(tmp_path, start)
    assert any(url.endswith("/8") for url in stored(tmp_path))


def test_a_robots_txt_that_is_longer(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", "A")
    site.page("/last", "The last")
    site.add("/robots.txt", Reply(200, {"Content-Type": "text/plain"}, ROBOTS))
    site.add("/sitemap.txt", Reply(200, {"Content-Type": "text/plain"}, web.url("a.localhost", "/last").encode()))
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start, {"robots.size": "10KB"})
    assert run.counters["robotstxt/truncated"] == 1
    assert told(tmp_path, start, run, {"robots.size": "10KB"})["robots_truncated"] == {"hosts": 1, "enough": 5}
    assert told(tmp_path, start, run, {"robots.size": "5.5MB"})["robots_truncated"]["enough"] == 10
    run = run_crawl(tmp_path, start)
    assert any(url.endswith("/last") for url in stored(tmp_path))


def test_the_remedy_for_depth_without_a_number_brings_the_whole_site(web: SyntheticWeb, tmp_path: Path) -> None:
    for number in range(5):
        web.host("a.localhost").page(f"/{number}", links=[f"/{number + 1}"])
    start = web.url("a.localhost", "/0")
    run = run_crawl(tmp_path, start, {"crawl.max_depth": 1})
    assert told(tmp_path, start, run, {"crawl.max_depth": 1})["too_deep"]["deeper"] == 2
    run_crawl(tmp_path, start)
    assert {url.rpartition("/")[2] for url in stored(tmp_path)} == set("01234")


def test_walls_of_cookies_behind_links_are_told_and_who_keeps_cookies_gets_in(web: SyntheticWeb, tmp_path: Path) -> None:
    """Pages that redirect to themselves with a cookie, by way of another page, and for ever."""

    def wall(to: str, sets: str, wants: str = "in=") -> Callable[[Request], Reply]:
        away = Reply(302, {"Location": to, "Set-Cookie": f"{sets}; Path=/"} if sets else {"Location": to}, b"")
        return lambda request: html("<title>inside") if wants in dict(request.headers).get("cookie", "") else away

    host = web.host("a.localhost")
    host.page("/", links=["/own", "/by", "/ever", "/way"])
    host.add("/own", wall("/own", "in=1"))
    host.add("/by", wall("/set", "", "by="))
    host.add("/set", wall("/by", "by=1", "nothing"))
    host.redirect("/way", "/further", 302)
    host.redirect("/further", "/behind", 302)
    host.add("/behind", wall("/behind", "behind=1", "behind="))
    host.add("/ever", wall("/ever", "", "never="))
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start)
    assert told(tmp_path, start, run, {})["circle"] == {"pages": 4}
    kept: dict[str, object] = {"sites": {"a.localhost": {"keep_cookies": True}}}
    run_crawl(tmp_path, start, kept)
    assert {url.rpartition("/")[2] for url in stored(tmp_path)} == {"", "own", "by", "behind"}
    web.log.clear()
    run = run_crawl(tmp_path / "new", start, kept)
    assert {url.rpartition("/")[2] for url in stored(tmp_path / "new")} == {"", "own", "by", "behind"}
    assert told(tmp_path / "new", start, run, kept)["circle"] == {"pages": 1}
    assert max(Counter(request.path for request in web.requests).values()) <= 3


def test_what_robots_txt_forbids_and_what_came_in_part_is_told(web: SyntheticWeb, tmp_path: Path) -> None:
    host = web.host("a.localhost")
    host.robots("User-agent: *\nDisallow: /secret")
    host.page("/", links=["/secret/1", "/secret/2", "/packed"])
    whole = html("<title>packed</title><p>" + "many words " * 500 + "<a href='/behind'>behind</a>")
    packed = gzip.compress(whole.body, mtime=0)
    headers = {**dict(whole.headers), "Content-Encoding": "gzip"}
    host.add("/packed", Reply(200, headers, packed[: len(packed) // 2]))
    host.page("/behind")
    start = web.url("a.localhost")
    said = told(tmp_path, start, run_crawl(tmp_path, start), {})
    assert said["forbidden"]["urls"] == 2
    part = {"cuts": ["1 that came, or could be unpacked, in part only"], "settings": []}
    assert said["cut"] == part
    assert told(tmp_path, start, run_crawl(tmp_path, start), {})["cut"] == part, "it is so still"
    host.add("/packed", Reply(200, headers, packed))
    said = told(tmp_path, start, run_crawl(tmp_path, start), {})
    assert web.url("a.localhost", "/behind") in stored(tmp_path)
    assert "cut" not in said


def test_a_page_that_breaks_off_each_time_is_stored_as_far_as_it_came(web: SyntheticWeb, tmp_path: Path) -> None:
    """As all pages of a server do that says too large a Content-Length. What was whole before stays as it was."""
    host = web.host("a.localhost")
    page = html("<a href='/behind'>behind</a><p>" + "many words " * 500)
    host.add("/", half(page.body))
    host.page("/behind")
    start = web.url("a.localhost")
    run = run_crawl(tmp_path, start)
    assert set(stored(tmp_path)) == {start, web.url("a.localhost", "/behind")}
    assert Counter(request.path for request in web.requests)["/"] == 1 + FrontierSettings().retries
    assert told(tmp_path, start, run, {})["cut"]["cuts"] == ["1 that came, or could be unpacked, in part only"]
    host.add("/", page)
    run_crawl(tmp_path, start)
    host.add("/", half(page.body))
    run = run_crawl(tmp_path, start)
    assert "cut" not in told(tmp_path, start, run, {})
    assert stored(tmp_path)[start] == 2


def test_what_redirects_to_itself_is_asked_for_once_however_many_lead_there(web: SyntheticWeb, tmp_path: Path) -> None:
    host = web.host("a.localhost")
    host.redirect("/login", "/login", 302)
    host.page("/", links=["/0", "/login"])
    for number in range(20):
        host.page(f"/{number}", links=[f"/{number + 1}", "/login"])
    run_crawl(tmp_path, web.url("a.localhost"))
    assert Counter(request.path for request in web.requests)["/login"] == 1


def test_the_slow_ways_of_a_host_and_known_paths_are_told(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = web.host("a.localhost")
    host.page("/", links=["/robots.txt.html", "/?C=N;O=D", *(f"/{number}" for number in range(1, 7))])
    host.page("/robots.txt.html")
    for number in range(1, 7):
        host.status(f"/{number}", 403)
    start = web.url("a.localhost")
    monkeypatch.setattr("larm.frontier.host.ERRORS", 1)
    monkeypatch.setattr("larm.frontier.politeness.ERRORS", 1)
    settings: dict[str, object] = {"frontier.error_delay": 2}
    said = told(tmp_path, start, run_crawl(tmp_path, start, settings), settings)
    assert web.url("a.localhost", "/robots.txt.html") in stored(tmp_path)
    assert said["known_paths"]["urls"] == 1
    assert said["slowed"] == {"hosts": 1, "times": "2"}


def test_start_urls_are_saved_before_the_first_is_asked_for(web: SyntheticWeb, tmp_path: Path) -> None:
    """Who leaves in the first seconds goes on by larm crawl alone."""
    saved: list[list[str]] = []

    def page(_: Request) -> Reply:
        header = last_header(tmp_path)
        saved.append(list(header.start_urls) if header else [])
        return html("<title>a</title>")

    web.host("a.localhost").add("/", page)
    start = web.url("a.localhost")
    run_crawl(tmp_path, start)
    assert saved == [[start]]
