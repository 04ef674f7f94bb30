"""The link graph from visits to what a reader says of them."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from larm.errors import StorageError
from larm.graph.block import BlockBuilder
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.reader import GraphReader, open_graph
from larm.index.anchors import ANCHORS, opened, write_anchors
from larm.index.integrity import check_files
from larm.index.names import open_anchors
from larm.model.document import Visit
from larm.model.links import Links
from larm.store.graph import GraphStorage
from larm.testing.clock import FakeClock
from tests.graph.anchors import anchors
from tests.graph.webs import address, fingerprint, gone, moved, page, stored
from tests.support.faults import FaultyDisk

WEB = (
    page("a", {"b": "about B", "c": "C", "a": "myself"}),
    page("b", {"c": "see C"}),
    page("c", {"a": "home"}),
    page("d", {"c": "C", "e": "nobody was there"}),
)


def graph(directory: Path) -> GraphReader:
    found = open_graph(directory / "graph")
    assert found is not None
    return found


def test_who_links_where_and_with_which_words(tmp_path: Path) -> None:
    stored(tmp_path, *WEB)
    found = graph(tmp_path)
    assert (found.pages, found.nodes, found.links, found.dangling) == (4, 5, 7, 0)
    assert found.in_degree(fingerprint("c")) == 3
    assert found.in_degree(fingerprint("a")) == 1  # from c; the link to itself does not count
    assert anchors(found, fingerprint("c")) == [("C", 2), ("see C", 1)]
    assert sorted(found.in_links(fingerprint("c"))) == [address(name) for name in "abd"]
    assert [(each.fingerprint, each.text) for each in found.out_links(fingerprint("b"))] == [(fingerprint("c"), "see C")]
    assert found.out_links(fingerprint("e")) == []
    assert dict(found.all_texts()).keys() == {fingerprint(name) for name in "abc"}


def test_ranks_are_those_of_the_textbook(tmp_path: Path) -> None:
    """a -> b, c; b -> c; c -> a; d -> c: solved by hand to four places."""
    stored(tmp_path, page("a", "bc"), page("b", "c"), page("c", "a"), page("d", "c"))
    found = graph(tmp_path)
    ranks = [found.rank(fingerprint(name)) / 4 for name in "abcd"]
    assert ranks == pytest.approx([0.3725, 0.1958, 0.3941, 0.0375], abs=2e-4)
    assert [url for url, _ in found.top(4)] == [address(name) for name in "cabd"]
    assert found.rank(fingerprint("unknown")) == 0.0


def test_several_links_to_a_page_count_once_but_all_their_words_are_kept(tmp_path: Path) -> None:
    index = page("a", {"b": "append"})
    twice = Links.of([*index.links, *page("a", {"b": "extend"}).links])
    stored(tmp_path, Visit(index.page, twice, index.url, status=200, document=index.document))
    found = graph(tmp_path)
    assert found.links == found.in_degree(fingerprint("b")) == 1
    assert {text for text, _ in anchors(found, fingerprint("b"))} == {"append", "extend"}


def test_nofollow_and_embedded_links_are_none(tmp_path: Path) -> None:
    stored(tmp_path, page("a", "b", follow=False))
    assert graph(tmp_path).nodes == 1


def test_a_redirect_is_another_name_of_its_target(tmp_path: Path) -> None:
    stored(tmp_path, page("a", {"old": "the manual"}), moved("old", "older"), moved("older", "new"), page("new", "a"))
    found = graph(tmp_path)
    assert (found.pages, found.nodes) == (2, 2)
    assert found.rank(fingerprint("old")) == found.rank(fingerprint("new")) > 0
    assert [text for text, _ in anchors(found, fingerprint("new"))] == ["the manual"]


def test_redirects_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    stored(tmp_path, page("a", "b"), moved("b", "c"), moved("c", "b"), moved("d", "d"))
    assert graph(tmp_path).pages == 1


def test_a_revisit_replaces_a_page_and_takes_out_what_is_gone(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    stored(tmp_path, page("a", {"e": "news"}), gone("d"), position=position)
    found = graph(tmp_path)
    assert [(each.fingerprint, each.text) for each in found.out_links(fingerprint("a"))] == [(fingerprint("e"), "news")]
    assert found.in_links(fingerprint("e")) == [address("a")]
    assert (found.pages, found.nodes) == (3, 4)
    assert found.in_links(fingerprint("b")) == []


def test_what_was_written_after_the_checkpoint_is_undone(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB[:2])
    before = (tmp_path / "graph" / JOURNAL).read_bytes()
    stored(tmp_path, *WEB[2:], position=position)
    storage = GraphStorage(tmp_path, FakeClock())
    storage.open(position)
    assert open_graph(tmp_path / "graph") is None  # it had seen too much
    storage.commit()
    storage.close()
    assert (tmp_path / "graph" / JOURNAL).read_bytes() == before
    assert graph(tmp_path).pages == 2


def test_a_new_crawl_begins_anew(tmp_path: Path) -> None:
    stored(tmp_path, *WEB)
    stored(tmp_path, page("z"), position=None)
    assert graph(tmp_path).nodes == 1


def test_the_snapshot_follows_the_crawl(tmp_path: Path) -> None:
    """In commits: after five seconds, when the journal has grown by half."""
    clock = FakeClock()
    storage = GraphStorage(tmp_path, clock)
    storage.open(None)
    seen = []
    for number in range(8):
        storage.store([page(f"a.org/{number}", [f"a.org/{number + 1}"])])
        storage.commit()
        found = open_graph(tmp_path / "graph")
        seen.append(found.pages if found else 0)
        clock.advance(3)
    storage.close()
    assert seen == [0, 0, 3, 3, 5, 5, 5, 8]
    assert graph(tmp_path).pages == 8


def test_texts_of_links_can_be_searched_whenever_the_last_snapshot_was_made(tmp_path: Path) -> None:
    clock = FakeClock()
    storage = GraphStorage(tmp_path, clock)
    storage.open(None)
    storage.store(WEB)
    clock.advance(10)
    position = storage.commit()
    assert graph(tmp_path).pages == 4  # nothing is left to do at the end but the texts
    storage.close()
    assert open_anchors(tmp_path / ANCHORS) is not None
    shutil.rmtree(tmp_path / ANCHORS)  # as though the process had died before it had written them
    stored(tmp_path, position=position)
    assert open_anchors(tmp_path / ANCHORS) is not None
    made = (tmp_path / ANCHORS / "meta.json").stat().st_ino
    stored(tmp_path, position=position)
    assert (tmp_path / ANCHORS / "meta.json").stat().st_ino == made
    stored(tmp_path, page("f", {"a": "the first"}), position=position)
    assert (tmp_path / ANCHORS / "meta.json").stat().st_ino != made


@pytest.mark.parametrize("seed", range(8))
def test_texts_of_links_are_the_same_whether_made_anew_or_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Pages that change, move and go, in some runs; told apart by which pages have which texts."""
    choose, names, anew = Random(seed), "abcdefgh", [0]
    write = write_anchors

    def counted(*args: Any, **options: Any) -> None:
        anew[0] += 1
        write(*args, **options)

    monkeypatch.setattr("larm.store.graph.write_anchors", counted)
    position, visits = None, []
    for _ in range(6):
        for _ in range(3):
            name, others = choose.choice(names), choose.sample(names, 3)
            kind = choose.random()
            links = {other: f"word{choose.randrange(4)}" for other in others}
            visits.append(gone(name) if kind < 0.15 else moved(name, others[0]) if kind < 0.3 else page(name, links))
        position = stored(tmp_path / "again", *visits[-3:], position=position)
    assert anew == [1]
    stored(tmp_path / "anew", *visits)
    assert searched(tmp_path / "again") == searched(tmp_path / "anew")


def searched(directory: Path) -> list[tuple[int, str]]:
    index = opened(directory / ANCHORS)
    searcher = index.searcher()
    found = []
    for word in ("word0", "word1", "word2", "word3"):
        hits = searcher.search(index.parse_query(word, ["anchors"]), limit=100).hits
        found += [(int(key or 0), word) for key in searcher.fast_field_values("page", [hit for _, hit in hits])]
    return sorted(found)


def test_texts_of_links_that_no_checkpoint_knows_are_undone(tmp_path: Path) -> None:
    """The storages close before the last checkpoint is written. The page is fetched again, and its links have other words."""
    made, lengths = set(), set()
    for text in ("one", "two"):  # the journal is as long both times
        storage = GraphStorage(tmp_path, FakeClock())
        storage.open({"journal": 0})
        storage.store([page("a", {"b": text})])
        lengths.add(storage.commit()["journal"])
        storage.close()
        assert anchors(graph(tmp_path), fingerprint("b"))[0][0] == text
        made.add((tmp_path / ANCHORS / "meta.json").stat().st_mtime_ns)
    assert (len(made), len(lengths)) == (2, 1)


def test_a_damaged_snapshot_is_made_again_by_a_run_in_which_nothing_comes(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    path = tmp_path / "graph" / SNAPSHOT
    data = bytearray(path.read_bytes())
    place = data.index(b"about B")  # what fills up the room between two arrays is nobody's
    data[place] ^= 1
    path.write_bytes(data)
    stored(tmp_path, position=position)
    data[place] ^= 1
    assert path.read_bytes() == data


def test_damaged_texts_of_links_are_made_again_by_a_run_in_which_nothing_comes(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    folder = tmp_path / ANCHORS
    for number in range(len(sorted(folder.iterdir()))):
        path = sorted(folder.iterdir(), key=lambda path: (path.suffix, path.name))[number]
        damaged = tmp_path / "damaged"
        damaged.write_bytes(b"{" + path.read_bytes()[1:-1])
        damaged.replace(path)  # another file: an index of before may still have this one mapped, and would be killed
        stored(tmp_path, position=position)
        assert open_anchors(folder) is not None, path
        check_files(folder)


def test_what_was_stored_without_a_commit_is_in_no_snapshot(tmp_path: Path) -> None:
    storage = GraphStorage(tmp_path, FakeClock())
    storage.open(None)
    storage.store([page("a")])
    storage.close()
    assert open_graph(tmp_path / "graph") is None


def test_many_blocks_and_many_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same graph in one piece and in small ones."""
    visits = [page(f"a.org/{n}", {f"a.org/{n * k % 101}": f"text {k}" for k in (2, 3, 5, 7)}) for n in range(100)]
    stored(tmp_path / "one", *visits)
    monkeypatch.setattr("larm.store.graph._BLOCK", 500)
    monkeypatch.setattr("larm.graph.tables._BUCKET", 50)
    monkeypatch.setattr("larm.graph.tables._PENDING", 10)
    monkeypatch.setattr("larm.graph.tables._MEMORY", 100)
    monkeypatch.setattr("larm.graph.refresh._PART", 70)
    stored(tmp_path / "many", *visits)
    one, many = graph(tmp_path / "one"), graph(tmp_path / "many")
    assert one.links == many.links
    for number in range(101):
        key = fingerprint(f"a.org/{number}")
        assert one.rank(key) == pytest.approx(many.rank(key), rel=1e-3)
        assert sorted(one.in_links(key)) == sorted(many.in_links(key))
        assert sorted(anchors(one, key)) == sorted(anchors(many, key))
        assert one.out_links(key) == many.out_links(key)


def test_odd_texts_survive(tmp_path: Path) -> None:
    odd = {"b": "two\nlines", "c": "\ud800 half a pair", "d": "日本語" * 60, "e": "x" * 3000}
    stored(tmp_path, page("a", odd))
    texts = [anchors(graph(tmp_path), fingerprint(name))[0][0] for name in odd]
    assert texts == ["two lines", "  half a pair", "日本語" * 60, "x" * 3000]


def test_an_empty_crawl_has_no_graph(tmp_path: Path) -> None:
    stored(tmp_path)
    assert open_graph(tmp_path / "graph") is None
    assert BlockBuilder().encode() == b""


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_snapshot_is_refused_by_name_and_made_again(tmp_path: Path, damage: str) -> None:
    position = stored(tmp_path, *WEB)
    path = tmp_path / "graph" / SNAPSHOT
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[20] ^= 1
    path.write_bytes({"cut": data[:-5], "flip": data, "empty": b"", "other": b"x" * 100}[damage])
    with pytest.raises(StorageError, match="snapshot"):
        list(graph(tmp_path).all_texts())
    stored(tmp_path, page("f", "a"), position=position)
    assert graph(tmp_path).pages == 5


def test_a_damaged_journal_is_refused_by_name_before_anything_is_changed(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    path = tmp_path / "graph" / JOURNAL
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data + b"written later")
    with pytest.raises(StorageError, match=JOURNAL):
        stored(tmp_path, position=position)
    assert path.read_bytes() == data + b"written later"


def test_a_journal_that_is_too_short_is_refused(tmp_path: Path) -> None:
    position = stored(tmp_path, *WEB)
    path = tmp_path / "graph" / JOURNAL
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StorageError, match=JOURNAL):
        stored(tmp_path, position=position)
    path.unlink()
    with pytest.raises(StorageError, match=JOURNAL):
        stored(tmp_path, position=position)


@pytest.mark.parametrize("position", [{}, {"journal": "x"}, {"journal": -1}])
def test_a_position_that_is_none_is_refused(tmp_path: Path, position: dict[str, object]) -> None:
    with pytest.raises(StorageError, match="larm repair"):
        stored(tmp_path, position=position)


def test_a_disk_that_fails_is_told_by_name_and_leaves_the_last_snapshot(tmp_path: Path) -> None:
    """At each attempt to write."""
    position = stored(tmp_path / "well", *WEB)

    def fails(number: int) -> FaultyDisk:
        folder = Path(shutil.copytree(tmp_path / "well", tmp_path / str(number)))
        with FaultyDisk(folder, number or None, errno.ENOSPC) as disk:
            if number:
                with pytest.raises(StorageError, match=str(folder)):
                    stored(folder, page("f", "ab"), position=position)
            else:
                stored(folder, page("f", "ab"), position=position)
        return disk

    sites = fails(0).sites
    assert len(sites) > 5
    for number, site in enumerate(sites, 1):
        if site.startswith("replace anchors") or "anchors" in site:
            continue  # of the index of anchor texts
        fails(number)
        left = graph(tmp_path / str(number))
        assert left.pages in (4, 5)
        names = {path.name for path in (tmp_path / str(number) / "graph").iterdir()}
        assert names == {JOURNAL, SNAPSHOT}, site
