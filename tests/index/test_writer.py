from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from larm.errors import StorageError, UsageError
from larm.index.analysis import Analyzer
from larm.index.failure import IndexFailure
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.schema import open_index
from larm.index.terms import composed
from larm.index.tree import Word
from larm.index.writer import IndexWriter
from larm.model.url import Url
from tests.index.raw import pages_with


def opened(path: Path, generation: int | None = None) -> IndexWriter:
    writer = IndexWriter(path, 15_000_000, 1)
    writer.open(generation)
    return writer


def add(writer: IndexWriter, name: str, text: str = "word", title: str = "") -> None:
    writer.add(Page(Url(f"http://www.a.org/{name}", f"http://a.org/{name.lower()}", "a.org", 1), "text/html", title, text))


def found(path: Path, word: str = "word") -> list[str]:
    return [url[17:] for url in pages_with(path, [word])]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index"


def test_a_page_replaces_the_one_with_its_normalised_url(path: Path) -> None:
    """Within a commit and over commits."""
    writer = opened(path)
    add(writer, "A", "first")
    add(writer, "a", "second")
    assert writer.commit() == 1
    assert (found(path, "first"), found(path, "second")) == ([], ["a"])
    add(writer, "A", "third")
    add(writer, "b", "third")
    assert writer.commit() == 2
    assert (found(path, "second"), found(path, "third")) == ([], ["A", "b"])
    writer.delete("http://a.org/a")
    writer.delete("http://a.org/absent")
    assert writer.commit() == 3
    assert found(path, "third") == ["b"]
    writer.close()


@pytest.mark.parametrize(
    "heading", ["Größe “quoted” Привет", "中文网页 with Latin", "ภาษาไทย", "cafe\u0301 x\ud800y", "Ελλάδα हिन्दी", "1st"]
)
def test_headings_and_addresses_in_any_script_are_found_by_their_words(path: Path, heading: str) -> None:
    """As `Analyzer` has them, which splits what is sought; in their order."""
    words = Analyzer().words(composed(heading))
    writer = opened(path)
    address = "http://a.org/" + quote(heading, errors="replace")
    writer.add(Page(Url(address, address, "a.org", 1), "text/html", "", "", headings=("First", heading)))
    writer.commit()
    assert words
    for field in ("headings", "url_words"):
        for sought in (*[(word,) for word in words], tuple(words)):
            assert pages_with(path, sought, within=[field]) == [address], (field, sought)
    writer.close()


def test_only_a_commit_shows_anything(path: Path) -> None:
    """Nothing before it; nothing of what was not committed at the end."""
    writer = opened(path)
    add(writer, "b")
    assert found(path) == []
    assert writer.commit() == 1
    assert writer.commit() == 1  # nothing to do
    add(writer, "c")
    writer.close()
    assert found(path) == ["b"]


def test_going_on_removes_what_the_checkpoint_does_not_know(path: Path) -> None:
    writer = opened(path)
    for generation in range(1, 6):
        add(writer, f"g{generation}")
        assert writer.commit() == generation
    writer.close()
    writer = opened(path, 3)
    assert found(path) == ["g1", "g2", "g3"]
    add(writer, "again")
    assert writer.commit() == 4
    writer.close()
    opened(path, 4).close()
    assert found(path) == ["again", "g1", "g2", "g3"]
    opened(path, 0).close()
    assert found(path) == []


def test_a_commit_that_was_cut_short_does_not_stand_in_the_way_of_the_next(path: Path) -> None:
    """Killed between the list of deleted documents and the file that speaks of it."""
    writer = opened(path)
    for name in "abc":
        add(writer, name)
    assert writer.commit() == 1
    writer.close()
    before = (path / "meta.json").read_bytes()
    for _ in range(2):
        (path / "meta.json").write_bytes(before)
        writer = opened(path, 1)
        writer.delete("http://a.org/a")
        assert writer.commit() == 2
        writer.close()
        assert found(path) == ["b", "c"]
    opened(path, 2).close()
    assert found(path) == ["b", "c"], "what counts is still there"


def test_a_new_crawl_removes_the_old_index(path: Path) -> None:
    writer = opened(path)
    add(writer, "old")
    writer.commit()
    writer.close()
    writer = opened(path)
    assert found(path) == []
    writer.close()
    assert [file.name for file in path.parent.iterdir()] == ["index"]


def test_a_directory_of_somebody_else_is_not_removed(path: Path) -> None:
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")
    with pytest.raises(StorageError, match=r"thesis\.txt.*move it elsewhere"):
        opened(path)
    assert (path / "thesis.txt").exists()


def test_what_a_crash_left_of_an_index_can_be_removed(path: Path) -> None:
    """Without meta.json it is no index any more, but still nobody else's directory."""
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    writer.close()
    (path / "meta.json").unlink()
    opened(path).close()
    assert found(path) == []


def test_a_lost_index_is_noticed(path: Path) -> None:
    with pytest.raises(StorageError, match="there is none"):
        opened(path, 3)


def test_a_second_writer_is_refused(path: Path) -> None:
    writer = opened(path)
    writer.commit()
    with pytest.raises(StorageError, match="another process"):
        opened(path, 0)
    writer.close()
    opened(path, 0).close()


@pytest.mark.parametrize("name", ["meta.json", "store", "term"])
def test_a_damaged_index_is_refused(path: Path, name: str) -> None:
    """By the reader and by a crawl that goes on; the message names the directory and a way out."""
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    writer.close()
    for file in path.glob("*" + name):
        file.write_bytes(b"{ nonsense" * 20)
    with pytest.raises(StorageError, match=r"index.*larm repair"):
        IndexReader(path).read(IndexReader(path).every()[0], 0.0)
    with pytest.raises(StorageError, match=r"index.*larm repair"):
        opened(path, 1)


def test_an_index_of_another_version_is_refused(path: Path) -> None:
    writer = opened(path)
    writer.commit()
    writer.close()
    meta = path / "meta.json"
    meta.write_text(meta.read_text().replace("url_words", "url_terms"))
    with pytest.raises(StorageError, match="another version"):
        opened(path, 0)
    with pytest.raises(StorageError, match="another version"):
        IndexReader(path)


def test_an_index_that_vanishes_is_a_storage_error(path: Path) -> None:
    """tantivy loses its worker or its files; whatever it says, we say StorageError."""
    writer = opened(path)
    add(writer, "a")
    path.rename(path.with_name("elsewhere"))
    with pytest.raises(StorageError, match="index"):
        writer.commit()
    writer.close()


def test_panics_and_interrupts(tmp_path: Path) -> None:
    """A panic of tantivy is no Exception and still becomes a StorageError; Ctrl-C stays what it is."""

    class PanicException(BaseException):
        pass

    with pytest.raises(StorageError, match="assertion failed"), IndexFailure(tmp_path):
        raise PanicException("assertion failed")
    with pytest.raises(KeyboardInterrupt), IndexFailure(tmp_path):
        raise KeyboardInterrupt
    with pytest.raises(UsageError, match="as it was"), IndexFailure(tmp_path):
        raise UsageError("as it was")


def test_odd_texts(path: Path) -> None:
    """Lone surrogates, NUL, a URL longer than a term of tantivy can be: indexed once all the same."""
    writer = opened(path)
    for _ in range(2):
        add(writer, "odd", "\ud800 word \x00", "\udfff")
        add(writer, "long" * 20_000)
    writer.commit()
    assert len(found(path)) == 2
    writer.delete("http://a.org/" + "long" * 20_000)
    writer.commit()
    assert found(path) == ["odd"]
    writer.close()


def test_many_commits_leave_few_segments(path: Path) -> None:
    """A crawl commits every five seconds: merges keep up."""
    writer = opened(path)
    for number in range(40):
        add(writer, f"p{number}")
        writer.commit()
    writer.close()
    reader = IndexReader(path)
    assert reader.documents == 40
    assert open_index(path).searcher().num_segments < 20


def test_calls_without_open_are_refused(path: Path) -> None:
    writer = IndexWriter(path, 15_000_000, 1)
    with pytest.raises(StorageError, match="not opened"):
        writer.commit()
    writer.close()
    assert "closed" in repr(writer)


@pytest.mark.parametrize(("free", "said"), [(4_096, "the disk is full; make room"), (10**9, "check for room on its disk")])
def test_where_the_reason_is_hidden_the_room_on_the_disk_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    with pytest.raises(StorageError, match=said), IndexFailure(tmp_path):
        raise ValueError(
            "An index writer was killed. A worker thread encountered an error (io::Error most likely) or panicked."
        )


def test_sections_are_stored(path: Path) -> None:
    writer = opened(path, None)
    writer.add(Page(Url("http://a.org/", "http://a.org/", "a.org", 1), "text/html", "", "Ebb", sections="low\tEbb"))
    writer.commit()
    writer.close()
    reader = IndexReader(path)
    assert [reader.read(each, 0.0).sections for each in reader.retrieve(Word("ebb"), 9).candidates] == ["low\tEbb"]
