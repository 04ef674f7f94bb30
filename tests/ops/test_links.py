"""``larm links``: broken, redirected and external links of a crawl."""

from __future__ import annotations

import csv
import io
import json
import socket
from pathlib import Path

import pytest

from larm import cli
from larm.ops.link_check import Checked, Kind, LinkCheck, Referrer
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, run_crawl


@pytest.fixture
def start(web: SyntheticWeb, tmp_path: Path) -> str:
    site = web.host("a.localhost")
    site.page(
        "/",
        links=[
            ("/gone", "lost"),
            "/old",
            "/fine",
            "/private",
            ("http://b.localhost:{port}/", "out"),
            "http://[",
            "mailto:x@example.org",
            ("/away", "by a redirect"),
            "/circle",
            "/there",
            ("/fine#part", "to a part"),
            ("/fine#nowhere", "to no part"),
            ("/old#nowhere", "to no part of where it redirects"),
            "#top",
            "/data#page=2",
        ],
    )
    site.page("/fine", links=[("/gone", "also lost"), "#part", "#p%20q"], body='<p id="part">x<a name="p q"></a>')
    site.redirect("/old", "/fine", 301)
    site.redirect("/away", "/gone", 302)
    site.redirect("/circle", "/circle", 302)
    site.redirect("/there", "/back", 302)
    site.redirect("/back", "/there", 302)
    site.robots("User-agent: *\nDisallow: /private\n")
    site.status("/data", 500)
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"frontier.retries": 0})
    return start


def check(start: str, directory: Path, *kinds: Kind, places: bool = True) -> Checked:
    return LinkCheck(config_of(start), directory, frozenset(kinds or Kind), places=places).run()


def test_broken_links_with_all_pages_that_have_them(start: str, tmp_path: Path) -> None:
    found = {each.url.removeprefix(start): each for each in check(start, tmp_path, Kind.BROKEN).findings}
    assert set(found) == {"gone", "away", "circle", "there", "data", "http://[", "fine#nowhere", "old#nowhere"}
    assert (found["gone"].status, found["gone"].why) == (404, "404: no such page")
    assert [(link.page, link.text) for link in found["gone"].links] == [(start, "lost"), (f"{start}fine", "also lost")]
    assert found["away"].why == f"redirects to {start}gone: 404: no such page"
    assert found["circle"].why == "redirects, to itself"
    assert found["there"].why == f"redirects, in a circle by {start}back"
    assert found["data"].status == 500
    assert found["http://["].why.startswith("malformed: ")
    assert found["fine#nowhere"].why == "no such place in the page"


def test_redirects_and_what_is_outside(start: str, tmp_path: Path) -> None:
    moved = check(start, tmp_path, Kind.REDIRECTED).findings
    assert [(each.url, each.status, each.why) for each in moved] == [(f"{start}old", 301, f"{start}fine")]
    outside = check(start, tmp_path, Kind.EXTERNAL)
    assert [each.url.split(":")[1] for each in outside.findings] == ["//b.localhost"]
    assert outside.unchecked == 1, "what robots.txt forbids"


def test_a_link_that_was_mended_is_no_longer_told(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    """Also where one page is all there is: of each page its last version counts."""
    web.host("a.localhost").change("/", links=["/fine"])
    web.host("a.localhost").change("/fine", links=["/"])
    run_crawl(tmp_path, start, {"frontier.retries": 0})
    assert check(start, tmp_path).findings == []


def test_what_style_sheets_need_is_checked_where_it_was_fetched(web: SyntheticWeb, tmp_path: Path) -> None:
    site = web.host("a.localhost")
    site.page("/", head='<link rel="stylesheet" href="/style.css">')
    site.add("/style.css", Reply(200, {"Content-Type": "text/css"}, b"li { background: url(gone.png) }"))
    start = web.url("a.localhost")
    run_crawl(tmp_path, start, {"processing.follow_embedded": True})
    (found,) = check(start, tmp_path, Kind.BROKEN).findings
    assert (found.url, found.links[0].page) == (f"{start}gone.png", f"{start}style.css")


def test_the_command_for_ci(start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def larm(*arguments: str) -> tuple[int, str, str]:
        status = cli.run(["links", *arguments, "--dir", str(tmp_path)])
        return status, *capsys.readouterr()

    status, out, err = larm("--broken")
    assert status == 1
    assert f"broken {start}gone\n    404: no such page\n    on {start}  'lost'\n    on {start}fine  'also lost'\n" in out
    assert "1 was not followed and is not checked" in err
    status, out, _ = larm("--broken", "--no-fragments", "--format", "jsonl")
    assert {json.loads(line)["kind"] for line in out.splitlines()} == {"broken"}
    assert "nowhere" not in out
    status, out, _ = larm("--redirected", "--format", "csv")
    assert status == 1
    assert [row["text"] for row in csv.DictReader(io.StringIO(out))] == ["/old", "to no part of where it redirects"]


def test_nothing_broken_is_success(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web.host("a.localhost").page("/", links=["http://b.localhost:{port}/"])
    run_crawl(tmp_path, web.url("a.localhost"))
    assert cli.run(["links", "--dir", str(tmp_path)]) == 0
    assert cli.run(["links", "--dir", str(tmp_path), "--broken", "--redirected"]) == 0
    assert "links looked at: none is broken or redirected" in capsys.readouterr().err
    assert cli.run(["links", "--dir", str(tmp_path), "--external"]) == 1
    assert cli.run(["links", "--dir", str(tmp_path / "logs")]) == 2
    assert "no crawl in" in capsys.readouterr().err


def test_a_start_url_that_is_not_there_is_broken(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/")
    start = web.url("a.localhost")
    run_crawl(tmp_path, [start, f"{start}mistyped"], {"frontier.retries": 0})
    [found] = check(start, tmp_path, Kind.BROKEN).findings
    assert (found.url, found.links) == (f"{start}mistyped", [Referrer("<start>", "")])


def test_a_start_that_could_not_be_fetched_is_broken(tmp_path: Path) -> None:
    """It waits for another try, so that the page book has nothing of it."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        start = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        run_crawl(tmp_path, start)
        found = check(start, tmp_path, Kind.BROKEN)
        assert [(each.url, each.status) for each in found.findings] == [(start, 0)]
        assert "Connection refused" in found.findings[0].why
        assert found.unchecked == 0
        assert cli.run(["links", "--broken", "--dir", str(tmp_path)]) == 1


def test_links_to_a_host_that_does_not_answer_are_broken(web: SyntheticWeb, tmp_path: Path) -> None:
    """Its URLs wait for another try, so that the page book has nothing of them."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        dead = f"http://old.a.localhost:{nobody.getsockname()[1]}"
        web.host("a.localhost").page("/", links=[(f"{dead}/x", "one"), (f"{dead}/y", "two"), "/fine", "/private"])
        web.host("a.localhost").page("/fine", links=[f"{dead}/x"])
        web.host("a.localhost").robots("User-agent: *\nDisallow: /private\n")
        start = web.url("a.localhost")
        settings = {"crawl.scope": "domain"}
        run_crawl(tmp_path, start, settings)
        checked = LinkCheck(config_of(start, settings), tmp_path, frozenset(Kind), places=False).run()
    assert {each.url: len(each.links) for each in checked.findings} == {f"{dead}/x": 2, f"{dead}/y": 1}
    assert all("its host was given up" in each.why and "Connection refused" in each.why for each in checked.findings)
    assert checked.unchecked == 1, "what robots.txt forbids"
