from __future__ import annotations

import json
from pathlib import Path

import pytest

from larm.errors import UsageError
from larm.index.analysis import Analyzer
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.terms import Span
from larm.index.writer import IndexWriter
from larm.model.url import Url

WEIGHTS = {"title": 3.0, "url_words": 1.5, "main": 1.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three pages about one word, in different fields."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    pages = {
        "body": ("Other", "the crawler is red and other words"),
        "title": ("Crawler red", "nothing"),
        "crawler": ("x", "y"),
    }
    for name, (title, text) in pages.items():
        writer.add(Page(Url(f"http://a.org/{name}%20x", f"http://a.org/{name}", "a.org", 1), "text/html", title, text))
    writer.commit()
    writer.close()
    return tmp_path / "index"


def search(path: Path, *clauses: tuple[str, ...], **more: int) -> list[str]:
    found = IndexReader(path).search(clauses, WEIGHTS, 0.3, limit=more.get("limit", 10), offset=more.get("offset", 0))
    return [match.url.rsplit("/")[-1].removesuffix("%20x") for match in found.matches]


def test_a_word_is_found_in_any_field_the_title_first(path: Path) -> None:
    assert search(path, ("crawler",)) == ["title", "crawler", "body"]
    assert search(path, ("x",))[0] == "crawler"  # the others have it in their URL only


def test_all_clauses_must_match(path: Path) -> None:
    assert search(path, ("crawler",), ("red",)) == ["title", "body"]
    assert search(path, ("crawler",), ("absent",)) == []
    assert search(path) == []


def test_words_of_a_phrase_stand_next_to_each_other(path: Path) -> None:
    assert search(path, ("crawler", "red")) == ["title"]
    assert search(path, ("is", "red")) == ["body"]


def test_pages_of_results(path: Path) -> None:
    """A page beyond the last one is empty, however far; the total is always all."""
    assert [search(path, ("crawler",), limit=1, offset=n) for n in range(3)] == [["title"], ["crawler"], ["body"]]
    found = IndexReader(path).search([("crawler",)], WEIGHTS, 0.3, limit=10, offset=10**15)
    assert (found.total, found.matches) == (3, [])


def test_explanations_are_json(path: Path) -> None:
    match = IndexReader(path).search([("crawler",)], WEIGHTS, 0.3, limit=1, explain=True).matches[0]
    assert json.loads(match.explanation)["value"] == pytest.approx(match.score, rel=1e-3)


def test_a_reader_sees_new_commits_after_reload(path: Path) -> None:
    reader = IndexReader(path)
    writer = IndexWriter(path, 15_000_000, 1)
    writer.open(1)
    writer.add(Page(Url("http://a.org/new", "http://a.org/new", "a.org", 1), "text/html", "new", ""))
    writer.commit()
    assert reader.documents == 3
    reader.reload()
    assert reader.documents == 4
    writer.close()


def test_no_index_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"no index in {tmp_path}: run larm crawl first"):
        IndexReader(tmp_path / "index")


def test_analysis() -> None:
    """Lower case, no accents, only letters and digits; places are characters of the original."""
    analyzer = Analyzer()
    assert analyzer.words("Café-Straße snake_case C++ 😀 \ud800x İ") == ["cafe", "strasse", "snake", "case", "c", "x", "i"]
    assert analyzer.spans("é Äb 漢字") == [Span("e", 0, 1), Span("ab", 2, 4), Span("漢", 5, 6), Span("字", 6, 7)]
    assert analyzer.words("x" * 64) == []
    assert analyzer.words("") == []
