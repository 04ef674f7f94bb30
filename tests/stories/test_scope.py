"""Story 7: what belongs to a crawl, and which addresses may be reached."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, check_stored, lines, once, run_crawl, stored
from tests.stories.processes import crawl_arguments, larm_says


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


def test_a_private_address_where_a_start_host_is(tmp_path: Path, web: SyntheticWeb) -> None:
    """All names below localhost are at the same loopback address: start there, and the others may be fetched, too."""
    three_hosts(web)
    run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": ".*"})
    assert set(web.fetched()) == set(keys("a", "b", "c"))


ALLOWING: list[dict[str, object]] = [{}, {"crawl.private_networks": "all"}, {"crawl.private_networks": ["127.0.0.2"]}]


@pytest.mark.parametrize("allowing", ALLOWING)
def test_private_addresses_where_no_start_host_is(tmp_path: Path, web: SyntheticWeb, allowing: dict[str, object]) -> None:
    """What a page says about a machine of the intranet is not followed, unless the user allows it: no page, no robots.txt, no
    redirect, no sitemap.

    Nothing listens at 127.0.0.2, so who may go there finds that.
    """
    site = web.host("a.localhost")
    inside = f"http://127.0.0.2:{web.port}"
    site.robots(f"User-agent: *\nAllow: /\nSitemap: {inside}/sitemap.xml")
    site.page("/", links=["/moved", f"{inside}/link"])
    site.redirect("/moved", f"{inside}/target")
    run = run_crawl(tmp_path, web.url("a.localhost"), {"crawl.restrict_to": ".*", "frontier.retries": 0} | allowing)
    assert run.reason == "finished"
    told = [
        line
        for line in lines(tmp_path, "robots")
        if "127.0.0.2 is at 127.0.0.2, a private address where no start host is" in line
    ]
    assert (run.counters.get("robotstxt/exception_count/private", 0), len(told)) == ((0, 0) if allowing else (1, 1))
    assert run.counters.get("robotstxt/exception_count/connect", 0) == (1 if allowing else 0)


def test_a_start_host_of_an_earlier_run_is_still_one(tmp_path: Path, web: SyntheticWeb) -> None:
    """What waits there goes on, also where the next run was given another start URL."""
    three_hosts(web)
    settings: dict[str, object] = {"crawl.restrict_to": ".*"}
    run_crawl(tmp_path, web.url("a.localhost"), settings | {"crawl.max_pages": 1})
    run = run_crawl(tmp_path, "http://no-such-host.invalid/", settings)
    assert run.reason == "finished"
    assert web.fetched() == once(*keys("a", "b", "c"))


def test_hosts_at_private_addresses_are_told_at_the_end(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").page("/", links=[f"http://127.0.0.{number}:{web.port}/" for number in (2, 3)])
    said = larm_says(*crawl_arguments(tmp_path, [web.url("a.localhost")], {"crawl.restrict_to": "'.*'"}))
    assert "larm: 2 hosts at private addresses not asked for anything; the logs of robots.txt and of errors in " in said.err
    assert "crawl.private_networks allows them\n" in said.err


@pytest.mark.parametrize("setting", ["crawl.scope", "crawl.include"])
def test_links_to_another_folder_of_the_host_lead_to_no_other_host(tmp_path: Path, web: SyntheticWeb, setting: str) -> None:
    start = web.url("a.localhost", path="/docs/")
    web.host("a.localhost").page("/docs/", links=["/blog"])
    value = "below" if setting == "crawl.scope" else "['*/docs/']"
    heard = larm_says(*crawl_arguments(tmp_path, [start], {setting: value}))
    assert "larm: the only link of the start pages leads out of the scope; 'larm why " in heard.err


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{}docs/", "it must match a URL as a whole: '{}docs/.*' would have 2 of them"),
        ("{}docs/index", "it must match a URL as a whole"),
        ("", "all 3 links of the start pages lead to other hosts; -restrictto REGEX sets a scope that has them"),
        ("{}docs/.*", ""),
        (".*", ""),
    ],
)
def test_a_scope_that_lets_nothing_in_but_the_start_page(tmp_path: Path, web: SyntheticWeb, pattern: str, said: str) -> None:
    root = web.url("a.localhost")
    other = [web.url("b.localhost", path) for path in ("/1", "/2", "/3")]
    web.host("a.localhost").page("/docs/", links=["/docs/one", "/docs/two", "/blog"] if pattern else other)
    web.host("a.localhost").page("/docs/index", links=["/docs/one"])
    for path in ("/docs/one", "/docs/two"):
        web.host("a.localhost").page(path)
    start = f"{root}docs/index" if pattern.endswith("index") else f"{root}docs/"
    settings = {"crawl.restrict_to": f"'{pattern.format(root)}'"} if pattern else {}
    heard = larm_says(*crawl_arguments(tmp_path, [start], settings))
    assert heard.status == 0
    if said:
        assert said.format(root) in heard.err
    else:
        assert "of the start pages" not in heard.err


def test_crawl_ends_with_a_sentence_when_an_expression_takes_too_long_on_a_link(tmp_path: Path, web: SyntheticWeb) -> None:
    start = web.url("a.localhost")
    hostile = start + "x" * 60 + "y0"
    web.host("a.localhost").page("/", links=["/xy", hostile])
    web.host("a.localhost").page("/xy")
    expression = start + "((x|xx)+y)?"
    settings = {"crawl.restrict_to": f"'{expression}'"}
    heard = larm_says(*crawl_arguments(tmp_path, [start], settings))
    assert heard.status == 0
    assert f"larm: 1 URL dropped, such as {hostile}: matching with -restrictto {expression} takes too long; " in heard.err
    assert web.fetched() == once("a.localhost/", "a.localhost/xy")
    why = larm_says("why", "--dir", str(tmp_path), "-s", f"crawl.restrict_to={settings['crawl.restrict_to']}", hostile)
    assert why.out.startswith(f"Not fetched: out of scope: matching takes too long: {hostile} with ".encode())
    tried = larm_says("check", "--dir", str(tmp_path), "-s", f"crawl.restrict_to={settings['crawl.restrict_to']}")
    assert (tried.status, "takes too long; write it without repetitions" in tried.err) == (2, True)
