"""Addresses that look as though they were one, and others that look as though they were none."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, indexed, lines, once, run_crawl

QUICK = {"frontier.delay": 0}
PAGES = (
    "/fo/index.entry.properties.html",
    "/fo/",
    "/posts/index.xml",
    "/posts/",
    "/posts/one",
    "/web/index.de.html",
    "/web/",
    "/INDEX.HTML",
    "/",
)
"""Those of a folder come before it."""


@pytest.fixture
def starts(web: SyntheticWeb) -> list[str]:
    site = web.host("a.localhost")
    for path in PAGES:
        site.page(path, path, f"The page {path}.")
    site.page("/posts/", "Posts", "The section.", links=["/posts/one", "index.html", "/index.html"])
    site.page("/web/index.de.html", "Netz", "Der Anfang.", links=[path for path in PAGES if path != "/posts/one"])
    return [web.url("a.localhost", "/web/index.de.html")]


def test_only_the_page_of_a_folder_is_the_folder(tmp_path: Path, web: SyntheticWeb, starts: list[str]) -> None:
    run_crawl(tmp_path, starts, QUICK)
    assert asked(web) == once(*(f"a.localhost{path}" for path in PAGES))


@pytest.mark.parametrize("folder_pages", [True, False])
def test_pages_of_a_folder_that_differ_are_fetched_if_asked_for(tmp_path: Path, web: SyntheticWeb, folder_pages: bool) -> None:
    paths = ("/", "/index.html", "/index.php")
    for path in paths:
        web.host("a.localhost").page(path, path, f"The page {path}.", links=paths)
    run_crawl(tmp_path, [web.url("a.localhost", "/")], {**QUICK, "urls.folder_pages": folder_pages})
    assert asked(web) == once(*(f"a.localhost{path}" for path in (paths[:1] if folder_pages else paths)))


def test_of_two_spellings_why_names_the_one_that_was_fetched(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").page("/", links=["/index.html", "/gone/index.html"])
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, QUICK)

    def known_as(path: str) -> tuple[str, str]:
        note = explain_url(config_of(start), tmp_path, web.url("a.localhost", path)).note
        return note.key, note.numbers["address"]

    assert known_as("/index.html") == ("why_fetched", start)
    assert known_as("/gone/") == ("why_not_fetched", f"{start}gone/index.html")
    assert known_as("/")[1] == known_as("/gone/index.html")[1] == ""


def test_an_index_page_that_is_gone_does_not_cost_its_folder(tmp_path: Path, web: SyntheticWeb) -> None:
    """Both are one address, but a server may know the folder only; of other pages that are gone nothing else is asked for."""
    site = web.host("a.localhost")
    site.page("/", links=["/a/index.html", "/a/", "/b/x.html", "/c/index.php?x=1", "/d/index.html?"])
    site.page("/a/", "A", "The page.", links=["/index.htm"])
    site.page("/d/", "D", "Another page.")
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    paths = ("/", "/a/index.html", "/a/", "/b/x.html", "/c/index.php?x=1", "/d/index.html?", "/d/index.html", "/d/")
    assert asked(web) == once(*(f"a.localhost{path}" for path in paths))
    assert {web.url("a.localhost", path) for path in ("/a/", "/d/")} <= set(indexed(tmp_path))
    web.log.clear()
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    gone = ("/b/x.html", "/c/index.php?x=1")
    assert asked(web) == once(*(f"a.localhost{path}" for path in ("/", "/a/", "/d/", *gone)))


def test_a_redirect_to_an_index_page_that_is_gone_does_not_cost_its_folder(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.page("/", links=["/old"])
    site.redirect("/old", "/a/index.html")
    site.page("/a/", "A", "The page.", links=["/", "/old"])
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once(*(f"a.localhost{path}" for path in ("/", "/old", "/a/index.html", "/a/")))
    assert web.url("a.localhost", "/a/") in indexed(tmp_path)


def test_an_index_page_that_goes_and_comes_back(tmp_path: Path, web: SyntheticWeb) -> None:
    """It is asked for by the name of its links each time, and its folder where it is not there."""
    paths = ["/a/index.html", *(f"/{number}" for number in range(20))]
    site = web.host("a.localhost")
    site.page("/", links=paths)
    for path in paths:
        site.page(path, path, f"The page {path}.")
    start = web.url("a.localhost")

    def crawled() -> list[str]:
        run_crawl(tmp_path, start, QUICK)
        return sorted(url.removeprefix(start) for url in indexed(tmp_path) if "/a/" in url)

    assert crawled() == ["a/index.html"]
    site.remove("/a/index.html")
    assert [crawled(), crawled()] == [[], []]
    site.page("/a/index.html", "A", "It is there again.")
    assert crawled() == ["a/index.html"]
    site.remove("/a/index.html")
    site.page("/a/", "A", "The page of the folder.")
    assert crawled() == ["a/"]


def test_a_bare_question_mark_does_not_cost_the_page(tmp_path: Path, web: SyntheticWeb) -> None:
    """A server may know the page without it only."""
    site = web.host("a.localhost")
    site.page("/", links=["/q?", "/q"])
    site.page("/q", "Q", "The page.")
    site.status("/q?", 404)
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", "a.localhost/q?", "a.localhost/q")
    assert web.url("a.localhost", "/q") in indexed(tmp_path)
    site.page("/q?", "Q", "Another page.")
    web.log.clear()
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", "a.localhost/q")


def test_long_titles_in_other_scripts_are_pages(tmp_path: Path, web: SyntheticWeb) -> None:
    title = quote("\u09ac" * 85)  # 255 bytes, the longest title of a wiki
    assert len(title) == 765
    site = web.host("a.localhost")
    site.page("/", links=[f"/wiki/{title}", "/" + "x" * 2100, "http://b.localhost/" + "x" * 2100])
    site.page(f"/wiki/{title}", "A title", "Words.")
    run = run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", f"a.localhost/wiki/{title}")
    assert lines(tmp_path, "URLLengthFilter") == [web.url("a.localhost", "/" + "x" * 2100)]
    assert run.last.filtered["length"] == run.last.filtered["scope"] == 1
    long = lines(tmp_path, "URLLengthFilter")
    said = dict(explain_url(config_of(long), tmp_path, long[0]).rows)["filter length"]
    assert re.fullmatch(r"\d+ characters, filters.length.max is 2048", said)
    (note,) = left_out(tmp_path, config_of(long), run.last)
    enough = note.numbers.pop("enough")
    assert (note.key, note.numbers) == ("too_long", {"links": 1, "most": 2_048, "log": "logs/URLLengthFilter.log"})
    log = tmp_path / "logs" / "URLLengthFilter.log"
    log.rename(log.with_suffix(".moved"))
    assert left_out(tmp_path, config_of(long), run.last)[0].numbers["enough"] == 2_049, "it can still be told"
    log.with_suffix(".moved").rename(log)
    run_crawl(tmp_path, long, {**QUICK, "filters.length.max": enough})
    assert asked(web)["a.localhost/" + "x" * 2100] == 1


@pytest.mark.parametrize(
    ("rules", "links", "page"),
    [
        ("Disallow: /a/$", ["/a/", "/a/index.html"], "/a/index.html"),
        ("Disallow: /a/$", ["/a/index.html", "/a/"], "/a/index.html"),
        ("Disallow: /a/\nAllow: /a/index.php", ["/a/", "/a/index.php"], "/a/index.php"),
        ("Disallow: /a/\nAllow: /a/index.php5", ["/a/", "/a/index.php5"], "/a/index.php5"),
        ("Disallow: /a/index.html", ["/a/index.html", "/a/"], "/a/"),
        ("Disallow: /*?", ["/q?", "/q"], "/q"),
    ],
)
def test_what_robots_txt_forbids_does_not_cost_the_same_page_under_another_name(
    tmp_path: Path, web: SyntheticWeb, rules: str, links: list[str], page: str
) -> None:
    """Both are one address, and the one that is forbidden may be found first."""
    site = web.host("a.localhost")
    site.robots(f"User-agent: *\n{rules}\n")
    site.page("/", links=links)
    site.page(page, "A", "The page.")
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", f"a.localhost{page}")
    assert web.url("a.localhost", page) in indexed(tmp_path)
    web.log.clear()
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", f"a.localhost{page}")


def test_a_start_url_that_is_forbidden_but_for_its_index_page(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.robots("User-agent: *\nDisallow: /$\n")
    site.page("/index.html", "A", "The page.")
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/index.html")


def test_a_forbidden_folder_without_an_index_page_is_asked_for_when_it_is_allowed(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.robots("User-agent: *\nDisallow: /a/$\n")
    site.page("/", links=["/a/"])
    run_crawl(tmp_path, web.url("a.localhost"), QUICK)
    assert asked(web) == once("a.localhost/", "a.localhost/a/index.html")
    site.robots("")
    site.page("/a/", "A", "The page.")
    web.log.clear()
    run_crawl(tmp_path, web.url("a.localhost"), QUICK | {"robots.ttl": "1ms"})
    assert asked(web) == once("a.localhost/", "a.localhost/a/")
    assert web.url("a.localhost", "/a/") in indexed(tmp_path)


@pytest.mark.parametrize(
    ("settings", "links", "pages"),
    [
        ({"crawl.restrict_to": r".*/|.*\.html"}, ["/a/", "/a/index.html", "/b/"], ["/a/", "/b/"]),
        ({"crawl.restrict_to": r".*\.html"}, ["/a/", "/a/index.html", "/b/"], ["/a/index.html"]),
        ({"crawl.include": ["*.html"]}, ["/a/index.html", "/a/", "/b/"], ["/a/index.html"]),
        ({"crawl.include": ["*.html"]}, ["/a/", "/b/", "/a/index.html"], ["/a/index.html"]),
        ({"crawl.exclude": ["/a/"]}, ["/a/", "/b/", "/a/index.html"], ["/b/", "/a/index.html"]),
        ({"crawl.exclude": ["/a/index.html"]}, ["/a/index.html", "/a/", "/b/"], ["/a/", "/b/"]),
    ],
)
def test_a_scope_takes_a_page_under_the_name_that_is_inside(
    tmp_path: Path, web: SyntheticWeb, settings: dict[str, object], links: list[str], pages: list[str]
) -> None:
    site = web.host("a.localhost")
    site.page("/index.html", links=[*links, "/late.html"])
    site.page("/late.html", links=links)
    for path in ("/a/", "/a/index.html", "/b/"):
        site.page(path, path, "The page.")
    run_crawl(tmp_path, web.url("a.localhost", "/index.html"), QUICK | settings)
    assert asked(web) == once(*(f"a.localhost{path}" for path in ("/index.html", "/late.html", *pages)))
