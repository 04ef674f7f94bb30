"""Story 4: robots.txt, as whole crawls see it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import SILENCE, asked, check_stored, lines, once, run_crawl
from tests.stories.processes import larm_says
from tests.support import bad_replies

PATHS = ("/", "/free", "/private/", "/private/x", "/private/open", "/private/open/x", "/a.pdf", "/a.pdf?x", "/end")


def fill(web: SyntheticWeb, name: str = "a.localhost") -> str:
    """A host whose home page links to all of `PATHS`; its start URL."""
    site = web.host(name)
    site.page("/", links=PATHS)
    for path in PATHS[1:]:
        site.page(path, links=["/"])
    return web.url(name)


def keys(*paths: str, name: str = "a.localhost") -> list[str]:
    return [name + path for path in paths]


def test_forbidden_pages_are_not_asked_for(tmp_path: Path, web: SyntheticWeb) -> None:
    """Longest match, Allow, a star and an end, a group of our own before the one for all."""
    start = fill(web)
    web.host("a.localhost").robots(
        "User-agent: *\nDisallow: /\n\n"
        "User-agent: LARM\nDisallow: /private/\nAllow: /private/open\nDisallow: /*.pdf$\nDisallow:\n"
    )
    run = run_crawl(tmp_path, start)
    assert run.reason == "finished"
    allowed = keys("/", "/free", "/private/open", "/private/open/x", "/a.pdf?x", "/end")
    assert asked(web) == once(*allowed)
    assert web.requests[0].path == "/robots.txt"
    check_stored(tmp_path, web)
    assert run.counters["robots/filtered"] == 3
    dropped = {line.rpartition(" ")[2] for line in lines(tmp_path, "RobotExclusionFilter")}
    assert dropped == {web.url("a.localhost", path) for path in ("/private/", "/private/x", "/a.pdf")}


def test_not_obeyed_where_the_user_says_so(tmp_path: Path, web: SyntheticWeb) -> None:
    start = fill(web)
    web.host("a.localhost").robots("User-agent: *\nDisallow: /")
    run = run_crawl(tmp_path, start, {"robots.obey": False})
    assert asked(web, robots=True) == once(*keys(*PATHS))
    assert "robots.txt is not obeyed" in run.notes


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_none_means_that_all_is_allowed(tmp_path: Path, web: SyntheticWeb, status: int) -> None:
    start = fill(web)
    web.host("a.localhost").status("/robots.txt", status)
    assert run_crawl(tmp_path, start).reason == "finished"
    assert asked(web) == once(*keys(*PATHS))


@pytest.mark.parametrize(
    ("reply", "settings"),
    [
        (Reply(500), {}),
        (Reply(503), {}),
        (bad_replies.unavailable(status=429), {}),
        (SILENCE, {"robots.timeout": "100ms"}),
        (bad_replies.reset(), {}),
    ],
    ids=["500", "503", "429", "time-out", "reset"],
)
def test_none_to_be_had_means_that_nothing_is_fetched(
    tmp_path: Path, web: SyntheticWeb, reply: Reply, settings: dict[str, object]
) -> None:
    """Asked for three times, or eight where our pace is refused, then the host is given up: not one of its pages is asked
    for. Other hosts go on."""
    starts = [fill(web), fill(web, "b.localhost")]
    web.host("a.localhost").add("/robots.txt", reply)
    run = run_crawl(tmp_path, starts, settings)
    assert run.reason == "finished"
    assert asked(web, robots=True) == once(*keys("/robots.txt", *PATHS, name="b.localhost")) + Counter(
        {"a.localhost/robots.txt": 8 if reply.status == 429 else 3}
    )
    check_stored(tmp_path, web, pages=keys(*PATHS, name="b.localhost"))
    assert any("host a.localhost" in line and "given up" in line for line in lines(tmp_path, "robots"))

    web.log.clear()
    web.host("a.localhost").robots("User-agent: *\nDisallow: /private/")
    again = run_crawl(tmp_path, starts, settings)
    assert again.reason == "finished"
    missed = keys("/", "/free", "/a.pdf", "/a.pdf?x", "/end")
    assert web.fetched() == once(*missed), "the next run finds it well again"
    check_stored(tmp_path, web, pages=[*missed, *keys(*PATHS, name="b.localhost")])


def test_a_robots_txt_that_comes_late_is_in_time(tmp_path: Path, web: SyntheticWeb) -> None:
    """Two times 503, then the rules: they hold for all pages, none of which was asked for before."""
    start = fill(web)
    site = web.host("a.localhost")
    site.robots("User-agent: *\nDisallow: /private/")
    site.first("/robots.txt", bad_replies.unavailable(), Reply(500))
    run_crawl(tmp_path, start)
    assert asked(web) == once(*keys("/", "/free", "/a.pdf", "/a.pdf?x", "/end"))
    assert [request.path for request in web.requests[:3]] == ["/robots.txt"] * 3


def test_a_robots_txt_that_has_moved_to_another_host_holds_for_the_first(tmp_path: Path, web: SyntheticWeb) -> None:
    start = fill(web)
    web.host("a.localhost").redirect("/robots.txt", "/rules", 302)
    web.host("a.localhost").redirect("/rules", "http://rules.localhost:{port}/robots.txt")
    web.host("rules.localhost").robots("User-agent: *\nDisallow: /private/")
    run_crawl(tmp_path, start)
    found = asked(web, robots=True)
    assert found == once(
        *keys("/robots.txt", "/rules", "/", "/free", "/a.pdf", "/a.pdf?x", "/end"), "rules.localhost/robots.txt"
    )


def test_one_that_moves_for_ever_is_none(tmp_path: Path, web: SyntheticWeb) -> None:
    """RFC 9309 2.3.1.2: after five redirects as if there were none."""
    start = fill(web)
    web.host("a.localhost").redirect("/robots.txt", "/robots.txt")
    run_crawl(tmp_path, start)
    assert asked(web) == once(*keys(*PATHS))
    assert asked(web, robots=True)["a.localhost/robots.txt"] == 6


def test_a_start_url_that_is_forbidden_is_no_start(tmp_path: Path, web: SyntheticWeb) -> None:
    start = fill(web)
    web.host("a.localhost").robots("User-agent: *\nDisallow: /")
    run = run_crawl(tmp_path, start)
    assert (run.ending.reason, run.ending.error, run.ending.start_fetched) == ("finished", None, False)
    assert asked(web) == {}


def test_a_rule_longer_than_half_a_megabyte_is_cut_whole(tmp_path: Path, web: SyntheticWeb) -> None:
    """What is beyond ``robots.size`` does not count, and half a line does not forbid more than the whole one."""
    start = fill(web)
    head = "User-agent: *\nDisallow: /private/\n"
    rest = "Disallow: /free\nDisallow: /end\n"
    filler = "#" * (1000 - len(head) - len("\nDisallow: /f")) + "\n"
    web.host("a.localhost").robots(head + filler + rest)
    run_crawl(tmp_path, start, {"robots.size": 1000})
    assert asked(web) == once(*keys("/", "/free", "/a.pdf", "/a.pdf?x", "/end"))


SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{page}</loc></url><url><loc>{away}</loc></url>
</urlset>"""


def _with_sitemap(web: SyntheticWeb) -> str:
    """A host with a page that only its sitemap knows; its start URL."""
    start = fill(web)
    site = web.host("a.localhost")
    site.page("/hidden", links=["/end"])
    sitemaps = [web.url("a.localhost", "/map.xml"), web.url("b.localhost", "/x")]
    site.robots("\nSitemap: ".join(["User-agent: *\nDisallow: /private/", *sitemaps]))
    text = SITEMAP.format(page=web.url("a.localhost", "/hidden"), away=web.url("b.localhost", "/"))
    site.add("/map.xml", Reply(200, {"Content-Type": "application/xml"}, text.encode()))
    return start


def test_sitemaps_find_pages_that_no_link_leads_to(tmp_path: Path, web: SyntheticWeb) -> None:
    """Only in scope; a second run does not ask for them again; the sitemap is no search result."""
    start = _with_sitemap(web)
    assert run_crawl(tmp_path, start).reason == "finished"
    here = keys("/", "/free", "/a.pdf", "/a.pdf?x", "/end", "/map.xml", "/hidden")
    assert asked(web) == once(*here, "b.localhost/x")


@pytest.mark.parametrize("settings", [{"robots.sitemaps": False}, {"crawl.max_depth": 5}])
def test_sitemaps_are_not_used_where_nobody_wants_them(tmp_path: Path, web: SyntheticWeb, settings: dict[str, object]) -> None:
    """Where the depth is limited, a sitemap would bring every page of the site near."""
    start = _with_sitemap(web)
    run_crawl(tmp_path, start, settings)
    assert asked(web) == once(*keys("/", "/free", "/a.pdf", "/a.pdf?x", "/end"))


@pytest.mark.parametrize("settings", [{"crawl.max_depth": 3}, {"robots.sitemaps": False}])
def test_sitemaps_that_a_run_left_out_are_fetched_by_one_that_takes_them(
    tmp_path: Path, web: SyntheticWeb, settings: dict[str, object]
) -> None:
    """Though robots.txt is kept for a day."""
    start = _with_sitemap(web)
    run = run_crawl(tmp_path, start, settings)
    assert "a.localhost/map.xml" not in asked(web)
    assert run.counters["robotstxt/sitemaps_unwanted"] == 1
    run_crawl(tmp_path, start, {"crawl.scope": "host"})
    assert {"a.localhost/map.xml", "a.localhost/hidden"} <= set(asked(web))
    run_crawl(tmp_path, start, {"crawl.scope": "host"})
    assert asked(web, robots=True)["a.localhost/robots.txt"] == 2


@pytest.mark.parametrize("later", [{"robots.ttl": "1ms"}, {"robots.obey": False}])
def test_what_it_forbids_is_fetched_by_a_run_that_may(tmp_path: Path, web: SyntheticWeb, later: dict[str, object]) -> None:
    """No page has changed, so no link that is new leads there."""
    start = fill(web)
    web.host("a.localhost").robots("User-agent: *\nDisallow: /private/\nAllow: /private/open")
    assert run_crawl(tmp_path, start).counters["robots/filtered"] == 2
    why = explain(tmp_path, web.url("a.localhost", "/private/x"))
    assert "forbidden by line 2" in why
    assert larm_says("links", "--dir", str(tmp_path), "--broken").status == 0
    run = run_crawl(tmp_path, start)
    assert run.counters["robots/filtered"] == 2, "told by each run"
    assert not {"a.localhost/private/x", "a.localhost/private/"} & set(asked(web))
    web.host("a.localhost").robots("User-agent: *\nDisallow: /end" if "robots.ttl" in later else "User-agent: *\nDisallow: /")
    run = run_crawl(tmp_path, start, later)
    assert {"a.localhost/private/x", "a.localhost/private/"} <= set(asked(web))
    assert run.counters.get("robots/filtered", 0) == ("robots.ttl" in later)
    check_stored(tmp_path, web)
    assert larm_says("links", "--dir", str(tmp_path), "--broken").status == 0
    if "robots.ttl" in later:
        assert "in vain: robots.txt forbade it" in explain(tmp_path, web.url("a.localhost", "/end"))
    web.host("a.localhost").robots("User-agent: *\nDisallow: /private/")
    run_crawl(tmp_path, start, {"robots.ttl": "1ms"})
    web.host("a.localhost").robots("")
    run = run_crawl(tmp_path, start, {"robots.ttl": "1ms"})
    assert run.counters["revisit/unchanged"] == len(PATHS)


def test_what_it_forbids_of_a_page_under_another_address_is_told_and_fetched_later(tmp_path: Path, web: SyntheticWeb) -> None:
    """``/dir/`` and ``/dir/index.html`` are one page, so it goes past the filters."""
    site, there = web.host("a.localhost"), web.url("a.localhost", "/dir/index.html")
    site.page("/", links=["/dir/"])
    site.redirect("/dir/", "/dir/index.html")
    site.page("/dir/index.html", "Inside")
    site.robots("User-agent: *\nDisallow: /dir/index.html")
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert run.counters["robots/filtered"] == 1
    assert [line.rpartition(" ")[2] for line in lines(tmp_path, "RobotExclusionFilter")] == [there]
    assert "a.localhost/dir/index.html" not in asked(web)
    site.robots("")
    run_crawl(tmp_path, web.url("a.localhost"), {"robots.ttl": "1ms"})
    assert asked(web)["a.localhost/dir/index.html"] == 1
    check_stored(tmp_path, web)


def explain(directory: Path, url: str) -> str:
    return larm_says("why", "--dir", str(directory), url).out.decode()
