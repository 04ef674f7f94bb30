"""Which files belong to a crawl."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.file_rules import FileRules, Root

DOCS = Root("/srv/docs", listed=True)


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("/srv/docs/", None),
        ("/srv/docs", None),
        ("/srv/docs/a/b.txt", None),
        ("/srv/docs/a/", None),
        ("/srv/docs2/a", "not in a start folder"),
        ("/srv/", "not in a start folder"),
        ("/", "not in a start folder"),
        ("/etc/passwd", "not in a start folder"),
        ("/srv/docs/.git/config", "hidden (files.hidden)"),
        ("/srv/docs/a/.b", "hidden (files.hidden)"),
        ("/srv/docs/logs/store.log", "written by larm itself"),
        ("/srv/docs/logs/", "written by larm itself"),
        ("/srv/docs/logs2", None),
    ],
)
def test_what_is_in_a_start_folder(path: str, refusal: str | None) -> None:
    assert FileRules([DOCS], own=["/srv/docs/logs"]).refusal(path) == refusal


def test_hidden_files_may_be_wanted() -> None:
    assert FileRules([DOCS], hidden=True).refusal("/srv/docs/.a/.b") is None
    assert FileRules([Root("/home/x/.config", listed=True)]).refusal("/home/x/.config/a") is None, "the start itself"


@pytest.mark.parametrize(
    ("include", "exclude", "wanted", "unwanted"),
    [
        (["*.html"], [], ["a.html", "b/c.html", "b/"], ["a.txt", "html"]),
        (["*.html", "*.txt"], [], ["a.html", "a.txt"], ["a.pdf"]),
        (["b/*"], [], ["b/c", "b/c/d"], ["a", "c/b/d"]),
        ([], ["*.tmp"], ["a", "tmp/"], ["a.tmp", "b/c.tmp", "d.tmp/", "d.tmp/e"]),
        ([], ["node_modules"], ["a"], ["node_modules/", "node_modules/x/y", "a/node_modules/x"]),
        ([], ["build/out"], ["build/", "out/", "x/build/out/y"], ["build/out/", "build/out/x/y"]),
        (["*.c"], ["test_*"], ["a.c"], ["test_a.c", "a.h", "test_x/a.c"]),
        (["[ab]?.t"], [], ["a1.t", "b2.t"], ["c1.t", "a.t", "A1.t"]),
        ([], ["/top"], ["a/top"], ["top"]),
    ],
)
def test_patterns(include: list[str], exclude: list[str], wanted: list[str], unwanted: list[str]) -> None:
    rules = FileRules([DOCS], include=include, exclude=exclude)
    assert [path for path in wanted if rules.refusal(f"/srv/docs/{path}") is not None] == []
    assert [path for path in unwanted if rules.refusal(f"/srv/docs/{path}") is None] == []


def test_the_name_that_a_folder_was_given() -> None:
    rules = FileRules([Root("/real/docs", listed=True, alias="/link")])
    assert rules.refusal("/link/a") is None
    assert rules.refusal("/link/.a") == "hidden (files.hidden)"
    assert rules.refusal("/links/a") == "not in a start folder"
    assert rules.root_of("/link/a") == rules.root_of("/real/docs/a")
    assert rules.roots[0].below("/link/a") is None
    assert rules.roots[0].below("/real/docs/a/b/") == "a/b"


def test_the_whole_disk_may_be_a_start_folder() -> None:
    rules = FileRules([Root("/", listed=True)])
    assert rules.refusal("/") is None
    assert rules.refusal("/a") is None
    assert rules.refusal("/.a") == "hidden (files.hidden)"


@given(st.text(st.sampled_from("/.ad*"), max_size=12))
def test_any_path_has_an_answer(path: str) -> None:
    FileRules([DOCS, Root("/", listed=False)], include=["a*"], exclude=["*/d"]).refusal(path)


def test_a_place_is_called_otherwise_than_on_the_disk() -> None:
    rules = FileRules([Root("/docs", listed=True, place="/home/anna/docs")], own=["/home/anna/docs/logs"])
    assert rules.refusal("/docs/a") is None
    assert rules.refusal("/home/anna/docs/a") == "not in a start folder"
    assert rules.refusal("/docs/logs/a") == "written by larm itself"
    assert rules.roots[0].on_disk("/docs/sub/a") == "/home/anna/docs/sub/a"
    assert rules.called("/home/anna/docs/sub/") == "/docs/sub/"
    assert rules.called("/docs/sub/") is None
    assert rules.called("/home/anna/docs-of-hers") is None
    assert FileRules([Root("/all", listed=True, place="/")]).called("/etc") == "/all/etc"
    assert FileRules([DOCS]).called("/srv/docs/a") == "/srv/docs/a"
