"""Story: a site is fetched, and there is nothing to search. The user is told, and why."""

from __future__ import annotations

from pathlib import Path

from larm.index.search.searcher import IndexSearcher
from larm.testing.replies import Reply, moved
from larm.testing.web import SyntheticWeb
from tests.parse.hollow_kinds import CARRIED
from tests.parse.test_hollow import LOGIN, REACT, STORY
from tests.stories.crawls import indexed, lines, run_crawl
from tests.stories.processes import crawl_arguments, larm_says


def page(html: str) -> Reply:
    return Reply(200, {"Content-Type": "text/html"}, html.encode())


def test_a_site_that_scripts_build(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").add("/", page(REACT))
    arguments = crawl_arguments(tmp_path, [web.url("a.localhost")])
    said = larm_says(*arguments, "-v")
    assert said.status == 0
    assert "larm: the only page has nothing to search: 1 is built by scripts, and larm runs none\n" in said.err
    assert "  hollow/scripts: 1\n" in said.err
    logged = [line for log in (tmp_path / "logs").glob("thread*.log") for line in lines(tmp_path, log.stem)]
    assert any(line.endswith(f" text/html (built by scripts, which are not run): {web.url('a.localhost')}") for line in logged)
    why = larm_says("why", "--dir", str(tmp_path), web.url("a.localhost"))
    assert b"built by scripts, which are not run" in why.out
    assert larm_says(*arguments, "--fresh", "-q").err == ""


def test_all_kinds_are_counted(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    pages = {"scripts": REACT, "login": LOGIN, "noindex": f"<meta name=robots content=noindex>{STORY}", "empty": ""}
    files = {"unread": "application/msword", "document": "application/pdf"}
    site.add("/", page(STORY + "".join(f"<a href=/{name}>here</a>" for name in (*pages, *files, "noindex2"))))
    for name, mime in files.items():
        site.add(f"/{name}", Reply(200, {"Content-Type": mime}, b"\x00 damaged"))
    for name, html in pages.items():
        site.add(f"/{name}", page(html))
    site.add("/noindex2", Reply(200, {"Content-Type": "text/html", "X-Robots-Tag": "noindex"}, STORY.encode()))
    counters = run_crawl(tmp_path, web.url("a.localhost")).counters
    assert {name: count for name, count in counters.items() if name.startswith("hollow/")} == {
        "hollow/scripts": 1,
        "hollow/login": 1,
        "hollow/noindex": 2,
        "hollow/empty": 1,
        "hollow/unread": 1,
        "hollow/document": 1,
    }


def test_shells_with_a_menu_are_told_with_those_before_them(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    menu = "".join(f"<a href=/{n}>Part {n}</a> " for n in range(5))
    for n in range(5):
        shell = (
            f"<title>Part {n}</title><div class=top>{menu} of what we sell, {'and much more ' * 30}</div><div id=view></div>"
        )
        site.add(f"/{n}", page(f"{shell}<script src=/app.js></script>"))
    site.add("/", moved("/0"))
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert run.counters["hollow/scripts"] == 5


def test_text_that_scripts_carry_is_found_and_its_links_are_followed(tmp_path: Path, web: SyntheticWeb) -> None:
    site = web.host("a.localhost")
    site.add("/", page(CARRIED["next with a menu"]))
    site.page("/mole", "Mole")
    run = run_crawl(tmp_path, web.url("a.localhost"))
    assert (run.counters["processing/text_in_scripts"], "hollow/scripts" in run.counters) == (1, False)
    hits = IndexSearcher(tmp_path).search("lighthouse steamers").hits
    assert [hit.url for hit in hits] == [web.url("a.localhost")]
    assert web.url("a.localhost", "/mole") in indexed(tmp_path)


def test_where_no_text_is_read_nothing_is_said_of_it(tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").add("/", page(STORY))
    run = run_crawl(tmp_path, web.url("a.localhost"), {"storage.chain": ["log"]})
    assert not any(name.startswith("hollow/") for name in run.counters)
