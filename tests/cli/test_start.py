"""``-start @FILE`` (LARM-2)."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.building.start_urls import address, may_be_start, read_starts
from larm.config.crawl import Seed
from larm.errors import UsageError
from larm.model.url import BadUrl, URLNormalizer
from tests.cli.conftest import FakeWiring, Larm

SEEDS = "\ufeffhttp://a.org/\r\n\r\n# a comment\nhttp://bad host/\n  http://b.org/x#y  \nmailto:x@a.org\n"
parse = URLNormalizer().parse


def test_a_file_has_one_url_a_line_and_its_mistakes_are_named(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(SEEDS, encoding="utf-8", newline="")
    said = larm("crawl", "-start", "http://first.org/", "-start", "@seeds.txt", "--start", "http://last.org/")
    assert said.status == 0
    assert wiring.config.crawl.start == ("http://first.org/", "http://a.org/", "http://b.org/x#y", "http://last.org/")
    lines = said.err.splitlines()
    assert lines[0].startswith("larm: seeds.txt:4: skipped: not a URL")
    assert lines[0].endswith(": http://bad host/")
    assert lines[1].startswith("larm: seeds.txt:6: skipped: scheme mailto")
    assert "larm: seeds.txt: 2 start URLs accepted, 2 rejected" in lines


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_as_windows_writes_it(larm: Larm, wiring: FakeWiring, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "seeds.txt").write_bytes(SEEDS.encode(encoding))
    assert "larm: seeds.txt: 2 start URLs accepted, 2 rejected" in larm("crawl", "-start", "@seeds.txt").err
    assert wiring.config.crawl.start == ("http://a.org/", "http://b.org/x#y")


def test_quiet_still_names_mistakes_but_not_numbers(larm: Larm, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(SEEDS, encoding="utf-8", newline="")
    said = larm("crawl", "-q", "-start", "@seeds.txt")
    assert len(said.err.splitlines()) == 2
    assert "accepted" not in said.err


def test_a_file_without_any_url_is_an_error(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("# nothing\n\n")
    said = larm("crawl", "-start", "@seeds.txt")
    assert said.status == 2
    assert "0 start URLs accepted" in said.err
    assert "no start URL" in said.err
    assert wiring.built == 0


def test_a_directory_is_not_a_file_of_urls(larm: Larm, tmp_path: Path) -> None:
    said = larm("crawl", "-start", f"@{tmp_path}")
    assert (said.status, said.err.count("\n")) == (2, 1)


def test_config_yaml_may_name_urls_and_files_too(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    """Its files are relative to the crawl's directory."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "config.yaml").write_text("crawl: {start: ['@seeds.txt', 'http://c.org/']}")
    (tmp_path / "d" / "seeds.txt").write_text("http://a.org/\n")
    assert larm("crawl", "--dir", "d").status == 0
    assert wiring.config.crawl.start == ("http://a.org/", "http://c.org/")


def test_stdin_is_a_file_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"http://a.org/\nhttp://b.org/")

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert read_starts(["@-"], parse).urls == ["http://a.org/", "http://b.org/"]


def test_starts_with_password_are_read_without_it(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("http://joe:secret@b.org/ below\n//joe:secret@c.org/\n")
    starts = read_starts(["http://joe:secret@a.org/", "@list"], parse, tmp_path, seeds=[Seed("http://joe:secret@d.org/")])
    assert "secret" not in repr(starts)
    assert [parse(each).access for each in starts.urls] == [f"http://{name}.org/" for name in "dabc"]
    assert "user names and passwords in URLs are not used" in starts.notes


def test_many_mistakes_do_not_scroll_the_rest_away(tmp_path: Path) -> None:
    (tmp_path / "wrong.txt").write_text("not a url\n" * 1000 + "http://a.org/")
    starts = read_starts(["@wrong.txt"], parse, tmp_path)
    assert len(starts.mistakes) == 21
    assert starts.mistakes[-1] == "wrong.txt: and 980 more malformed lines"
    assert starts.notes == ["wrong.txt: 1 start URL accepted, 1000 rejected"]


@given(data=st.binary(max_size=300))
def test_any_bytes_are_lines_that_are_accepted_or_rejected(data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    starts = read_starts([f"@{path}"], parse)
    for url in starts.urls:
        parse(url)
    assert len(starts.notes) == 1


def test_a_bad_url_of_config_yaml_is_blamed_on_it() -> None:
    with pytest.raises(UsageError, match=r"^crawl\.start: http://a b/: not a URL"):
        read_starts(["http://a b/"], parse, source="crawl.start:")


def test_no_option_is_needed_before_an_address_or_a_folder(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "seeds.txt").write_text("http://a.org/\n")
    said = larm("crawl", "docs", "http://b.org/", "-q", "@seeds.txt", "c.org/x", "localhost:80", "-start", "http://first.org/")
    assert said.status == 0, said.err
    given = ("http://first.org/", f"file://{tmp_path}/docs/", "http://b.org/", "http://a.org/", "c.org/x", "localhost:80")
    assert wiring.config.crawl.start == given


@pytest.mark.parametrize("word", ["word", "./none", "-", "two words"])
def test_any_other_word_is_a_mistake(larm: Larm, wiring: FakeWiring, word: str) -> None:
    said = larm("crawl", "-start", "http://b.org/", word)
    assert (said.status, wiring.built) == (2, 0)
    assert said.err.startswith(f"larm: {word}: ")


# -- folders (LARM-111)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("docs", "docs/sub", "example.org", "a b"):
        (tmp_path / name).mkdir()
    for name in ("docs/x.html", "README.md", "python3.11"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("./docs", "/docs/"),
        ("./docs/", "/docs/"),
        ("docs/../docs/sub", "/docs/sub/"),
        (".", "/"),
        ("docs", "/docs/"),
        ("docs/x.html", "/docs/x.html"),
        ("./docs/x.html", "/docs/x.html"),
        ("./example.org", "/example.org/"),
        ("./a b", "/a%20b/"),
        ("python3.11", "/python3.11"),
    ],
)
def test_a_path_is_an_address(here: Path, text: str, path: str) -> None:
    assert address(text, here) == f"file://{here}{path}"
    assert address(f"{here}{path.replace('%20', ' ')}", Path("elsewhere")) == f"file://{here}{path}"


@pytest.mark.parametrize(
    "text",
    [
        "example.org",
        "example.org/x",
        "README.md",
        "localhost:8080",
        "http://docs/",
        "//docs",
        "none",
        "",
        "file:///x",
        "mailto:x",
        "\0",
    ],
)
def test_what_is_no_path(here: Path, text: str) -> None:
    assert address(text, here) == text


@pytest.mark.parametrize("text", ["./none", "/none/at/all", "../none-at-all", "~/none-at-all"])
def test_a_path_to_nothing(here: Path, text: str) -> None:
    with pytest.raises(BadUrl, match="no such file or folder"):
        address(text, here)


def test_a_name_that_may_be_a_host_or_a_file(here: Path) -> None:
    starts = read_starts(["README.md", "docs"], URLNormalizer(files=True).parse, here)
    assert starts.urls == ["README.md", f"file://{here}/docs/"]
    [note] = starts.notes
    assert note.startswith("README.md is taken for http://README.md; for what has this name here write ./README.md, for the")
    assert note.endswith("URLs in it @README.md")


def test_paths_in_a_file_and_in_config_yaml(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    """Those of config.yaml are relative to the crawl's directory."""
    (tmp_path / "d" / "docs").mkdir(parents=True)
    (tmp_path / "d" / "config.yaml").write_text("crawl: {start: [./docs, '@seeds.txt']}")
    (tmp_path / "d" / "seeds.txt").write_text("../d\n./none\n")
    said = larm("crawl", "--dir", "d")
    assert said.status == 0
    assert wiring.config.crawl.start == (f"file://{tmp_path}/d/docs/", f"file://{tmp_path}/d/")
    assert "seeds.txt:2: skipped: no such file or folder: ./none" in said.err


def test_a_warc_file_that_is_there_is_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name looks like one."""
    (tmp_path / "crawl.warc.gz").touch()
    monkeypatch.chdir(tmp_path)
    assert address("crawl.warc.gz") == (tmp_path / "crawl.warc.gz").as_uri()
    assert address("other.warc.gz") == "other.warc.gz"
    assert may_be_start("crawl.warc.gz")
