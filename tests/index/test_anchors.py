from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import tantivy

from larm.config import SearchSettings
from larm.errors import StorageError
from larm.index import fixed_weights
from larm.index.anchors import ANCHORS, Pages, disown, made_of, mark_of, opened, renew_anchors, write_anchors
from larm.index.names import open_anchors
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.tree import All, Word
from larm.index.writer import IndexWriter
from larm.kit.threads.progress import Progress
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


def pages(texts: Sequence[tuple[int, Sequence[str]]]) -> Pages:
    return lambda after: [each for each in texts if each[0] > after]


def found(path: Path, text: str, **settings: float) -> list[str]:
    reader = IndexReader(path / "index", SearchSettings(**settings))  # type: ignore[arg-type]
    tree = All(tuple(Word(word) for word in text.split()))
    return [reader.read(each, each.score).url[-1] for each in reader.retrieve(tree, 10).candidates]


def test_a_page_is_found_by_what_others_call_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any form of the word; names of several words as a phrase; pages that are not in the index are none."""
    assert found(path, "Acrobat") == []
    texts = [(1, ["Acrobat", "the acrobat_reader"]), (2, ["click \ud800 here"]), (99, ["acrobats"])]
    write_anchors(path / ANCHORS, pages(texts))
    assert found(path, "acrobats") == ["1"]
    assert found(path, "acrobat_reader") == ["1", "3"]
    assert found(path, "acrobats", anchors=0.0) == []
    monkeypatch.setattr(fixed_weights, "WITHIN_NAMES", 0.0)
    assert found(path, "acrobat_reader") == ["1"]
    assert found(path, "reader_acrobat") == []


def test_it_decides_between_pages_with_the_same_words(path: Path) -> None:
    assert found(path, "reader")[0] == "1"
    write_anchors(path / ANCHORS, pages([(3, ["reader"])]))
    assert found(path, "reader") == ["3", "1"]


def test_readers_see_the_new_index(path: Path) -> None:
    write_anchors(path / ANCHORS, pages([(1, ["old"])]))
    reader = IndexReader(path / "index")
    write_anchors(path / ANCHORS, pages([(2, ["new"])]))
    assert reader.retrieve(Word("old"), 10).total == 1
    reader.reload()
    assert reader.retrieve(Word("old"), 10).total == 0
    assert reader.retrieve(Word("new"), 10).total == 1
    assert sorted(each.name for each in path.iterdir()) == ["anchors", "index"]


def test_damage_is_told(path: Path) -> None:
    assert open_anchors(path / ANCHORS) is None
    write_anchors(path / ANCHORS, pages([]))
    (path / ANCHORS / "meta.json").write_text("{")
    with pytest.raises(StorageError, match="anchors"):
        open_anchors(path / ANCHORS)


class Ended(KeyboardInterrupt):
    """Stands for a kill."""


TEXTS = [(number, [f"text {number}", "all"]) for number in range(1, 51)]


def ended_at(last: int, kept: int, path: Path, patch: pytest.MonkeyPatch, generation: int = 7) -> list[int]:
    """Index TEXTS, but the process ends when it is to read those of a page; the pages that it has read."""
    read: list[int] = []

    def until(after: int) -> Iterator[tuple[int, Sequence[str]]]:
        for page, texts in pages(TEXTS)(after):
            if page == last:
                raise Ended
            read.append(page)
            yield page, texts

    patch.setattr("larm.index.anchors._KEPT", kept)
    with suppress(Ended):
        write_anchors(path / ANCHORS, until, generation)
    return read


def names(path: Path) -> list[int]:
    """The pages of the index, a number for each text."""
    index = opened(path / ANCHORS)
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), limit=1000).hits
    return sorted(int(page or 0) for page in searcher.fast_field_values("page", [address for _, address in hits]))


def test_who_is_ended_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the last commit on, as often as it takes; readers see nothing of it until it is whole."""
    assert ended_at(31, 10, tmp_path, monkeypatch) == list(range(1, 31))
    assert open_anchors(tmp_path / ANCHORS) is None
    assert mark_of(tmp_path / ANCHORS) is made_of(tmp_path / ANCHORS) is None
    assert ended_at(45, 10, tmp_path, monkeypatch) == list(range(31, 45))
    assert ended_at(0, 10, tmp_path, monkeypatch) == list(range(41, 51))
    assert names(tmp_path) == sorted([*range(1, 51), *range(1, 51)])
    assert made_of(tmp_path / ANCHORS) == mark_of(tmp_path / ANCHORS) == 7
    assert [each.name for each in tmp_path.iterdir()] == [ANCHORS]


@pytest.mark.parametrize("damage", ["of another snapshot", "disowned", "cut", "no mark"])
def test_what_can_not_be_gone_on_with_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    ended_at(31, 10, tmp_path, monkeypatch)
    half = tmp_path / f"{ANCHORS}.new"
    if damage == "disowned":
        disown(tmp_path / ANCHORS)
    elif damage == "cut":
        store = next(half.glob("*.store"))
        store.write_bytes(store.read_bytes()[:-3])
    elif damage == "no mark":
        (half / "snapshot").write_bytes(b"")
    generation = 8 if damage == "of another snapshot" else 7
    assert ended_at(0, 10, tmp_path, monkeypatch, generation) == list(range(1, 51))
    assert len(names(tmp_path)) == 100
    assert made_of(tmp_path / ANCHORS) == generation


def test_progress_is_told_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.index.anchors._TOLD", 1)
    told: list[str] = []

    class Told(Progress):
        def to(self, done: int) -> None:
            super().to(done)
            told.append(str(self))

    some = [(number << 59, ["a"]) for number in range(16)]  # fingerprints are spread evenly
    write_anchors(tmp_path / ANCHORS, pages(some), 1, Told(), 16)
    assert told[::5] == [f"texts of links, {done} of 16 pages" for done in (0, 5, 10, 15)]


# -- brought up to date


def entries(path: Path) -> list[tuple[int, str]]:
    """Pages, each with a word by which it is found."""
    index, words = opened(path / ANCHORS), [f"{name}{number}" for name in ("first", "second") for number in range(20)]
    searcher = index.searcher()
    found = []
    for word in words:
        hits = searcher.search(index.parse_query(word, ["anchors"]), limit=100).hits
        pages = searcher.fast_field_values("page", [address for _, address in hits])
        found += [(int(page or 0), word) for page in pages]
    return sorted(found)


def test_only_pages_whose_texts_have_changed_are_written_again(tmp_path: Path) -> None:
    before = [(number, [f"first{number}"]) for number in range(20)]
    write_anchors(tmp_path / ANCHORS, pages(before), 7)
    changes = [(3, ["second3", "first3"]), (4, ["second4"]), (5, []), (99, ["second5"])]
    assert renew_anchors(tmp_path / ANCHORS, changes, 8, Progress())
    assert made_of(tmp_path / ANCHORS) == 8
    write_anchors(tmp_path / "anew" / ANCHORS, pages(sorted((dict(before) | dict(changes)).items())), 8)
    assert entries(tmp_path) == entries(tmp_path / "anew")
    assert (4, "first4") not in entries(tmp_path)


def test_who_is_ended_meanwhile_leaves_what_there_was(tmp_path: Path) -> None:
    write_anchors(tmp_path / ANCHORS, pages([(1, ["first1"])]), 7)

    def changes() -> Iterator[tuple[int, Sequence[str]]]:
        yield 1, ["second1"]
        raise Ended

    with suppress(Ended):
        renew_anchors(tmp_path / ANCHORS, changes(), 8, Progress())
    assert entries(tmp_path) == [(1, "first1")]
    assert made_of(tmp_path / ANCHORS) == 7


def test_an_index_of_which_most_is_gone_is_made_anew(tmp_path: Path) -> None:
    """tantivy leaves what is removed in its place until it merges."""
    write_anchors(tmp_path / ANCHORS, pages([(number, [f"first{number}"]) for number in range(20)]), 7)
    for generation in range(8, 30):
        if not renew_anchors(
            tmp_path / ANCHORS, [(number, [f"second{number}"]) for number in range(9)], generation, Progress()
        ):
            break
        index = opened(tmp_path / ANCHORS)
        assert index.searcher().num_docs == 20
    assert generation > 8
