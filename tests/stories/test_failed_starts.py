"""Story: the start URL brings nothing. The user reads why, in one line, whatever happened."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.fetch.raw_server import RawServer, page
from tests.stories.crawls import lines, once, run_crawl
from tests.stories.processes import crawl_arguments, larm_says

COOKIE = "as sites do that want a cookie; keep_cookies keeps them (larm help sites)"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def cause(tmp_path: Path, start: str, settings: dict[str, object] | None = None) -> str:
    """The only line, without its address."""
    run = run_crawl(tmp_path, start, settings)
    [line] = run.ending.failed_starts
    assert line.startswith(f"{start}: ")
    assert [each[24:] for each in lines(tmp_path, "starts")] == [line], "also in its log, with date and time"
    assert not run.ending.start_fetched
    return line.removeprefix(f"{start}: ")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "401: it wants a login, or another than it was given (larm help sites)"),
        (403, "403: the site refuses larm"),
        (404, "404: no such page"),
        (500, "500: the server failed (Internal Server Error), 3 times"),
        (429, "429: the site asks to be left alone, 8 times"),
        (204, "204: an answer without a page"),
    ],
)
def test_a_status(tmp_path: Path, web: SyntheticWeb, status: int, sentence: str) -> None:
    web.host("a.localhost").status("/", status)
    assert cause(tmp_path, web.url("a.localhost")) == sentence


def test_no_such_host(tmp_path: Path) -> None:
    assert cause(tmp_path, "http://no-such-host.invalid/") == "no such host (DNS)"


@pytest.mark.parametrize("obey", [True, False])
def test_nothing_listens_which_is_said_at_once(tmp_path: Path, obey: bool) -> None:
    """Without another try: with the default waits it would take 15 seconds."""
    settings: dict[str, object] = {"frontier.retry_wait": "1h", "robots.obey": obey, "crawl.max_time": 30}
    assert cause(tmp_path, f"http://127.0.0.1:{free_port()}/", settings) == "nothing listens there (Connection refused)"


def test_but_who_is_found_by_a_link_is_tried_again(tmp_path: Path, web: SyntheticWeb) -> None:
    """Nobody waits for that one, and it may be starting."""
    nobody = f"http://127.0.0.1:{free_port()}/"
    web.host("a.localhost").page("/", links=[nobody])
    run = run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": ".*"})
    assert run.counters["robotstxt/exception_count/connect"] == 3
    assert run.ending.failed_starts == ()


def test_a_certificate_for_another_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(page(b"secret"), tls=True) as server:
        said = cause(tmp_path, server.url(host="127.0.0.1"))
    assert re.fullmatch(r"no safe connection: .*certificate.*; fetch.insecure_hosts trusts it all the same", said)


def test_robots_txt_forbids_it(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").robots("User-agent: *\nDisallow: /")
    rules = web.url("a.localhost", "/robots.txt")
    assert cause(tmp_path, web.url("a.localhost")) == f"forbidden by line 2 of {rules}: Disallow: /"


def test_robots_txt_can_not_be_read(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").status("/robots.txt", 503)
    said = cause(tmp_path, web.url("a.localhost"))
    assert said == "its robots.txt can't be read, so nothing else may be: 503: the server failed (Service Unavailable)"


def test_a_cookie_that_redirects_to_itself(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").redirect("/", "/", 302)
    assert cause(tmp_path, web.url("a.localhost")) == f"302: it redirects to itself, {COOKIE}"


def test_a_cookie_that_redirects_to_itself_where_the_start_leads(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").redirect("/", "/en/", 302)
    web.host("a.localhost").redirect("/en/", "/en/", 302)
    said = cause(tmp_path, web.url("a.localhost"))
    assert said == f"it redirects to {web.url('a.localhost', '/en/')}: it redirects in a circle, {COOKIE}"


def test_a_circle(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").redirect("/", "/check", 302)
    web.host("a.localhost").redirect("/check", "/", 302)
    said = cause(tmp_path, web.url("a.localhost"))
    assert said == f"it redirects to {web.url('a.localhost', '/check')}: it redirects in a circle, {COOKIE}"


def test_where_it_leads_there_is_nothing(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").redirect("/", web.url("b.localhost", "/gone"))
    web.host("b.localhost").status("/gone", 410)
    there = web.url("b.localhost", "/gone")
    assert cause(tmp_path, web.url("a.localhost")) == f"it redirects to {there}: 410: the page is gone for good"


def test_the_scope_does_not_hold_it(tmp_path: Path, web: SyntheticWeb) -> None:
    start = web.url("a.localhost")
    said = cause(tmp_path, start, {"crawl.restrict_to": r"https://.*"})
    assert said == f"out of scope: {start} does not match https://.* as a whole; another -restrictto REGEX may"


def test_a_private_address(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").redirect("/", f"http://127.0.0.2:{web.port}/")
    said = cause(tmp_path, web.url("a.localhost"))
    assert "127.0.0.2 is at 127.0.0.2, a private address where no start host is" in said


def test_the_others_are_told_too(tmp_path: Path, web: SyntheticWeb) -> None:
    """One fetched, one fetched by way of a redirect, one that leads to the first, and one that failed."""
    site = web.host("a.localhost")
    site.page("/", links=["/missing"])
    site.redirect("/old", "/new")
    site.page("/new")
    site.redirect("/home", "/")
    site.status("/none", 404)
    starts = [web.url("a.localhost", path) for path in ("/", "/old", "/home", "/none")]
    run = run_crawl(tmp_path, starts)
    assert run.ending.start_fetched
    assert run.ending.failed_starts == (f"{starts[3]}: 404: no such page",), "a link that leads nowhere is no start URL"
    assert web.fetched() == once("a.localhost/", "a.localhost/new")


def test_who_is_stopped_hears_nothing_of_what_was_not_asked_for(tmp_path: Path, web: SyntheticWeb) -> None:
    for name in "ab":
        web.host(f"{name}.localhost").page("/")
    run = run_crawl(tmp_path, [web.url("a.localhost"), web.url("b.localhost")], {"crawl.max_pages": 1, "fetch.threads": 1})
    assert run.reason == "closespider_pagecount"
    assert run.ending.failed_starts == ()


def test_a_start_that_is_refused_later_is_told_by_the_revisit(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/")
    assert run_crawl(tmp_path, web.url("a.localhost")).ending.failed_starts == ()
    site.status("/", 403)
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert run.ending.failed_starts == (f"{web.url('a.localhost')}: 403: the site refuses larm",)


def test_many(tmp_path: Path, web: SyntheticWeb) -> None:
    """On a terminal a screen of them, in the log all; -q silences neither, and the exit status is that of some success."""
    site = web.host("a.localhost")
    site.page("/")
    missing = [web.url("a.localhost", f"/{number}") for number in range(25)]
    (tmp_path / "starts").write_text("\n".join([web.url("a.localhost"), *missing]))
    said = larm_says(*crawl_arguments(tmp_path / "crawl", [f"@{tmp_path / 'starts'}"]), "-q")
    assert said.status == 0
    shown = said.err.splitlines()
    assert shown[:20] == [f"larm: {url}: 404: no such page" for url in missing[:20]]
    assert shown[20:] == [f"larm: 5 more start URLs failed: {tmp_path / 'crawl' / 'logs' / 'starts.log'}"]
    assert len(lines(tmp_path / "crawl", "starts")) == 25
    assert b"5 more start URLs failed: " in larm_says("stats", "--dir", str(tmp_path / "crawl")).out, "and in the monitor"


def test_a_host_that_was_stopped_waiting(tmp_path: Path, web: SyntheticWeb) -> None:
    """What is known so far is said, also where the crawl ends before the next try."""
    site = web.host("a.localhost")
    site.status("/", 503, **{"Retry-After": "600"})
    run = run_crawl(tmp_path, web.url("a.localhost"), {"crawl.max_time": 2})
    [line] = run.ending.failed_starts
    assert re.search(r": 503: the server failed \(.*\), and asks to come back at .*; the next run tries it again$", line)
