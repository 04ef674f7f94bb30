"""All that counts is looked at in few pages, and the best are the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from larm.config import SearchSettings
from larm.index import retrieval, rough
from larm.index.anchors import ANCHORS, write_anchors
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.retrieval import Retrieved
from larm.index.rough import Asked, Hit, Rough
from larm.index.search.query import parse_question
from larm.index.tree import Node, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url

WORDS = ("apple", "grape", "lemon", "melon")
WORDED = [*WORDS, *map(" ".join, permutations(WORDS, 2)), *map(" ".join, permutations(WORDS[:3], 3))]
QUERIES = [
    *WORDED,
    "apple grape lemon melon",
    "apple grape site:b",
    "melon apple -lemon",
    "grape nowhere",
    "the apple",
    'lemon melon "apple"',
]


@pytest.fixture(scope="module", params=[0, 100])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages that have most of the words; a few also have them in their title and description, in another form or in links to
    them, and some may be deleted."""
    path, choose = tmp_path_factory.mktemp("rough") / "index", Random(1)
    writer = IndexWriter(path, 30_000_000, 1)
    writer.open(None)
    for number in range(900):
        words = choose.choices(WORDS, (9, 5, 2, 1), k=choose.randrange(2, 30)) + choose.choices(("pear", "fig", "the"), k=40)
        words += choose.choices(("apples", "lemons"), k=9) if not number % 90 else []
        choose.shuffle(words)
        title = " ".join(choose.sample(WORDS, 2)) if not number % 40 else f"page {number}"
        url = Url(f"http://{'ab'[number % 2]}/{number}", f"http://h/{number}", "ab"[number % 2], number + 1)
        meta, description = meta_words(url, "text/html"), title if not number % 70 else ""
        page = Page(url, "text/html", title, " ".join(words), description=description, meta=meta, digest=number + 1)
        writer.add(page, replace=False)
        if not number % 300:
            writer.commit()
    writer.commit()
    for number in range(0, request.param, 3):
        writer.delete(f"http://h/{number}")
    writer.commit()
    writer.close()
    texts = [(1 + 9 * number, [WORDS[number % 4]]) for number in range(40)]
    write_anchors(path.with_name(ANCHORS), lambda after: [each for each in texts if each[0] > after])
    return path


def retrieved(index: Path, text: str, limit: int, offset: int = 0) -> Retrieved:
    node: Node | None = parse_question(text).tree
    return IndexReader(index, SearchSettings()).retrieve(node, limit, offset)


def told(found: Retrieved) -> list[float]:
    pages, scores = [each.page for each in found.candidates], [each.score for each in found.candidates]
    return [found.total, found.complete, *(page for page in pages if page in found.having_all), *pages, *scores]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each rough look has found the best."""
    found: list[bool] = []

    class Watched(Rough):
        def best(self, asked: Asked, limit: int) -> tuple[Sequence[Hit], int, int] | None:
            best = super().best(asked, limit)
            found.append(best is not None)
            return best

    monkeypatch.setattr(retrieval, "Rough", Watched)
    return found


@pytest.mark.parametrize(("nearly", "few"), [(300, 1_000), (5, 1_000), (300, 2)])
def test_the_best_are_those_of_a_look_at_all(
    nearly: int, few: int, index: Path, monkeypatch: pytest.MonkeyPatch, looks: list[bool]
) -> None:
    asked = [(words, limit, offset) for words in QUERIES for limit, offset in ((1, 0), (5, 0), (20, 0), (5, 20))]
    plain = {each: pytest.approx(told(retrieved(index, *each)), rel=1e-5) for each in asked}
    assert not looks, "the index has few pages"
    monkeypatch.setattr(rough, "_NEARLY", nearly)
    monkeypatch.setattr(rough, "_STEP", 20)
    monkeypatch.setattr(rough, "_FEW", few)
    monkeypatch.setattr(retrieval, "_MANY", 100)
    monkeypatch.setattr(retrieval, "_OFTEN", 50)
    for each in asked:
        assert told(retrieved(index, *each)) == plain[each], each
    assert len(looks) > len(asked) * 0.8
    assert all(looks) if nearly + few == 1_300 else 0 < sum(looks) < len(looks) if few > 2 else not any(looks)


def test_who_wants_none_gets_the_figures_of_who_wants_one(
    index: Path, monkeypatch: pytest.MonkeyPatch, looks: list[bool]
) -> None:
    """tantivy takes no limit of 0, which was told as a damaged index."""
    monkeypatch.setattr(retrieval, "_OFTEN", 50)
    assert told(retrieved(index, "apple grape", 0)) == told(retrieved(index, "apple grape", 1))
    assert looks == [True, True]


def test_a_word_that_is_a_phrase_too_is_counted_right_and_hides_nothing_by_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: list[bool]
) -> None:
    """GridView is ``grid view`` as well: all pages have both of these words, and hardly any the phrase, or the name."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number in range(300):
        name = {0: " gridview", 50: " pagesize"}.get(number % 100, "")
        url = Url(f"http://h/{number}", f"http://h/{number}", "h", number + 1)
        text, meta = "view x grid size y page" + name, meta_words(url, "text/html")
        writer.add(Page(url, "text/html", "", text, meta=meta, digest=number + 1), replace=False)
    writer.commit()
    writer.close()
    monkeypatch.setattr(retrieval, "_OFTEN", 50)
    found = retrieved(tmp_path / "index", "GridView PageSize", 5)
    assert (found.complete, found.total) == (0, 6)
    newest = IndexReader(tmp_path / "index", SearchSettings())._retrieval.newest(found, 5)
    assert len(newest.candidates) == 5, "no page has both: those with one are shown"
    assert not looks, "few pages have them"


def test_no_page_gets_more_for_nearness_than_is_reckoned_with(index: Path) -> None:
    reader = IndexReader(index, SearchSettings())
    words = reader._retrieval.words
    for pair in permutations(WORDS, 2):
        for near in words.near(words.seek([*map(Word, pair)])):
            best = words.statistics.searcher.search(near.query, limit=1).hits
            assert not best or 0 < best[0][0] < near.most


def test_pages_that_are_deleted_change_no_order(tmp_path: Path) -> None:
    """tantivy reckons with them until a merge: in the number of pages as in those that have a word."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number in range(300):
        url = Url(f"http://h/{number}", f"http://h/{number}", "h", number + 1)
        text = "apple pear" if number == 299 else "plum pear" if number >= 200 else "apple grape apple grape lemon"
        writer.add(Page(url, "text/html", "", text, meta=meta_words(url, "text/html"), digest=number + 1), replace=False)
    writer.commit()
    for number in range(150):
        writer.delete(f"http://h/{number}")
    writer.commit()
    writer.close()
    reader = IndexReader(tmp_path / "index", SearchSettings())
    words = reader._retrieval.words
    [near] = words.near(words.seek([Word("apple"), Word("grape")]))
    [(score, _)] = words.statistics.searcher.search(near.query, limit=1).hits
    assert score < near.most
    for each in ("apple", "pear", "grape"):
        [(score, _)] = words.statistics.searcher.search(words.seek([Word(each)])[0].query, limit=1).hits
        assert score < 5, each
