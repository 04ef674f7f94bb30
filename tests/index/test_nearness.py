"""Who stands near whom is looked up for few pages, and the best are the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
import tantivy

from larm.config import Search
from larm.index import nearness
from larm.index import schema as schema_of
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.retrieval import Retrieved
from larm.index.tree import All, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url

WORDS = ("apple", "grape", "lemon", "melon")
QUERIES = [*permutations(WORDS, 2), *permutations(WORDS[:3], 3), ("apple", "grape", "lemon", "melon")]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages that have most of the words; a few are called so as well, so that they are far above the others."""
    path, choose = tmp_path_factory.mktemp("nearness") / "index", Random(1)
    writer = IndexWriter(path, 30_000_000, 1)
    writer.open(None)
    for number in range(900):
        words = choose.choices(WORDS, (9, 5, 2, 1), k=choose.randrange(2, 30)) + choose.choices(("pear", "fig", "plum"), k=40)
        choose.shuffle(words)
        title = " ".join(choose.sample(WORDS, 2)) if not number % 40 else f"page {number}"
        url = Url(f"http://h/{number}", f"http://h/{number}", "h", number + 1)
        writer.add(Page(url, "text/html", title, " ".join(words), digest=number + 1), replace=False)
        if not number % 300:
            writer.commit()
    writer.commit()
    writer.close()
    return path


def retrieved(index: Path, words: Sequence[str], limit: int) -> Retrieved:
    return IndexReader(index, Search()).retrieve(All(tuple(map(Word, words))), limit)


def told(found: Retrieved) -> list[float]:
    pages, scores = [each.page for each in found.candidates], [each.score for each in found.candidates]
    return [found.total, found.complete, *pages, *scores]


def test_the_best_are_those_of_a_look_at_all(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(words, limit) for words in QUERIES for limit in (1, 5, 20)]
    plain = {each: pytest.approx(told(retrieved(index, *each)), rel=1e-5) for each in asked}
    looks: list[int] = []

    def these(schema: tantivy.Schema, pages: Iterable[int]) -> tantivy.Query:
        found = list(pages)
        looks.append(len(found))
        return schema_of.these(schema, found)

    monkeypatch.setattr(nearness, "these", these)
    monkeypatch.setattr(nearness, "_NEARLY", 200)
    assert told(retrieved(index, *asked[0])) == plain[asked[0]]
    assert not looks, "the index has few pages"
    monkeypatch.setattr(nearness, "_OFTEN", 50)
    for each in asked:
        assert told(retrieved(index, *each)) == plain[each], each
    assert len(looks) > len(asked) / 2
    assert max(looks) < 220


def test_no_page_gets_more_for_nearness_than_is_reckoned_with(index: Path) -> None:
    reader = IndexReader(index, Search())
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
    reader = IndexReader(tmp_path / "index", Search())
    words = reader._retrieval.words
    [near] = words.near(words.seek([Word("apple"), Word("grape")]))
    [(score, _)] = words.statistics.searcher.search(near.query, limit=1).hits
    assert score < near.most
    for each in ("apple", "pear", "grape"):
        [(score, _)] = words.statistics.searcher.search(words.seek([Word(each)])[0].query, limit=1).hits
        assert score < 5, each
