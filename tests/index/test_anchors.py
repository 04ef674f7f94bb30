from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import Search
from larm.errors import StorageError
from larm.index.anchors import ANCHORS, write_anchors
from larm.index.names import open_anchors
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.tree import All, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url


@pytest.fixture
def path(tmp_path: Path) -> Path:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number, text in enumerate(["a reader of documents", "nothing about it", "a page about a portable reader"], 1):
        url = f"http://a.org/{number}"
        writer.add(Page(Url(url, url, "a.org", number), "text/plain", "", text, language="en"))
    writer.commit()
    writer.close()
    return tmp_path


def found(path: Path, text: str, **settings: float) -> list[str]:
    reader = IndexReader(path / "index", Search(**settings))  # type: ignore[arg-type]
    tree = All(tuple(Word(word) for word in text.split()))
    return [reader.read(each, each.score).url[-1] for each in reader.retrieve(tree, 10).candidates]


def test_a_page_is_found_by_what_others_call_it(path: Path) -> None:
    """In any form of the word; names of several words as a phrase; pages that are not in the index are none."""
    assert found(path, "Acrobat") == []
    write_anchors(path / ANCHORS, [(1, ["Acrobat", "the acrobat_reader"]), (2, ["click \ud800 here"]), (99, ["acrobats"])])
    assert found(path, "acrobats") == ["1"]
    assert found(path, "acrobat_reader", within_names=0.0) == ["1"]
    assert found(path, "reader_acrobat", within_names=0.0) == []
    assert found(path, "acrobat_reader") == ["1", "3"]
    assert found(path, "acrobats", anchors=0.0) == []


def test_it_decides_between_pages_with_the_same_words(path: Path) -> None:
    assert found(path, "reader")[0] == "1"
    write_anchors(path / ANCHORS, [(3, ["reader"])])
    assert found(path, "reader") == ["3", "1"]


def test_readers_see_the_new_index(path: Path) -> None:
    write_anchors(path / ANCHORS, [(1, ["old"])])
    reader = IndexReader(path / "index")
    write_anchors(path / ANCHORS, [(2, ["new"])])
    assert reader.retrieve(Word("old"), 10).total == 1
    reader.reload()
    assert reader.retrieve(Word("old"), 10).total == 0
    assert reader.retrieve(Word("new"), 10).total == 1
    assert sorted(each.name for each in path.iterdir()) == ["anchors", "index"]


def test_damage_is_told(path: Path) -> None:
    assert open_anchors(path / ANCHORS) is None
    write_anchors(path / ANCHORS, [])
    (path / ANCHORS / "meta.json").write_text("{")
    with pytest.raises(StorageError, match="anchors"):
        open_anchors(path / ANCHORS)
