"""``larm why`` and ``larm cat``."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.store.store_log import StoreEntry, format_entry
from tests.cli.conftest import FakeWiring, Larm

URL = "http://example.org/x"
BODY = b"<html>\xff\x00\x1b[2J raw"


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    """A directory with one page in its logs."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "pagefile_1.pfl").write_bytes(b"before" + BODY)
    entry = StoreEntry("<start>", URL, URL, 0, 200, "text/html", len(BODY), "Title", 1, 6)
    (logs / "store.log").write_text(format_entry(entry), encoding="utf-8")
    return tmp_path


def test_cat_writes_the_stored_bytes(crawled: Path, wiring: FakeWiring, monkeypatch: pytest.MonkeyPatch, capfdbinary) -> None:  # type: ignore[no-untyped-def]
    from larm import cli

    monkeypatch.chdir(crawled)
    assert cli.run(["cat", URL]) == 0
    assert capfdbinary.readouterr() == (BODY, b"")


def test_cat_takes_the_address_as_people_write_it(crawled: Path, larm: Larm) -> None:
    assert larm("cat", "HTTP://EXAMPLE.org/x#part").status == 0


def test_cat_of_what_is_not_there_fails(crawled: Path, larm: Larm) -> None:
    said = larm("cat", "http://example.org/other")
    assert (said.status, said.out) == (1, "")
    assert said.err == "larm: http://example.org/other: not stored in .; 'larm why http://example.org/other' says why\n"
    said = larm("cat", "http://example.org/other?a=1&b", "--dir", str(crawled))
    assert said.err.endswith(f"; 'larm why --dir {crawled} 'http://example.org/other?a=1&b'' says why\n")


def test_cat_says_why_there_is_no_copy(crawled: Path, larm: Larm) -> None:
    entry = StoreEntry("<start>", "http://example.org/y", "http://example.org/y", 0, 200, "text/html", 5, "Title")
    with (crawled / "logs" / "store.log").open("a", encoding="utf-8") as log:
        log.write(format_entry(entry))
    said = larm("cat", "http://example.org/y")
    assert (said.status, said.out) == (1, "")
    assert said.err == "larm: http://example.org/y: it was fetched, but asks that no copy of it is kept (noarchive)\n"


def test_cat_without_a_crawl_is_a_usage_error(larm: Larm) -> None:
    said = larm("cat", URL)
    assert (said.status, said.err.count("\n")) == (2, 1)


def test_why_has_a_row_for_each_topic_and_no_escape_sequence(larm: Larm, wiring: FakeWiring) -> None:
    said = larm("why", URL)
    assert said == (
        0,
        f"Fetched [2J\n\nURL           {URL}\nfilter scope  passes\nrobots.txt    line 3: Disallow: /x [2J\n",
        "",
    )


def test_why_takes_the_configuration_of_the_directory_and_s(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("crawl: {max_depth: 3}")
    larm("why", URL, "-s", "crawl.max_pages=7")
    assert (wiring.config.crawl.max_depth, wiring.config.crawl.max_pages) == (3, 7)
