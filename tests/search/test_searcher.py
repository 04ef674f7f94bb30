from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm import config
from larm.errors import StorageError, UsageError
from larm.kit.units import ByteSize
from larm.search.searcher import Searcher
from larm.storage.index import IndexStorage
from tests.storage.pages import page

PAGES = [
    page(
        "http://a.org/",
        "Home \x1b[1m",
        "All about crawlers. " + "Words and more words. " * 30 + "A crawler called larm is fast.",
    ),
    page("http://a.org/larm", "The crawler larm", "Its manual."),
    page("http://a.org/manual.pdf", "", "", mime="application/pdf"),
]


class FakeClock:
    """Each question takes a quarter of a second."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 0.25
        return self.now

    def wall(self) -> float:
        return 0.0


def new_storage(directory: Path) -> IndexStorage:
    storage = IndexStorage(directory, config.IndexStorage(memory=ByteSize(15_000_000)))
    storage.open(None)
    return storage


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crawl")
    storage = new_storage(directory)
    storage.store(PAGES)
    storage.commit()
    storage.close()
    return directory


def test_a_search(crawl: Path) -> None:
    """The best page first, the words of the query marked, nothing that steers a terminal."""
    searcher = Searcher(crawl, FakeClock())
    assert searcher.documents == 3
    results = searcher.search("LARM Crawler")
    assert (results.total, results.took) == (2, 0.25)
    assert [(hit.title, hit.url, hit.mime) for hit in results.hits] == [
        ("The crawler larm", "http://a.org/larm", "text/html"),
        ("Home [1m", "http://a.org/", "text/html"),
    ]
    assert results.hits[0].score > results.hits[1].score > 0
    assert results.hits[1].snippet[-4:] == (("crawler", True), (" called ", False), ("larm", True), (" is fast.", False))
    assert results.hits[1].text.endswith("A crawler called larm is fast.")


def test_a_page_without_text_is_found_by_its_url(crawl: Path) -> None:
    """Its title is its URL, its snippet is empty."""
    (hit,) = Searcher(crawl).search("manual pdf").hits
    assert (hit.title, hit.snippet, hit.mime) == ("http://a.org/manual.pdf", (), "application/pdf")


def test_pages_and_limits(crawl: Path) -> None:
    searcher = Searcher(crawl)
    everything = [hit.url for hit in searcher.search("org").hits]
    assert len(everything) == 3
    for number, url in enumerate(everything, 1):
        results = searcher.search("org", 1, number)
        assert ([hit.url for hit in results.hits], results.total) == ([url], 3)
    assert searcher.search("org", 10, 2).hits == ()
    assert len(searcher.search("org", 0, -5).hits) == 1
    assert searcher.search("org", 10, 10**12).total == 3


def test_explain(crawl: Path) -> None:
    searcher = Searcher(crawl)
    assert searcher.search("larm").hits[0].explanation == ""
    assert '"value"' in searcher.search("larm", explain=True).hits[0].explanation


@settings(max_examples=50, deadline=None)
@given(st.text() | st.lists(st.sampled_from(["larm", '"', "crawler", ":", "-", "(", "AND", "\\", "😀"])).map(" ".join))
def test_anything_may_be_typed(crawl: Path, text: str) -> None:
    Searcher(crawl).search(text)


def test_searching_while_a_crawl_writes(tmp_path: Path) -> None:
    """Each search sees the latest commit."""
    storage = new_storage(tmp_path)
    searcher = Searcher(tmp_path)
    assert searcher.search("larm").total == 0
    for number in range(1, 4):
        storage.store([page(f"http://a.org/{number}", "larm")])
        assert searcher.search("larm").total == number - 1
        storage.commit()
        assert searcher.search("larm").total == number
    storage.close()


def test_no_index_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no index in .*: run larm crawl first"):
        Searcher(tmp_path)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "meta.json").write_text("{}")
    with pytest.raises(StorageError, match="index"):
        Searcher(tmp_path)


def test_importing_the_package_is_cheap() -> None:
    """tantivy is loaded by whoever opens an index, not by the command line or the pure modules."""
    code = "import sys, larm.search.query, larm.search.snippets, larm.search.ranking; sys.exit('tantivy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
