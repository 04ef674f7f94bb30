from __future__ import annotations

from pathlib import Path

import pytest

from larm.errors import StorageError, UsageError
from larm.index.analysis import Analyzer
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.terms import Span
from larm.index.writer import IndexWriter
from larm.model.url import Url


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three pages."""
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
    with pytest.raises(UsageError, match=f"no index in {tmp_path}: .larm crawl URL. makes one"):
        IndexReader(tmp_path / "index")


def test_damaged_columns_of_an_index_never_end_in_a_panic(path: Path) -> None:
    (columns,) = path.glob("*.fast")
    data, refused = columns.read_bytes(), []
    for position in range(0, len(data) - 8, 24):
        columns.unlink()  # the reader before this one has mapped it
        flipped = bytes(byte ^ 0xA5 for byte in data[position : position + 8])
        columns.write_bytes(data[:position] + flipped + data[position + 8 :])
        try:
            IndexReader(path)
        except StorageError as error:
            refused.append(str(error))
    assert refused
    assert all(each.startswith(f"{path}: ") for each in refused)


def test_analysis() -> None:
    """Lower case, no accents, only letters and digits; places are characters of the original."""
    analyzer = Analyzer()
    assert analyzer.words("Café-Straße snake_case C++ 😀 \ud800x İ") == ["cafe", "strasse", "snake", "case", "c", "x", "i"]
    assert analyzer.spans("é Äb 漢字") == [Span("e", 0, 1), Span("ab", 2, 4), Span("漢", 5, 6), Span("字", 6, 7)]
    assert analyzer.words("x" * 64) == []
    assert analyzer.words("") == []
