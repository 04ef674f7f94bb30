from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.errors import ConfigError
from larm.index.analysis import Analyzer
from larm.index.page import Page
from larm.index.search.searcher import IndexSearcher
from larm.index.synonyms import read_synonyms
from larm.index.writer import IndexWriter
from tests.store.stored_pages import url

PAGES = {
    "car": "A car stands in the yard.",
    "automobile": "Automobiles stand in the yard.",
    "motor": "A motor car stands in the yard.",
    "boat": "A boat lies in the harbour, its motor is broken.",
    "cafe": "Das Kaffeehaus am Markt.",
}
GROUPS = "\ufeff# ours\n\ncar, automobile , motor car # and so on\nCafé, Kaffeehaus\n"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crawl")
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in PAGES.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    (directory / "same.txt").write_text(GROUPS)
    return directory


def found(directory: Path, query: str, file: str = "same.txt") -> list[str]:
    results = IndexSearcher(directory, SearchSettings(synonyms=file)).search(query)
    assert all(hit.complete for hit in results), "each has the word"
    return [hit.url.rpartition("/")[2] for hit in results]


def test_others_of_the_group_are_found_after_the_word_itself(directory: Path) -> None:
    """In all of their forms, from any of its own, without accents as everything."""
    assert found(directory, "automobile")[0] == "automobile"
    assert set(found(directory, "automobile")) == {"automobile", "car", "motor"}
    assert "automobile" in found(directory, "cars")
    assert found(directory, "CAFE") == ["cafe"]
    assert found(directory, "automobile", "") == ["automobile"]
    assert found(directory, "motor", "same.txt") == found(directory, "motor", ""), "half of a phrase is not in the group"


def test_they_are_marked(directory: Path) -> None:
    hits = IndexSearcher(directory, SearchSettings(synonyms=str(directory / "same.txt"))).search("automobile").hits
    assert any("<mark>car</mark>" in hit.html for hit in hits)


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"car, van\ncar\n", "line 2"), (b"car, ,", "line 1"), (b"\xff\xfe", "UTF-8"), (b"a," * 99 + b"b", "line 1")],
)
def test_a_file_that_is_none(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / "same.txt").write_bytes(text)
    with pytest.raises(ConfigError, match=rf"search\.synonyms: .*same\.txt.*{said}"):
        read_synonyms(tmp_path / "same.txt", Analyzer())
    with pytest.raises(ConfigError, match="No such file"):
        read_synonyms(tmp_path / "other.txt", Analyzer())
