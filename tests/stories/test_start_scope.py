"""Scopes that people can type: below a folder, a whole domain, patterns; for each start URL its own."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from larm import cli
from larm.building.start_urls import read_starts
from larm.config import Seed
from larm.errors import ConfigError
from larm.model.url import URLNormalizer
from larm.ops.afterwards import explain_url
from larm.ops.left_out import left_out
from larm.testing.replies import html
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import asked, config_of, once, run_crawl
from tests.stories.processes import Process, crawl_arguments


@pytest.fixture
def start(web: SyntheticWeb) -> str:
    """A folder with two pages, one above it, and another host of the domain."""
    site = web.host("www.example.localhost")
    site.page("/", links=["/docs/"])
    site.page("/docs/", links=["/docs/a", "/docs/b.pdf", "/docs/old/c", "/", "http://blog.example.localhost:{port}/", "/away"])
    for path in ("/docs/a", "/docs/old/c"):
        site.page(path, links=["/docs/"])
    site.page("/docs/b.pdf")
    site.redirect("/docs", "/docs/")
    web.host("blog.example.localhost").page("/", links=["http://www.example.localhost:{port}/docs/a"])
    return web.url("www.example.localhost", "/docs/")


def fetched(web: SyntheticWeb) -> set[str]:
    return {key.partition("/")[2] for key in asked(web) if key.startswith("www.")}


@pytest.mark.parametrize("slash", ["/", ""])
def test_below(start: str, web: SyntheticWeb, tmp_path: Path, slash: str) -> None:
    """Also where the folder is named without its slash, and the server redirects."""
    run_crawl(tmp_path, start.removesuffix("/") + slash, {"crawl.scope": "below"})
    assert fetched(web) - {"docs"} == {"docs/", "docs/a", "docs/b.pdf", "docs/old/c"}


def test_domain_and_exclude(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    run_crawl(tmp_path, start, {"crawl.scope": "domain", "crawl.exclude": ["*.pdf", "/docs/old/*", "/away"]})
    assert fetched(web) == {"docs/", "docs/a", ""}
    assert asked(web)["blog.example.localhost/"] == 1


def test_what_is_excluded_is_counted_and_can_be_taken_back(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    """The same command without it keeps the exclusion, and says how to be rid of it."""
    site = web.host("a.localhost")
    site.page("/", links=["/print/1", "/print/2", "http://b.localhost:{port}/print/3"])
    site.page("/print/1", links=["/print/2"])
    site.page("/print/2")
    home, undo = web.url("a.localhost"), "-s crawl.scope=host takes the whole hosts again"
    first = {"crawl.exclude": ["/print/*"]}
    for settings in (first, {}):
        run = run_crawl(tmp_path, home, settings)
        (scope,) = (note for note in run.notes if note.startswith("scope: "))
        assert (undo in scope) == (not settings)
        notes = {each.key: each.numbers for each in left_out(tmp_path, config_of(home, settings), run.last)}
        assert notes["excluded"] == {"urls": 2}
        why = explain_url(config_of(home, settings), tmp_path, f"{home}print/1").note
        assert why.key == "why_scope"
        assert "excluded by /print/*; -s crawl.scope=host takes whole hosts, with nothing excluded" in why.numbers["reason"]
    assert "a.localhost/print/1" not in asked(web)
    whole = {"crawl.scope": "host"}
    run = run_crawl(tmp_path, home, whole)
    assert asked(web)["a.localhost/print/1"] == asked(web)["a.localhost/print/2"] == 1
    assert not any(each.key == "excluded" for each in left_out(tmp_path, config_of(home, whole), run.last))


def test_include(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    """The start URL itself is asked for, whatever the patterns say."""
    run_crawl(tmp_path, start, {"crawl.include": ["/docs/?"]})
    assert fetched(web) == {"docs/", "docs/a"}


def test_what_was_said_once_holds_on(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    run_crawl(tmp_path, start, {"crawl.scope": "below"})
    web.log.clear()
    again = run_crawl(tmp_path, start)
    assert any(note.startswith("scope: below www.example.localhost:") for note in again.notes)
    assert "" not in fetched(web)
    run_crawl(tmp_path, start, {"crawl.scope": "host"})
    assert again.reason == "finished"


def test_each_start_url_may_have_its_own(start: str, web: SyntheticWeb, tmp_path: Path) -> None:
    other = web.url("blog.example.localhost")
    seeds = [{"url": start, "scope": "below", "exclude": ["*.pdf"]}]
    run = run_crawl(tmp_path, [start, other], {"crawl.seeds": seeds})
    (said,) = [note for note in run.notes if note.startswith("scope: below ")]
    assert "; on blog.example.localhost:" in said, "all of it is told"
    assert fetched(web) == {"docs/", "docs/a", "docs/old/c"}
    assert asked(web)["blog.example.localhost/"] == 1


def test_a_line_of_a_file_may_say_more(tmp_path: Path) -> None:
    lines = ["http://a.org/ below exclude=*.pdf include=/x/*", "http://b.org/", "http://c.org/ below domain", "./with space"]
    (tmp_path / "starts").write_text("\n".join(lines))
    (tmp_path / "with space").touch()
    found = read_starts(["@starts"], URLNormalizer(files=True).parse, tmp_path)
    assert found.seeds == [Seed("http://a.org/", "below", ("/x/*",), ("*.pdf",))]
    assert [each.partition(":")[0] for each in found.urls] == ["http", "http", "file"]
    assert "below and domain exclude each other" in found.mistakes[0]


@pytest.mark.parametrize(
    ("line", "url", "mistake"),
    [
        ("http://a.org/ below # our manual", "http://a.org/", ""),
        ("http://a.org/ # the home page", "http://a.org/", ""),
        ("http://a.org/#part", "http://a.org/#part", ""),
        ("http://a.org/with space", "http://a.org/with space", ""),
        ("http://a.org/ exlude=*.pdf", "", "exlude=*.pdf is not host, below"),
        ("http://a.org/ below exclude=*.pdf and more", "", "and is not host, below"),
    ],
)
def test_what_stands_behind_an_address_is_no_part_of_it(line: str, url: str, mistake: str, tmp_path: Path) -> None:
    (tmp_path / "starts").write_text(line)
    found = read_starts(["@starts"], URLNormalizer().parse, tmp_path)
    assert found.urls == [url] * bool(url)
    assert mistake in "".join(found.mistakes)
    assert [seed.scope for seed in found.seeds] == ["below"] * ("below" in line and not mistake)


def test_one_scope_is_enough() -> None:
    with pytest.raises(ConfigError, match="restrict_to: it is the whole scope"):
        config_of("http://a.org/", {"crawl.restrict_to": ".*", "crawl.scope": "below"})


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = ["--dir", str(tmp_path)]
    (tmp_path / "config.yaml").write_text("crawl: {start: [http://a.org/x/], scope: below, exclude: ['*.zip']}")
    assert cli.run(["crawl", "http://a.org/", "--below", "--domain", *directory]) == 2
    assert "--below and --domain exclude each other" in capsys.readouterr().err
    assert cli.run(["check", *directory]) == 0
    assert "scope: below a.org/x/, not *.zip\n" in capsys.readouterr().out
    assert cli.run(["why", "--scope", "http://a.org/x/y", "http://a.org/", "http://a.org/x/y.zip", *directory]) == 0
    assert capsys.readouterr().out == (
        "passes: http://a.org/x/y\n"
        "scope: not below a.org/x/, not *.zip; -s crawl.scope=host takes whole hosts, with nothing excluded: http://a.org/\n"
        "scope: excluded by *.zip; -s crawl.scope=host takes whole hosts, with nothing excluded: http://a.org/x/y.zip\n"
    )


def test_a_start_page_whose_links_are_all_outside_is_named(web: SyntheticWeb, tmp_path: Path) -> None:
    one, two, three = (web.host(f"{name}.localhost") for name in ("one", "two", "three"))
    one.page("/", links=["/x"])
    one.page("/x")
    two.page("/", links=["http://elsewhere.localhost:{port}/", "/"])
    three.redirect("/", "/docs")
    three.page("/docs", links=["http://elsewhere.localhost:{port}/"])
    starts = [web.url(f"{name}.localhost") for name in ("one", "two", "three")]
    run = run_crawl(tmp_path, starts)
    notes = {each.key: each.numbers for each in left_out(tmp_path, config_of(starts), run.last)}
    assert notes["some_outside"] == {"pages": [starts[1], f"{starts[2]}docs"]}


# -- the chain tells the truth


def test_without_the_filter_there_is_no_scope_to_tell_of(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/", links=["/x"])
    run = run_crawl(tmp_path, web.url("a.localhost"), {"filters.order": ["robots", "visited"], "crawl.max_pages": 1})
    assert not any("hosts of the start URLs" in note for note in run.notes)
    assert any(note.startswith("scope: everything") for note in run.notes)


def test_without_the_visited_filter_larm_warns(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/", links=["/"])
    run = run_crawl(tmp_path, web.url("a.localhost"), {"filters.order": ["scope", "robots"], "crawl.max_pages": 3})
    assert any("visited is not in filters.order" in note for note in run.notes)


def test_hosts_outside_are_not_asked_for_robots_txt_whatever_the_order(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/", links=["http://b.localhost:{port}/"])
    web.host("b.localhost").page("/")
    run = run_crawl(tmp_path, web.url("a.localhost"), {"filters.order": ["robots", "scope", "visited"]})
    assert asked(web, robots=True) == once("a.localhost/robots.txt", "a.localhost/")
    assert any("scope is asked before robots" in note for note in run.notes)


def test_start_url_that_redirects_to_another_host_is_told_with_the_scope(web: SyntheticWeb, tmp_path: Path) -> None:
    """Once, at once, and not where the redirect stays on the host."""
    web.host("a.localhost").redirect("/", "/home")
    web.host("a.localhost").redirect("/home", web.url("www.a.localhost"))
    web.host("www.a.localhost").page("/", links=["/x"])
    web.host("www.a.localhost").page("/x", links=[web.url("b.localhost")])
    run = run_crawl(tmp_path / "one", web.url("a.localhost"))
    host = web.url("www.a.localhost").removeprefix("http://").rstrip("/")
    (told,) = [note for note in run.notes if "redirects to" in note]
    began = f"{web.url('a.localhost')} redirects to {web.url('www.a.localhost')}, so pages on {host} "
    assert told.startswith(f"{began}are in scope")
    restricted = {"crawl.restrict_to": r"http://a\.localhost:\d+/.*"}
    (told,) = [note for note in run_crawl(tmp_path / "two", web.url("a.localhost"), restricted).notes if "redirects to" in note]
    assert told.startswith(f"{web.url('a.localhost')}: it redirects to {web.url('www.a.localhost')}: out of scope: ")


def test_notes_of_a_running_crawl_are_said_at_once_and_once(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").redirect("/", web.url("b.localhost"))
    web.host("b.localhost").page("/", links=["/slow"])
    web.host("b.localhost").add("/slow", html("late", delay=30))
    arguments = crawl_arguments(tmp_path, [web.url("a.localhost")], {"monitor.tick": "50ms"})
    with Process(*arguments) as process:
        said = process.wait_for_line("are in scope, too")
        assert "redirects to" in said
        process.signal(signal.SIGINT)
        assert "are in scope, too" not in process.end().err
