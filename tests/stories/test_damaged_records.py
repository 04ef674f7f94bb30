"""A directory in which some records are damaged: commands that read it go on past them, and say so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from larm import cli
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl

PAGES = 12
SENTENCE = re.compile(r"larm: (\d+) damaged records? left out, the first: .*'larm repair")


@pytest.fixture
def directory(tmp_path: Path, web: SyntheticWeb) -> Path:
    """A crawl of 13 pages without compression, so that a page can be damaged alone."""
    site = web.host("a.localhost")
    site.page("/", title="Start", links=[f"/{n}" for n in range(PAGES)])
    for n in range(PAGES):
        site.page(f"/{n}", title=f"Page {n}", links=["/", "/gone"], body=f"<p>The ferry number {n} goes to the island.</p>")
    run_crawl(tmp_path, web.url("a.localhost"), {"storage.log.compress": False})
    return tmp_path


def line_of(directory: Path, title: str) -> bytes:
    lines = (directory / "logs" / "store.log").read_bytes().splitlines(keepends=True)
    return next(line for line in lines if f"\t{title}\t".encode() in line)


def damage_line(directory: Path, title: str) -> None:
    path, line = directory / "logs" / "store.log", line_of(directory, title)
    path.write_bytes(path.read_bytes().replace(line, line.replace(b"\t", b"#")))


def damage_body(directory: Path, title: str) -> None:
    """The line leads behind the end of the page file."""
    path, line = directory / "logs" / "store.log", line_of(directory, title)
    columns = line.rstrip(b"\n").split(b"\t")
    columns[-1] = b"9" * len(columns[-1])
    path.write_bytes(path.read_bytes().replace(line, b"\t".join(columns) + b"\n"))


def damage_row(directory: Path) -> None:
    """One row of the page book, in a database that SQLite takes for whole."""
    path = directory / "cachingqueue" / "pages.db"
    data = bytearray(path.read_bytes())
    at = data.index(b"a.localhost:")
    data[at] ^= 1
    path.write_bytes(data)


def larm(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    capfdbinary.readouterr()
    status = cli.run(list(words))
    out, err = capfdbinary.readouterr()
    return status, out.decode(), err.decode()


@pytest.mark.parametrize(("damage", "kind"), [(damage_line, "line"), (damage_body, "body")], ids=["line", "body"])
def test_export_writes_all_other_pages_and_says_how_many_it_left_out(
    directory: Path, capfdbinary: pytest.CaptureFixture[bytes], damage: object, kind: str
) -> None:
    assert callable(damage)
    damage(directory, "Page 3")
    damage(directory, "Page 7")
    status, out, err = larm(capfdbinary, "export", "--dir", str(directory))
    titles = {json.loads(line)["title"] for line in out.splitlines()}
    assert titles == {"Start", *(f"Page {n}" for n in range(PAGES) if n not in (3, 7))}
    assert status == 3
    assert (found := SENTENCE.search(err)) is not None
    assert found[1] == "2"


def test_export_into_file_keeps_what_could_be_read(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    damage_line(directory, "Page 3")
    output = directory.with_name("pages.csv")
    status, _, err = larm(capfdbinary, "export", "--dir", str(directory), "--format", "csv", "--output", str(output))
    assert status == 3
    assert SENTENCE.search(err)
    assert len(output.read_text().splitlines()) == 1 + PAGES


def test_export_leaves_out_page_whose_row_is_damaged(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    damage_row(directory)
    status, out, err = larm(capfdbinary, "export", "--dir", str(directory))
    assert status == 3
    assert SENTENCE.search(err)
    assert len(out.splitlines()) == PAGES


def test_links_are_checked_on_all_other_pages(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    damage_body(directory, "Page 3")
    status, out, err = larm(capfdbinary, "links", "--broken", "--format", "csv", "--dir", str(directory))
    assert status == 3
    assert SENTENCE.search(err)
    assert len(out.splitlines()) == PAGES


def test_cat_finds_page_behind_damaged_line_of_it(
    directory: Path, web: SyntheticWeb, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    url = web.url("a.localhost", "/3")
    log = directory / "logs" / "store.log"
    log.write_bytes(log.read_bytes() + b"torn\t" + url.encode() + b"\ttorn\n")
    status, out, err = larm(capfdbinary, "cat", url, "--dir", str(directory))
    assert "The ferry number 3 goes" in out
    assert status == 3
    assert SENTENCE.search(err)


def test_new_index_has_all_other_pages(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    damage_body(directory, "Page 3")
    status, _, err = larm(capfdbinary, "reindex", "--dir", str(directory))
    assert status == 3
    assert f"{PAGES} pages are in the new index" in err
    assert SENTENCE.search(err)
    status, out, _ = larm(capfdbinary, "search", "ferry", "-n", "50", "--dir", str(directory))
    assert status == 0
    assert "Page 3" not in out
    assert "Page 4" in out


def test_archive_has_all_other_pages(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    damage_body(directory, "Page 3")
    output = directory.with_name("archive")
    status, _, err = larm(capfdbinary, "warc", "export", "--output", str(output), "--dir", str(directory))
    assert status == 3
    assert SENTENCE.search(err)
    assert f"{output}: {PAGES} pages" in err
    assert cli.run(["warc", "verify", *map(str, output.glob("*.warc.gz"))]) == 0


def test_search_goes_on_without_damaged_extras(directory: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for path in (
        directory / "graph" / "snapshot",
        directory / "anchors" / "meta.json",
        directory / "cachingqueue" / "aliases.db",
    ):
        data = bytearray(path.read_bytes())
        data[len(data) // 2 :] = b"#" * (len(data) - len(data) // 2)
        path.write_bytes(data)
    status, out, _ = larm(capfdbinary, "search", "ferry", "--json", "--dir", str(directory))
    assert status == 0
    found = json.loads(out)
    assert found["total"] == PAGES
    assert any("the link graph, which is damaged" in note for note in found["notes"])
    assert any("the texts of links, which is damaged" in note for note in found["notes"])
