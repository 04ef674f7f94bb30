"""Names that a page explains: the page with the entry comes before short pages that mention it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.index.defined import defined
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.search.ranked import Ranker
from larm.index.writer import IndexWriter
from tests.store.stored_pages import url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("core.autocrlf\nSetting it to true\n  core.eol", "=core.autocrlf =core.eol"),
        ("os.path.join(path, *paths)\u00b6\nJoin", "=os.path.join"),
        ("Max_Connections (integer)\nstd::vector", "=max_connections =std::vector"),
        ("core.eol\ncore.eol", "=core.eol"),
        ("Note:\nfull-text\nos.walk(top)\nSee core.eol for more\nword\n3.14\nend.", ""),
        ("a_" * 50, ""),
        ("", ""),
    ],
)
def test_which_names_a_text_explains(text: str, expected: str) -> None:
    assert defined(text) == expected.split()


@pytest.mark.parametrize("line", ["a_" * 50_000, "a" + " " * 100_000 + "b", " " * 100_000, "a.b(" + "x" * 100_000])
def test_no_line_takes_long(line: str) -> None:
    began = time.thread_time()
    assert defined(line) == []
    assert time.thread_time() - began < 1


def test_the_entry_comes_before_what_mentions_it(tmp_path: Path) -> None:
    """In however long a page."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    others = "\n".join(f"core.other{number}\nIt sets the {number}th of them." for number in range(500))
    pages = {"manual": f"{others}\ncore.autocrlf\nIt sets ends of lines."}
    pages |= {f"short{number}": "After core.autocrlf was changed, look at the ends of all lines." for number in range(5)}
    for name, text in pages.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    values = SearchSettings()
    ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", values), values)
    assert ranker.urls(parse_question("core.autocrlf").tree, 1) == ["http://a.org/manual"]
    found = ranker.rank(parse_question("core.autocrlf").tree, 1, explain=True)
    assert "explains core.autocrlf" in found.results[0].match.explanation
