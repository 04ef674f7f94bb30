"""Story: a folder of mixed files is searchable with one command, and nothing outside of it is read (LARM-111)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from larm import cli
from larm.model.file_url import file_url
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import indexed, lines, rows, run_crawl, stored


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder, and a secret beside it."""
    root = Path(os.path.realpath(tmp_path)) / "docs"
    for name, text in {
        "index.html": "<title>Zoo</title>zebra <a href='sub/b%20c.txt'>b</a> <a href='../secret'>s</a> <a href='file:///etc/passwd'>",
        "sub/b c.txt": "giraffe",
        "sub/deep/d.md": "# elephant",
        "sub/README": "okapi without an ending",
        ".git/config": "hidden hippo",
        "page.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>Heron</title></head><body>heron</body></html>",
        "../secret": "a secret",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "loop").symlink_to(".")
    (root / "sub" / "up").symlink_to("..")
    (root / "out").symlink_to("..")
    (root / "alias.txt").symlink_to("sub/b c.txt")
    os.mkfifo(root / "pipe")
    return root


EVERYTHING = {"", "index.html", "page.xhtml", "sub/", "sub/README", "sub/b c.txt", "sub/deep/", "sub/deep/d.md"}


def urls(root: Path, names: set[str]) -> dict[str, int]:
    return {file_url(f"{root}/{name}"): 1 for name in names}


def start(root: Path) -> str:
    return file_url(f"{root}/")


def test_one_command_then_search(docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["crawl", "-q", "-start", "./docs", "--dir", "crawl"]) == 0
    for word, name in {"zebra": "index.html", "giraffe": "b%20c.txt", "elephant": "d.md", "okapi": "README"}.items():
        assert cli.run(["search", word, "--dir", "crawl"]) == 0
        assert name in capsys.readouterr().out  # type: ignore[attr-defined]
    file = file_url(str(docs / "index.html"))
    for query in (f"info:{file}", f"zebra path:{docs}", "zebra inurl:docs"):
        assert cli.run(["search", query, "--dir", "crawl"]) == 0
        assert file in capsys.readouterr().out, query  # type: ignore[attr-defined]
    for word in ("hippo", "secret"):
        cli.run(["search", word, "--dir", "crawl"])
        assert "file:" not in capsys.readouterr().out  # type: ignore[attr-defined]
    assert cli.run(["why", "docs/.git/config", "--dir", "crawl"]) == 0
    assert "hidden (files.hidden)" in capsys.readouterr().out  # type: ignore[attr-defined]


def test_each_file_once_and_nothing_else(docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    run = run_crawl(out, start(docs))
    assert run.reason == "finished"
    assert stored(out) == urls(docs, EVERYTHING)
    assert indexed(out) == urls(docs, {name for name in EVERYTHING if name and not name.endswith("/")})
    assert file_url(str(docs.parent / "secret")) in lines(out, "FilesFilter")
    assert "file:///etc/passwd" in lines(out, "FilesFilter")
    assert run.counters["downloader/exception_type_count/private"] == 1, "the link that leads out"
    assert not any("agent.contact" in note for note in run.notes)


def test_a_file_without_a_title_goes_by_its_name(docs: Path, tmp_path: Path) -> None:
    run_crawl(tmp_path / "crawl", start(docs))
    titles = {row.url.rpartition("docs/")[2]: row.title for row in rows(tmp_path / "crawl")}
    assert titles["index.html"] == "Zoo"
    assert titles["sub/b%20c.txt"] == "b c.txt"
    assert titles["sub/README"] == "README"
    assert titles["sub/deep/"].endswith("docs/sub/deep/")


def test_a_disk_has_no_traps(tmp_path: Path) -> None:
    """Deep folders, the same name again and again, hundreds of files with the same text: all read."""
    root = Path(os.path.realpath(tmp_path)) / "docs"
    deep = root.joinpath(*["again"] * 25)
    deep.mkdir(parents=True)
    (deep / "x.txt").write_text("the last one")
    for number in range(150):
        (root / f"package{number}").mkdir()
        (root / f"package{number}" / "copyright").write_text("the same licence")
    run = run_crawl(tmp_path / "crawl", start(root))
    assert stored(tmp_path / "crawl").total() == 1 + 25 + 1 + 300
    assert "traps/closed" not in run.counters


def test_the_same_again_reads_only_what_has_changed(docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    for path in (*docs.rglob("*"), docs):
        if not path.is_symlink():
            os.utime(path, (1e9, 1e9))
    run_crawl(out, start(docs))
    (docs / "sub" / "b c.txt").write_text("giraffe and more")
    (docs / "sub" / "deep" / "d.md").unlink()
    (docs / "new.txt").write_text("newt")
    run = run_crawl(out, start(docs))
    assert run.counters["revisit/changed"] == 3, "the file, and two folders"
    assert run.counters["revisit/gone"] == 1
    wanted = {"index.html", "page.xhtml", "sub/README", "sub/b c.txt", "new.txt"}
    assert indexed(out) == urls(docs, wanted)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"crawl.max_depth": 0}, {""}),
        ({"crawl.max_depth": 1}, {"", "index.html", "page.xhtml", "sub/", "sub/b c.txt"}),  # alias.txt is that, too
        ({"files.include": ["*.md"]}, {"", "sub/", "sub/deep/", "sub/deep/d.md"}),
        ({"files.exclude": ["sub"]}, {"", "index.html", "page.xhtml"}),
        ({"files.exclude": ["*.*html", "sub/deep"]}, {"", "sub/", "sub/README", "sub/b c.txt"}),
        ({"files.hidden": True}, EVERYTHING | {".git/", ".git/config"}),
        ({"crawl.restrict_to": r"file:///.*(/|\.txt)"}, {"", "sub/", "sub/b c.txt", "sub/deep/"}),
        ({"crawl.max_pages": 2}, None),
    ],
)
def test_settings(docs: Path, tmp_path: Path, settings: dict[str, object], names: set[str] | None) -> None:
    out = tmp_path / "crawl"
    run_crawl(out, start(docs), settings)
    if names is None:
        assert stored(out).total() == 2
    else:
        assert stored(out) == urls(docs, names)


def test_a_start_file_and_what_it_links_to(docs: Path, tmp_path: Path) -> None:
    """But not all that is in its folder, not even if it asks for that."""
    (docs / "index.html").write_text("<a href='sub/b c.txt'>b</a> <a href='./'>all</a> <a href='sub/'>sub</a>")
    run_crawl(tmp_path / "crawl", file_url(str(docs / "index.html")))
    assert stored(tmp_path / "crawl") == urls(docs, {"index.html", "sub/b c.txt"})


def test_a_folder_that_larm_writes_into(docs: Path) -> None:
    """``larm crawl -start .``: its logs are no documents."""
    run_crawl(docs, start(docs))
    assert stored(docs) == urls(docs, EVERYTHING)


def test_a_start_folder_by_a_link(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(docs)
    run_crawl(tmp_path / "crawl", file_url(f"{tmp_path}/link/"))
    assert stored(tmp_path / "crawl") == urls(docs, EVERYTHING)


def test_the_web_never_leads_to_a_file(docs: Path, tmp_path: Path, web: SyntheticWeb) -> None:
    """Neither by a link nor by a redirect, a base, a refresh or a robots.txt that is elsewhere; also if a folder is crawled."""
    passwd, inside = "file:///etc/passwd", file_url(str(docs / ".git" / "config"))
    site = web.host("a.localhost")
    site.page("/", links=["/base", "/moved", "/refresh", passwd, inside, "FILE:/etc/passwd"])
    site.page("/base", body=f"<base href='file:///etc/'><a href='passwd'>x</a><iframe src='{passwd}'></iframe>")
    site.page("/refresh", body=f"<meta http-equiv=refresh content='0;url={passwd}'>")
    site.redirect("/moved", passwd)
    web.host("b.localhost").redirect("/robots.txt", passwd)
    web.host("b.localhost").page("/")
    everything = {"crawl.restrict_to": ".*"}
    run = run_crawl(tmp_path / "one", [web.url("a.localhost"), web.url("b.localhost")], everything)
    assert run.reason == "finished"
    run_crawl(tmp_path / "two", [web.url("a.localhost"), web.url("b.localhost"), start(docs)], everything)
    for out in ("one", "two"):
        found = {row.url for row in rows(tmp_path / out)}
        assert not {url for url in found if "passwd" in url or ".git" in url}
        links = [line.split("\t") for line in lines(tmp_path / out, "links")]
        assert not [link for link in links if link[1] in (passwd, inside) and "a.localhost" in link[0]]
    assert not any(row.url.startswith("file:") for row in rows(tmp_path / "one"))


def test_a_folder_links_to_the_web_within_the_scope(docs: Path, tmp_path: Path, web: SyntheticWeb) -> None:
    web.host("a.localhost").page("/", links=["/x"])
    web.host("a.localhost").page("/x")
    (docs / "index.html").write_text(f"<a href='{web.url('a.localhost')}'>a</a>")
    run_crawl(tmp_path / "one", start(docs))
    assert web.requests == []
    run_crawl(tmp_path / "two", start(docs), {"crawl.restrict_to": ".*", "crawl.private_networks": "all"})
    assert set(web.fetched()) == {"a.localhost/", "a.localhost/x"}


def test_stopped_and_continued(docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    while (run := run_crawl(out, start(docs), {"crawl.max_pages": stored(out).total() + 1 if out.exists() else 1})).reason != (
        "finished"
    ):
        assert run.reason == "closespider_pagecount"
    assert stored(out) == urls(docs, EVERYTHING)


def test_no_delay(docs: Path, tmp_path: Path) -> None:
    """A second between two files would be 8 seconds."""
    run = run_crawl(tmp_path / "crawl", start(docs), {"frontier.delay": "30s"})
    assert run.last.elapsed < 10
