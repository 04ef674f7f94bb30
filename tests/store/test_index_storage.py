from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from larm import config
from larm.errors import StorageError
from larm.index import fields, schema
from larm.index.reader import IndexReader
from larm.kit.units import ByteSize
from larm.model.cuts import cut_text
from larm.model.document import Visit
from larm.model.links import Links
from larm.model.message import START
from larm.seams import Storage
from larm.store.index import IndexStorage, asked_of_robots
from larm.store.log import LogStorage
from larm.store.reader import StoreLog
from larm.testing.clock import FakeClock
from tests.index.raw import pages_with
from tests.store.stored_pages import link, page, url

SETTINGS = config.IndexSettings(text_size=ByteSize(40))
VISITS = [
    Visit(START, Links.of([link("http://a.org/")])),
    page("http://a.org/", "Home", "welcome here"),
    page("http://a.org/logo.png", mime="image/png", body=b"PNG"),
    Visit("http://a.org/old", url=url("http://a.org/old"), status=302),
    page("http://a.org/empty"),
]


def opened(directory: Path, position: dict[str, Any] | None = None) -> IndexStorage:
    storage = IndexStorage(directory, SETTINGS)
    storage.open(position)
    return storage


def urls(directory: Path, *words: str) -> list[str]:
    return pages_with(directory / "index", *([word] for word in words), within=("main", "url_words"))


def test_every_stored_document_is_indexed(tmp_path: Path) -> None:
    """As many documents as rows of store.log, whatever their type (LARM-88: url and mimetype are always there)."""
    storages: list[Storage] = [opened(tmp_path), LogStorage(tmp_path, config.LogSettings(), FakeClock())]
    storages[1].open(None)
    for storage in storages:
        storage.store(VISITS)
        storage.commit()
        storage.close()
    assert IndexReader(tmp_path / "index").documents == len(list(StoreLog(tmp_path))) == 3
    reader = IndexReader(tmp_path / "index")
    kinds = {match.url: match.mime for match in (reader.read(each, 0.0) for each in reader.every())}
    assert pages_with(tmp_path / "index", ["png"], within=["url_words"]) == ["http://a.org/logo.png"]
    assert kinds["http://a.org/logo.png"] == "image/png"


def test_pages_that_ask_not_to_be_indexed_or_are_gone_are_removed(tmp_path: Path) -> None:
    """A second crawl: one page now says noindex, one is to be forgotten; one answered 404 just once, one 503, one untouched."""
    storage = opened(tmp_path)
    names = ["noindex", "gone", "missing", "busy", "same"]
    storage.store([page(f"http://a.org/{name}", text="word") for name in names])
    position = dict(storage.commit())
    storage.close()
    storage = opened(tmp_path, position)
    storage.store([page("http://a.org/noindex", text="word", index=False)])
    statuses = {"missing": 404, "busy": 503}
    storage.store([Visit(name, url=url(f"http://a.org/{name}"), status=status) for name, status in statuses.items()])
    storage.store([Visit("gone", url=url("http://a.org/gone"), status=404, gone=True)])
    storage.commit()
    storage.close()
    assert urls(tmp_path, "word") == ["http://a.org/busy", "http://a.org/missing", "http://a.org/same"]


def test_a_crash_between_index_and_checkpoint_leaves_no_page_twice(tmp_path: Path) -> None:
    """The index is one commit ahead of the checkpoint: the fetches of that tick are repeated, nothing is there twice."""
    storage = opened(tmp_path)
    storage.store([page("http://a.org/1", text="word")])
    position = dict(storage.commit())
    storage.store([page("http://a.org/2", text="word")])
    storage.commit()  # the checkpoint that would have noted this was never written
    storage.store([page("http://a.org/3", text="word")])
    storage.close()
    storage = opened(tmp_path, position)
    assert urls(tmp_path, "word") == ["http://a.org/1"]
    storage.store([page("http://a.org/3", text="word"), page("http://a.org/2", text="word")])
    assert storage.commit() == {"generation": 2}
    storage.close()
    assert urls(tmp_path, "word") == [f"http://a.org/{n}" for n in (1, 2, 3)]


def waits(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "cachingqueue").glob("pending-*"))


def test_a_slow_crawl_commits_when_its_oldest_page_has_waited_for_half_a_minute(tmp_path: Path) -> None:
    clock = FakeClock(100.0)
    storage = IndexStorage(tmp_path, SETTINGS, clock)
    storage.open(None)
    seen, positions = [], []
    for number in range(1, 7):
        storage.store([page(f"http://a.org/{number}", text="word")])
        positions.append(dict(storage.checkpoint()))
        seen.append(len(urls(tmp_path, "word")))
        clock.advance(10.0)
    assert seen == [1, 1, 1, 1, 5, 5], "the first one at once: till then nothing is found"
    assert [position["generation"] for position in positions] == [1, 1, 1, 1, 2, 2]
    assert ["pending" in position for position in positions] == [False, True, True, True, False, True]
    assert dict(storage.checkpoint()) == positions[-1] == dict(storage.checkpoint()), "that there is nothing new is not written"
    assert dict(storage.commit()) == {"generation": 3}
    storage.close()
    assert len(urls(tmp_path, "word")) == 6


@pytest.mark.parametrize(("pages", "text"), [(3, "word"), (2, "word " + "x" * 5_000_000)])
def test_many_pages_and_large_ones_do_not_wait(tmp_path: Path, pages: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.store.index.COMMIT_PAGES", 3)
    storage = IndexStorage(tmp_path, config.IndexSettings(text_size=ByteSize(9_000_000)), FakeClock(100.0))
    storage.open(None)
    storage.store([page("http://a.org/0", text="word")])
    storage.checkpoint()
    storage.store([page(f"http://a.org/{number}", text=text) for number in range(1, pages)])
    assert storage.checkpoint().get("pending")
    storage.store([page(f"http://a.org/{pages}", text=text)])
    assert dict(storage.checkpoint()) == {"generation": 2}
    storage.close()
    assert len(urls(tmp_path, "word")) == pages + 1


def pending(directory: Path) -> dict[str, Any]:
    """Three pages in the index; the checkpoint also knows of one that is new, one that has changed, and one that is gone."""
    storage = opened(directory)
    storage.store([page(f"http://a.org/{name}", text="word") for name in ("same", "changed", "gone")])
    storage.checkpoint()
    storage.store([page("http://a.org/new", text="word \ud800")])
    storage.checkpoint()
    storage.store([msgspec.structs.replace(page("http://a.org/changed", text="other"), revisited=True)])
    storage.store([Visit("gone", url=url("http://a.org/gone"), status=404, gone=True)])
    position = dict(storage.checkpoint())
    assert position.keys() == {"generation", "pending"}
    assert len(urls(directory, "word")) == 3
    storage.store([page("http://a.org/late", text="word")])
    storage.commit()  # no checkpoint knows of it
    storage.store([page("http://a.org/later", text="word")])
    storage.close()
    return position


def test_what_a_killed_process_had_not_committed_is_told_again(tmp_path: Path) -> None:
    position = pending(tmp_path)
    for _ in range(2):  # the second one is killed again, after its first commit, which no checkpoint knows either
        storage = opened(tmp_path, position)
        assert urls(tmp_path, "word") == [f"http://a.org/{name}" for name in ("changed", "gone", "same")]
        assert dict(storage.checkpoint()) == {"generation": 2}, "it has waited long enough"
        assert urls(tmp_path, "word") == ["http://a.org/new", "http://a.org/same"]
        assert urls(tmp_path, "other") == ["http://a.org/changed"]
        storage.close()
    assert waits(tmp_path) == ["pending-1"]
    opened(tmp_path, {"generation": 2}).close()
    assert waits(tmp_path) == []
    assert urls(tmp_path, "word") == ["http://a.org/new", "http://a.org/same"]


@pytest.mark.parametrize("damage", ["cut", "removed", "zeros", "flipped"])
def test_damage_of_what_waits_is_refused(tmp_path: Path, damage: str) -> None:
    position = pending(tmp_path)
    path = tmp_path / "cachingqueue" / "pending-1"
    data = bytearray(path.read_bytes())
    if damage == "removed":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(data[: position["pending"] - 1])
    else:
        data[30:40] = bytes(10) if damage == "zeros" else bytes(255 - byte for byte in data[30:40])
        path.write_bytes(data)
    with pytest.raises(StorageError, match="pending-1"):
        opened(tmp_path, position)


def test_text_is_cut(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    storage.store([page("http://a.org/", text="early " + "x " * 20 + "late")])
    storage.commit()
    storage.close()
    assert urls(tmp_path, "early") == ["http://a.org/"]
    assert urls(tmp_path, "late") == []


def test_cut_counts_bytes_and_keeps_whole_characters() -> None:
    assert cut_text("abc", 3) == "abc"
    assert cut_text("abcd", 3) == "abc"
    assert cut_text("äöü", 5) == "äö"
    assert cut_text("äöü", 6) == "äöü"
    assert cut_text("漢" * 10, 29) == "漢" * 9


def test_text_is_cut_where_it_has_more_different_words_than_anybody_needs() -> None:
    """Four pages of only such words cost a crawl 600 MB and 19 s."""
    some, many = (",".join(f"w{number:x}" for number in range(count)) for count in (40_000, 200_000))
    assert cut_text(some * 10, 5_000_000) == some * 10
    assert 200_000 < len(cut_text(many, 5_000_000)) < 400_000
    assert cut_text(many, 30_000_000) == many
    signs = "".join(chr(0x4E00 + number * number % 20_000) for number in range(1_000_000))
    assert cut_text(signs, 3_000_000) is signs, "there are no spaces between words"


@pytest.mark.parametrize("position", [{}, {"generation": -1}, {"generation": "x"}])
def test_a_damaged_position_is_refused(tmp_path: Path, position: dict[str, Any]) -> None:
    with pytest.raises(StorageError, match="damaged"):
        opened(tmp_path, position)


def test_a_page_gets_its_meta_words(tmp_path: Path) -> None:
    """What is known of it besides its text can be asked for."""
    storage = IndexStorage(tmp_path, config.IndexSettings(), FakeClock(1_714_521_600.0))
    storage.open(None)
    storage.store([page("http://www.a.org/docs/x.pdf", "T", "text", b"x" * 6000, mime="application/pdf")])
    storage.commit()
    storage.close()
    index = schema.open_index(tmp_path / "index")
    words = {word for word, _ in index.searcher().terms_with_prefix(fields.META, "")}
    assert {"site:a.org", "cld:a.org", "path:/docs", "filetype:pdf", "size:5000", "code:200", "date:2024-05-01"} <= words
    assert not [word for word in words if word.startswith(("modified:", "lang:", "robot:"))]
    plain = page("http://a.org/").document
    assert plain is not None
    assert asked_of_robots(plain) == ()
    asking = msgspec.structs.replace(plain, follow=False, archive=False, snippet=0)
    assert asked_of_robots(asking) == ("nofollow", "noarchive", "nosnippet")
