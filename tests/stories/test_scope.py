"""Story 7: what belongs to a crawl, and which addresses may be reached."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, check_stored, lines, once, run_crawl, stored


def three_hosts(web: SyntheticWeb) -> None:
    """Each links to all."""
    names = [f"{letter}.localhost" for letter in "abc"]
    for name in names:
        web.host(name).page("/", links=["/x", *map(web.url, names), *(web.url(each, "/y") for each in names)])
        web.host(name).page("/x")
        web.host(name).page("/y")


def keys(*names: str) -> list[str]:
    return [f"{name}.localhost{path}" for name in names for path in ("/", "/x", "/y")]


def test_by_default_the_hosts_of_the_start_urls(tmp_path: Path, web: SyntheticWeb) -> None:
    three_hosts(web)
    run = run_crawl(tmp_path, [web.url("a.localhost"), web.url("c.localhost", "/x")])
    assert web.fetched() == once(*keys("a", "c"))
    assert any(note.startswith(f"scope: the hosts of the start URLs (a.localhost:{web.port}, c.loc") for note in run.notes)
    outside = [web.url("b.localhost"), web.url("b.localhost", "/y")]
    assert sorted(lines(tmp_path, "URLScopeFilter")) == sorted(2 * outside), "of each of the two pages that lead there"
    assert run.counters["scope/filtered"] == 4
    check_stored(tmp_path, web)


def test_a_scope_matches_the_whole_address_whatever_its_case(tmp_path: Path, web: SyntheticWeb) -> None:
    three_hosts(web)
    run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": r"HTTP://[AB]\.localhost:\d+/[^y]?"})
    assert web.fetched() == once("a.localhost/", "a.localhost/x", "b.localhost/", "b.localhost/x")


def test_no_scope(tmp_path: Path, web: SyntheticWeb) -> None:
    three_hosts(web)
    run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": ".*"})
    assert web.fetched() == once(*keys("a", "b", "c"))


def test_a_start_url_that_redirects_to_another_host_takes_it_into_the_scope(tmp_path: Path, web: SyntheticWeb) -> None:
    """Two times over, and with robots.txt of each host; a redirect of any other page does not. A resumed crawl remembers."""
    three_hosts(web)
    web.host("start.localhost").redirect("/", "http://www.start.localhost:{port}/home")
    web.host("www.start.localhost").redirect("/home", "http://a.localhost:{port}/")
    web.host("a.localhost").redirect("/x", "http://elsewhere.localhost:{port}/")
    web.host("elsewhere.localhost").page("/")
    run = run_crawl(tmp_path, web.url("start.localhost"), {"crawl.max_pages": 1})
    assert (run.reason, run.ending.start_fetched) == ("closespider_pagecount", True)
    assert run_crawl(tmp_path, web.url("start.localhost")).reason == "finished"
    assert web.fetched() == once("a.localhost/", "a.localhost/y")
    assert {request.host for request in web.requests if request.path == "/robots.txt"} == {
        "start.localhost",
        "www.start.localhost",
        "a.localhost",
    }
    check_stored(tmp_path, web)


def test_names_of_one_host_share_its_record(tmp_path: Path, web: SyntheticWeb) -> None:
    """``www.`` goes by no prefix: a page is fetched under the name by which it was found first, and under that alone."""
    for name in ("a.localhost", "www.a.localhost"):
        site = web.host(name)
        site.page("/", links=["/x", "http://www.a.localhost:{port}/x", "http://a.localhost:{port}/y"])
        site.page("/x", links=["http://www.a.localhost:{port}/", "http://www.a.localhost:{port}/secret/1"])
        site.page("/y")
        site.page("/secret/1")
        site.delay = 0.02
        site.robots("User-agent: *\nDisallow: /secret/")
    (tmp_path / "hosts.properties").write_text("# names\nstartsWith(www,)=\n")
    run = run_crawl(tmp_path, web.url("www.a.localhost"), {"urls.host_resolver": "hosts.properties", "frontier.delay": 0.03})
    assert run.reason == "finished"
    assert web.fetched() == once("www.a.localhost/", "www.a.localhost/x", "a.localhost/y")
    assert run.last.hosts_known == 1
    assert asked(web, robots=True).total() == 4, "one robots.txt for both"
    started = [(request.started, request.ended) for request in web.requests]
    assert all(later[0] >= earlier[1] + 0.03 for earlier, later in itertools.pairwise(started))
    assert stored(tmp_path).keys() == {
        web.url("www.a.localhost"),
        web.url("www.a.localhost", "/x"),
        web.url("a.localhost", "/y"),
    }


def test_private_addresses_where_a_start_host_is_at_one(tmp_path: Path, web: SyntheticWeb) -> None:
    """All names below localhost are loopback addresses: start there, and others of the kind may be fetched, too."""
    three_hosts(web)
    run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": ".*"})
    assert set(web.fetched()) == set(keys("a", "b", "c"))


@pytest.mark.parametrize("allowed", [False, True])
def test_private_addresses_where_no_start_host_is_at_one(tmp_path: Path, web: SyntheticWeb, allowed: bool) -> None:
    """What a page of the web says about a host of the intranet is not followed, unless the user allows it.

    Names of the web can't be had in a test; one without an address is no private one either. The links to loopback addresses
    are those of an earlier run.
    """
    three_hosts(web)
    settings = {"crawl.restrict_to": ".*"}
    run_crawl(tmp_path, web.url("a.localhost"), settings | {"crawl.max_pages": 1})
    web.log.clear()
    run = run_crawl(tmp_path, "http://no-such-host.invalid/", settings | {"crawl.allow_private": allowed})
    assert run.reason == "finished"
    if allowed:
        assert web.fetched() == once("a.localhost/x", "a.localhost/y", *keys("b", "c"))
    else:
        assert web.requests == []
        assert run.counters["downloader/exception_type_count/private"] == 2
        assert run.counters["robotstxt/exception_count/private"] == 2
        assert sum("a private address" in line for line in lines(tmp_path, "robots")) == 2
