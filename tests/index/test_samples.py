"""An index that has only the pages with the words of a query ranks them as one of all pages does (`WordStatistics.sample`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.index import fields
from larm.index.page import Page
from larm.index.search.searcher import IndexSearcher
from larm.index.statistics import QueryContext
from larm.index.tree import Word
from larm.index.word_queries import WordQueries
from larm.index.writer import IndexWriter
from larm.model.findings import WordStatistics
from larm.model.url import URLNormalizer

TEXTS = [
    f"Seite{n} " + "Bilder im Text. " * (n % 4 == 0) + "Flächen und Linien. " * (n % 20 == 0) + "os path join " * (n % 50 == 0)
    for n in range(400)
]


def words_of(folder: Path, texts: Sequence[str]) -> WordQueries:
    folder.mkdir()
    writer = IndexWriter(folder / "index", 15_000_000, 1)
    writer.open(None)
    for text in texts:
        url = URLNormalizer().parse(f"http://a.example/{text.split()[0]}")
        writer.add(Page(url, "text/html", "Titel", text, language="de"), replace=False)
    writer.commit()
    writer.close()
    return IndexSearcher(folder, SearchSettings())._reader._retrieval.words


@pytest.mark.parametrize("typed", ["Flächen", "Bilder", "os.path"])
def test_a_word_of_a_sample_is_as_rare_as_among_all(tmp_path: Path, typed: str) -> None:
    whole = words_of(tmp_path / "whole", TEXTS)
    chosen = [text for text in TEXTS if len(text.split()) > 1]
    sample = words_of(tmp_path / "sample", chosen)
    terms = {word: whole.statistics.frequency(fields.MAIN, word) for word in ("flachen", "bilder", "os", "path")}
    assert all(terms.values())
    sample.context = QueryContext(WordStatistics(400, sample=len(chosen), texts=terms))
    ((expected,), (found,)) = (each.seek([Word(typed)]) for each in (whole, sample))
    assert found.weight == pytest.approx(expected.weight, rel=0.01)
