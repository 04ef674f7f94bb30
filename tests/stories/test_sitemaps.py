"""Sitemaps that are out of scope themselves: the crawl fetches them, and judges the URLs in them as it judges links."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import larm.filters.scope
from larm import cli
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.ops.observers import build_crawl
from larm.testing.replies import Reply
from larm.testing.site import Site
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, indexed, once, rows, run_crawl

SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
DOCS = r"http://a\.localhost:\d+/docs/.*"


def urlset(*urls: str) -> str:
    return f'<urlset xmlns="{SPACE}">' + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"


def index(*urls: str) -> str:
    return (
        f'<sitemapindex xmlns="{SPACE}">' + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"
    )


def feed(*urls: str) -> str:
    items = "".join(f"<item><title>News</title><link>{url}</link></item>" for url in urls)
    return f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>"


def put(site: Site, path: str, text: str, mime: str = "application/xml", *, packed: bool = False) -> None:
    body = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
    site.add(path, Reply(200, {"Content-Type": "application/gzip" if packed else mime}, body))


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A folder with a page that only a sitemap names; the site has another page, which is out of scope."""
    site = web.host("a.localhost")
    site.page("/docs/", "Start", "Words.")
    site.page("/docs/hidden", "Hidden", "Words that no link leads to.")
    site.page("/blog/", "Blog", "Words about something else.")
    site.robots(f"Sitemap: {web.url('a.localhost', '/map.xml')}")
    return web.url("a.localhost", "/docs/")


@pytest.fixture
def pages(web: SyntheticWeb) -> list[str]:
    return [web.url("a.localhost", "/docs/hidden"), web.url("a.localhost", "/blog/"), web.url("b.localhost", "/page")]


SCOPES: list[dict[str, object]] = [
    {"crawl.scope": "below"},
    {"crawl.restrict_to": DOCS},
    {"crawl.include": ["/docs/*"]},
    {"crawl.exclude": ["/*.xml", "/*.gz", "/blog/*", "/feed", "/list.txt"]},
]


@pytest.mark.parametrize("scope", SCOPES)
def test_sitemap_out_of_scope_brings_pages_in_scope(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str], scope: dict[str, object]
) -> None:
    """Of each kind one; also in a revisit, where each has one more page."""
    site = web.host("a.localhost")
    kinds = ["/map.xml", "/list.txt", "/feed", "/packed.xml.gz", "/old.xml", "/linked.xml", "/index.xml"]
    site.robots("".join(f"Sitemap: {web.url('a.localhost', path)}\n" for path in kinds if path != "/linked.xml"))
    site.add("/docs/", Reply(200, {"Content-Type": "text/html"}, b"<link rel='sitemap' href='/linked.xml'>Start"))
    site.redirect("/old.xml", "/new.xml")
    put(site, "/index.xml", index(web.url("a.localhost", "/child.xml")))
    found: list[str] = []
    for run in (1, 2):
        for path in ("/map.xml", "/list.txt", "/feed", "/packed.xml.gz", "/new.xml", "/linked.xml", "/child.xml"):
            page = f"/docs{path}-{run}.html"
            site.page(page, page, f"Words of {page}.")
            found.append(page)
            urls = [*pages, *(web.url("a.localhost", page) for page in found if page.startswith(f"/docs{path}-"))]
            if path == "/list.txt":
                put(site, path, "\n".join(urls), "text/plain")
            else:
                put(site, path, (feed if path == "/feed" else urlset)(*urls), packed=path.endswith(".gz"))
        run_crawl(tmp_path, start, scope)
        assert indexed(tmp_path) == once(start, pages[0], *(web.url("a.localhost", page) for page in found))
        assert {f"a.localhost{path}" for path in kinds} <= set(asked(web))
        assert {"a.localhost/blog/", "b.localhost/page"}.isdisjoint(asked(web))


def test_start_sitemap_out_of_scope_brings_pages_in_scope(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str]
) -> None:
    """What has the name of a sitemap and is none is not stored."""
    site = web.host("a.localhost")
    site.robots("User-agent: *")
    site.page("/sitemap", "Sitemap", "Words of an overview.", links=["/blog/"])
    put(site, "/sm.xml", index(web.url("b.localhost", "/child.xml")))
    put(web.host("b.localhost"), "/child.xml", urlset(*pages))
    starts = [web.url("a.localhost", "/sm.xml"), web.url("a.localhost", "/sitemap")]
    scope = ["-s", f"crawl.start=[{starts[0]}]", "-s", f"crawl.restrict_to='{DOCS}'"]
    assert cli.run(["check", "--dir", str(tmp_path / "new"), *scope]) == 0
    run_crawl(tmp_path, starts, {"crawl.restrict_to": DOCS})
    assert set(indexed(tmp_path)) == {pages[0]}
    assert asked(web) == once("a.localhost/sm.xml", "b.localhost/child.xml", "a.localhost/sitemap", "a.localhost/docs/hidden")


def test_sitemap_longer_than_the_limit_of_urls_is_fetched(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str]
) -> None:
    path = "/" + "m" * 300 + ".xml"
    web.host("a.localhost").robots(f"Sitemap: {web.url('a.localhost', path)}")
    put(web.host("a.localhost"), path, urlset(pages[0], f"{pages[0]}/{'x' * 300}"))
    run_crawl(tmp_path, start, {"filters.length.max": 200})
    assert set(indexed(tmp_path)) == {start, pages[0]}
    assert asked(web)[f"a.localhost{path}"] == 1


def test_sitemap_index_on_another_host_obeys_its_robots_txt_and_brings_no_page_of_it(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str]
) -> None:
    """Nor the sitemaps that the other host names itself."""
    other = web.host("b.localhost")
    web.host("a.localhost").robots(f"Sitemap: {web.url('b.localhost', '/index.xml')}")
    own = web.url("b.localhost", "/own.xml")
    other.robots(f"User-agent: *\nDisallow: /private/\nSitemap: {own}")
    children = [web.url("b.localhost", path) for path in ("/1.xml.gz", "/private/2.xml", "/page", "/moved.xml")]
    put(other, "/index.xml", index(*children))
    put(other, "/1.xml.gz", urlset(*pages), packed=True)
    other.page("/page", "Page", "A page in place of a sitemap.", links=["/other", pages[0]])
    other.redirect("/moved.xml", "/page?x")
    other.page("/page?x", "Page", "Another page in place of a sitemap.")
    run_crawl(tmp_path, start)
    there = ("/index.xml", "/1.xml.gz", "/page", "/moved.xml", "/page?x")
    here = [f"a.localhost{path}" for path in ("/docs/", "/docs/hidden", "/blog/")]
    assert asked(web) == once(*here, *(f"b.localhost{path}" for path in there))
    assert indexed(tmp_path) == once(start, *pages[:2])


def test_sitemap_that_was_an_ordinary_link_first_is_fetched(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str]
) -> None:
    """The scope remembers what is outside; that must not hide the sitemap."""
    site = web.host("a.localhost")
    site.robots("")
    site.page("/docs/", "Start", "Words.", links=["/map.xml", "/docs/1"])
    site.page("/docs/1", "One", "Other words.", links=["/map.xml", "/docs/2"])
    site.add("/docs/2", Reply(200, {"Content-Type": "text/html"}, b"<link rel='sitemap' href='/map.xml'>Two"))
    put(site, "/map.xml", urlset(*pages))
    run_crawl(tmp_path, start, {"crawl.scope": "below"})
    assert asked(web)["a.localhost/docs/hidden"] == 1


def test_links_that_are_all_outside_are_told_where_a_sitemap_was_fetched(
    tmp_path: Path, web: SyntheticWeb, start: str, pages: list[str]
) -> None:
    put(web.host("a.localhost"), "/map.xml", urlset(*pages))
    settings = {"crawl.restrict_to": r"http://a\.localhost:\d+/docs/"}
    run = run_crawl(tmp_path, start, settings)
    assert asked(web) == once("a.localhost/docs/", "a.localhost/map.xml")
    (note,) = left_out(tmp_path, config_of(start, settings), run.last)
    assert (note.key, note.numbers["count"]) == ("all_outside_pattern", 3)
    assert note.numbers["pages"] == "the start pages and sitemaps"


@pytest.mark.parametrize("scope", SCOPES[:2])
def test_sitemap_on_another_host_that_a_page_names_is_an_ordinary_link(
    tmp_path: Path, web: SyntheticWeb, start: str, scope: dict[str, object]
) -> None:
    """In its text or its header, by a redirect, or in an index on its own host."""
    site = web.host("a.localhost")
    site.robots("")
    there = [web.url("b.localhost", f"/{n}.xml") for n in range(5)]
    links = f"<link rel=sitemap href='{there[0]}'><link rel=sitemap href=/moved.xml><link rel=sitemap href=/index.xml>"
    header = f'<{there[1]}>; rel="sitemap"'
    site.add("/docs/", Reply(200, {"Content-Type": "text/html", "Link": header}, f"{links}Start".encode()))
    site.redirect("/moved.xml", there[2])
    put(site, "/index.xml", index(there[3], web.url("a.localhost", "/moved-child.xml"), web.url("a.localhost", "/map.xml")))
    site.redirect("/moved-child.xml", there[4])
    put(site, "/map.xml", urlset(web.url("a.localhost", "/docs/hidden")))
    run = run_crawl(tmp_path, start, scope)
    here = ("/docs/", "/docs/hidden", "/moved.xml", "/index.xml", "/moved-child.xml", "/map.xml")
    assert asked(web, robots=True) == once(*(f"a.localhost{path}" for path in ("/robots.txt", *here)))
    assert run.last.filtered["scope"] == len(there)
    run_crawl(tmp_path, start, scope)
    assert not any(key.startswith("b.") for key in asked(web, robots=True))
    assert {int(row.link_type) for row in rows(tmp_path)} == {0, 3}


def test_index_that_robots_txt_names_lists_sitemaps_of_other_hosts(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    """Also by redirects, and in a revisit."""
    site, other = web.host("a.localhost"), web.host("b.localhost")
    site.robots("Sitemap: /old.xml")
    site.redirect("/old.xml", web.url("b.localhost", "/index.xml"))
    put(other, "/index.xml", index(web.url("c.localhost", "/moved.xml")))
    web.host("c.localhost").redirect("/moved.xml", web.url("d.localhost", "/map.xml"))
    for page in ("/docs/hidden", "/docs/1"):
        site.page(page, page, f"Words of {page}.")
        put(web.host("d.localhost"), "/map.xml", urlset(web.url("a.localhost", page)))
        run_crawl(tmp_path, start, {"crawl.scope": "below"})
        assert indexed(tmp_path)[web.url("a.localhost", page)] == 1


@pytest.mark.parametrize("by_robots", [False, True])
def test_index_that_an_index_lists_names_no_sitemaps(tmp_path: Path, web: SyntheticWeb, start: str, by_robots: bool) -> None:
    """Whatever redirects lead there: else a site without end could name one more host with each."""
    site = web.host("a.localhost")
    site.robots("Sitemap: /index-1.xml" if by_robots else "")
    if not by_robots:
        site.add("/docs/", Reply(200, {"Content-Type": "text/html"}, b"<link rel=sitemap href=/index-1.xml>Start"))
    for n in range(1, 9):
        put(site, f"/index-{n}.xml", index(web.url("a.localhost", f"/moved-{n + 1}"), web.url(f"c{n}.localhost", "/x.xml")))
        site.redirect(f"/moved-{n}", f"/index-{n}.xml")
    run_crawl(tmp_path, start, {"crawl.scope": "below"})
    found = {"/docs/", "/index-1.xml", "/moved-2", "/index-2.xml"}
    assert set(asked(web)) - {"c1.localhost/x.xml"} == {f"a.localhost{path}" for path in found}


@pytest.mark.parametrize("scope", SCOPES[:2])
def test_sitemaps_of_other_hosts_are_bounded_for_each_host(
    tmp_path: Path, web: SyntheticWeb, start: str, scope: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(larm.filters.scope, "_ELSEWHERE", 3)
    maps = [web.url(f"c{n}.localhost", "/map.xml") for n in range(5)]
    web.host("a.localhost").robots("".join(f"Sitemap: {url}\n" for url in [maps[0], *maps]))
    for n in range(5):
        put(web.host(f"c{n}.localhost"), "/map.xml", urlset(web.url("a.localhost", f"/docs/{n}")))
    crawl = build_crawl(config_of(start, scope), tmp_path)
    crawl.run()
    said = left_out(tmp_path, config_of(start, scope), crawl.snapshot(), (), crawl.filters)
    numbers = {"sitemaps": 2, "example": f"{maps[3]}, which files of a.localhost:{web.port} name", "most": 3}
    assert ("sitemaps_beyond", numbers) in [(each.key, each.numbers) for each in said]
    for _ in range(2):  # within robots.ttl nothing else tells of them
        again = build_crawl(config_of(start, scope), tmp_path)
        again.run()
        (told,) = left_out(tmp_path, config_of(start, scope), again.snapshot(), (), again.filters)
        assert (told.key, told.numbers) == ("sitemaps_beyond", {"sitemaps": 2, "example": "", "most": 3})
    assert {key for key in asked(web) if "map.xml" in key} == {f"c{n}.localhost/map.xml" for n in range(3)}


def test_why_says_that_a_sitemap_is_none_for_searches_without_noindex(tmp_path: Path, web: SyntheticWeb, start: str) -> None:
    put(web.host("a.localhost"), "/map.xml", urlset(web.url("a.localhost", "/docs/hidden")))
    run_crawl(tmp_path, start, {"crawl.scope": "below"})
    said = explain_url(config_of(start), tmp_path, web.url("a.localhost", "/map.xml")).note
    assert (said.key, said.numbers["searchable"]) == ("why_fetched", "no, it is a sitemap")
