"""Feedback: pages that share the words of the best ones come before pages that do not."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from larm.config import SearchSettings
from larm.index import fixed_weights
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.search.ranked import Ranker
from larm.index.statistics import QueryContext
from larm.index.writer import IndexWriter
from larm.model.findings import WordStatistics
from tests.store.stored_pages import url

QUESTION = "how do canals keep their water level in each county, village, town and parish of England"
BEST = [f"Canals keep a water level by lock and sluice, in county {name}." for name in "abcdefghijkl"]
NEXT = {
    "sluice": "The sluices and locks of the old canal are broken now.",
    "boats": "The boats and horses of the old canal are broken now.",
}
FAR = [f"Nothing of that kind is said on page {number} of the chronicle." for number in range(30)]


def index(directory: Path, pages: dict[str, str]) -> Path:
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in pages.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    return directory


@pytest.fixture(scope="module")
def canals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = {f"best{n}": text for n, text in enumerate(BEST)} | NEXT | {f"far{n}": text for n, text in enumerate(FAR)}
    return index(tmp_path_factory.mktemp("canals"), pages)


def order(directory: Path, query: str, feedback: float = 1.0) -> list[str]:
    values = SearchSettings()
    ranker = Ranker(directory, IndexReader(directory / "index", values), values)
    with patch.object(fixed_weights, "FEEDBACK", feedback):
        return [address.rpartition("/")[2] for address in ranker.urls(parse_question(query).tree, 50)]


def test_what_the_best_pages_share_is_looked_for(canals: Path) -> None:
    """In any of its forms; a page that shares nothing with them stays where it was."""
    shared = order(canals, QUESTION)
    assert shared.index("sluice") < shared.index("boats")
    assert set(shared) == set(order(canals, QUESTION, 0)), "it finds nothing else"
    values = SearchSettings()
    ranker = Ranker(canals, IndexReader(canals / "index", values), values)
    found = ranker.rank(parse_question(QUESTION).tree, 1, explain=True)
    assert "what the best pages share" in found.results[0].match.explanation


def scores(directory: Path, query: str, feedback: float = 1.0, context: QueryContext | None = None) -> list[float]:
    reader = IndexReader(directory / "index", SearchSettings())
    reader.begin(context or QueryContext())
    with patch.object(fixed_weights, "FEEDBACK", feedback):
        return [round(each.score, 5) for each in reader.retrieve(parse_question(query).tree, 50).candidates]


def test_later_candidates_follow_those_before(canals: Path) -> None:
    """Also where they are asked for apart."""
    reader = IndexReader(canals / "index", SearchSettings())
    tree = parse_question(QUESTION).tree
    addresses = [each.page for each in reader.retrieve(tree, 50).candidates]
    assert [each.page for each in reader.retrieve(tree, 50, 5).candidates] == addresses[5:]


def test_where_one_page_is_the_answer_there_is_none(canals: Path, tmp_path: Path) -> None:
    """Nor for few words, for long pages, and for several indexes, whose scores would not be comparable."""
    assert scores(canals, QUESTION) != scores(canals, QUESTION, 0)
    assert scores(canals, "canal water") == scores(canals, "canal water", 0)
    one = index(tmp_path / "one", {"best": BEST[0], **{f"far{n}": f"{text} A canal." for n, text in enumerate(FAR)}})
    assert scores(one, QUESTION) == scores(one, QUESTION, 0)
    long = index(tmp_path / "long", {f"best{n}": text + " Filler and more." * 5_000 for n, text in enumerate(BEST)})
    assert scores(long, QUESTION) == scores(long, QUESTION, 0)
    several = QueryContext(everywhere=WordStatistics(100, {"canals": 12}))
    assert scores(canals, QUESTION, context=several) == scores(canals, QUESTION, 0, several)


def test_words_of_the_question_that_the_best_pages_have_count_more(tmp_path: Path) -> None:
    """Of two pages with one word of it each the one whose word the best pages have, though the other is rarer."""
    pages = {f"best{n}": text for n, text in enumerate(BEST)}
    pages |= {f"far{n}": f"{text} {'Winter' if n < len(BEST) - 2 else ''}" for n, text in enumerate(FAR)}
    pages |= {"level": "Of the old level nothing is left.", "winter": "Of the old winter nothing is left."}
    directory = index(tmp_path, pages)
    for share, first in ((0.0, "winter"), (1.0, "level")):
        names = order(directory, f"{QUESTION} in winter", share)
        assert min(("level", "winter"), key=names.index) == first
