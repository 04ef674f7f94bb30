"""``larm search``, on a Searcher that answers what the test wants."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from larm.cli import terminal
from larm.errors import StorageError
from larm.search.searcher import Hit, Results
from tests.cli.conftest import Larm

EXPLANATION = '{"value": 1.5, "description": "sum of:", "details": [{"value": 0.5, "description": "title\\u001b[2J"}]}'
HITS = (
    Hit(
        "The \x1b]0;own\x07 title",
        "http://a.org/\x9b31m",
        (("about the ", False), ("tide", True), (" and", False)),
        "text/html",
        1.5,
    ),
    Hit("Zweite größe", "http://b.org/", (), "text/html", 0.5),
)


class FakeSearcher:
    """Stands in for `larm.search.searcher.Searcher`."""

    asked: tuple[Any, ...] = ()
    results = Results(12, HITS, 0.0123)
    failure: Exception | None = None

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def search(self, words: str, n: int = 10, page: int = 1, explain: bool = False) -> Results:
        if self.failure:
            raise self.failure
        type(self).asked = (self.directory, words, n, page, explain)
        return self.results


@pytest.fixture
def searcher(monkeypatch: pytest.MonkeyPatch) -> type[FakeSearcher]:
    class Fresh(FakeSearcher):
        pass

    monkeypatch.setattr("larm.search.searcher.Searcher", Fresh)
    return Fresh


def test_title_address_and_snippet_without_escape_sequences(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "causeway")
    assert said.status == 0
    assert said.out == (
        "1. The ]0;own title\n   http://a.org/ 31m\n   about the tide and\n\n2. Zweite größe\n   http://b.org/\n\n"
    )
    assert said.err == "larm: 1 to 2 of 12 pages, 0.012 s\n"
    assert searcher.asked == (Path(), "tide causeway", 10, 1, False)


def test_words_are_marked_on_a_terminal_only(larm: Larm, searcher: type[FakeSearcher], monkeypatch: pytest.MonkeyPatch) -> None:
    assert terminal.bold("x") == "x"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "about the \x1b[1mtide\x1b[0m and" in larm("search", "tide").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in larm("search", "tide").out


def test_pages_go_on_counting(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "-n", "2", "--page", "3", "--dir", ".")
    assert said.out.startswith("5. ")
    assert "5 to 6 of 12" in said.err
    assert searcher.asked == (Path(), "tide", 2, 3, False)


def test_json_for_programs(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "--json", "-n", "2", "--page", "2")
    assert said.err == ""
    assert "\x1b" not in said.out
    assert "\x9b" not in said.out
    answer = json.loads(said.out)
    assert list(answer) == ["query", "total", "page", "seconds", "hits"]
    assert (answer["query"], answer["total"], answer["page"], answer["seconds"]) == ("tide", 12, 2, 0.0123)
    assert answer["hits"][0] == {
        "rank": 3,
        "url": "http://a.org/\x9b31m",
        "title": "The \x1b]0;own\x07 title",
        "snippet": "about the tide and",
        "mime": "text/html",
        "score": 1.5,
    }
    assert answer["hits"][1]["title"] == "Zweite größe"


def test_explain_shows_the_factors_of_the_score(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.results = Results(1, (Hit("T", "http://a.org/", (), "text/html", 1.5, EXPLANATION),), 0.0)
    said = larm("search", "tide", "--explain")
    assert said.out == "1. T\n   http://a.org/\n   score 1.5000\n   1.5000  sum of:\n     0.5000  title [2J\n\n"
    assert searcher.asked[-1] is True
    answer = json.loads(larm("search", "tide", "--explain", "--json").out)
    assert answer["hits"][0]["explanation"]["details"][0]["value"] == 0.5


@pytest.mark.parametrize(
    ("results", "message"),
    [(Results(0, (), 0.0), "nothing found for x y"), (Results(7, (), 0.0), "7 pages found, none of them on page 9")],
)
def test_nothing_found_is_no_failure(larm: Larm, searcher: type[FakeSearcher], results: Results, message: str) -> None:
    searcher.results = results
    assert larm("search", "x", "y", "--page", "9") == (0, "", f"larm: {message}\n")


def test_a_word_may_begin_with_a_dash(larm: Larm, searcher: type[FakeSearcher]) -> None:
    assert larm("search", "--", "-start").status == 0
    assert searcher.asked[1] == "-start"


def test_an_index_that_can_not_be_read(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.failure = StorageError("index: broken")
    assert larm("search", "x") == (3, "", "larm: index: broken\n")


def test_without_an_index_it_says_what_to_do(larm: Larm) -> None:
    said = larm("search", "x")
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert "larm crawl" in said.err
