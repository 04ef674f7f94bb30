"""A refresh makes the same snapshot in small parts as in one, of any journal."""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.errors import StorageError
from larm.graph.block import read_block
from larm.graph.files import JOURNAL, SNAPSHOT
from larm.graph.purge import purge_graph
from larm.graph.snapshot import Snapshot
from larm.model.document import Visit
from tests.graph.journals import journal, made_small, refreshed
from tests.graph.webs import gone, moved, page

SAME = (
    "texts",
    "urls",
    "text_offsets",
    "url_offsets",
    "locations",
    "backlinks",
    "backlink_offsets",
    "marks",
    "nodes",
    "degrees",
)
SMALL = {"_PART": 7, "_BUCKET": 5, "_PENDING": 3, "_MEMORY": 100}

names = st.sampled_from([f"w.org/{name}" for name in "abcdefghijklmno"])
texts = st.sampled_from(["", "home", "two\nlines", "two lines", "日本語", "\ud800", "x" * 50])
visits = st.one_of(
    st.builds(page, names, st.dictionaries(names, texts, max_size=8)),
    st.builds(page, names, st.lists(names, max_size=12)),
    st.builds(page, names, st.lists(names, max_size=3), follow=st.just(False)),
    st.builds(moved, names, names),
    st.builds(gone, names),
)


@given(st.lists(st.lists(visits, max_size=9), max_size=4), st.sets(names))
@settings(max_examples=60)
def test_a_journal_without_some_pages_is_that_of_a_crawl_that_never_had_them(
    blocks: list[list[Visit]], forgotten: set[str]
) -> None:
    """But for what links to them."""
    with tempfile.TemporaryDirectory() as name:
        whole, never = Path(name, "whole"), Path(name, "never")
        for folder, some in (
            (whole, blocks),
            (never, [[each for each in part if each.page[7:] not in forgotten] for part in blocks]),
        ):
            folder.mkdir()
            journal(folder, *some)
        end = (whole / JOURNAL).stat().st_size
        length = purge_graph(whole, end, lambda url: url.partition("://")[2] in forgotten)
        assert (whole / JOURNAL).read_bytes() == (never / JOURNAL).read_bytes()
        assert purge_graph(whole, end, lambda url: url.partition("://")[2] in forgotten) == length, "also once more"


def alike(one: Snapshot, other: Snapshot) -> None:
    """All the same but ranks, which are so but for rounding, and the places of those that are equal but for that."""
    assert one.figures == other.figures
    for name in (*SAME, "moved_from", "moved_to"):
        assert bytes(one.array(name)) == bytes(other.array(name)), name
    ranks = one.array("ranks", "f").tolist()
    assert ranks == pytest.approx(other.array("ranks", "f").tolist(), rel=1e-6)
    for each in (one, other):
        places = each.array("places", "I").tolist()
        order = sorted(range(len(places)), key=places.__getitem__)
        assert sorted(places) == list(range(len(ranks)))
        assert order[:1000] == each.array("top", "I").tolist()
        assert all(ranks[above] >= ranks[below] * (1 - 1e-6) for above, below in pairwise(order))


def compared(blocks: Sequence[list[Visit]], **constants: int) -> Snapshot:
    """What is made of half of the blocks, and then, beginning with its ranks, of all: in one part, and with these constants."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for part in (blocks[: len(blocks) // 2], blocks[len(blocks) // 2 :]):
            end = journal(directory, *part)
            one, other = refreshed(directory, end, "one"), refreshed(directory, end, "other", **constants)
            alike(one, other)
            alike(one, made_small(directory, end, "small"))
        return one


@settings(max_examples=60)
@given(st.lists(st.lists(visits, max_size=6), max_size=6))
def test_any_journal(blocks: list[list[Visit]]) -> None:
    compared(blocks, **SMALL)


def test_a_large_one() -> None:
    """Menus, links to oneself, pages that moved one after the other, revisits, and pages that nobody fetched."""
    blocks = []
    for first in range(0, 600, 50):
        block = [page(f"w.org/{n}", [f"w.org/{n * k % 701}" for k in range(1, 20)]) for n in range(first, first + 45)]
        block += [moved(f"w.org/{n}", f"w.org/{n + 1}") for n in range(first + 45, first + 50)]
        block += [page(f"w.org/{first // 3}", {"w.org/1": f"again {first}"}), gone(f"w.org/{first // 2}")]
        blocks.append(block)
    found = compared(blocks, _PART=1000, _BUCKET=900, _PENDING=500, _MEMORY=10_000)
    assert found.figures["links"] > 5_000
    assert len(found.array("moved_from", "Q")) > 30


@pytest.mark.parametrize("made", [refreshed, made_small])
def test_no_journal_and_one_without_a_block(made: Callable[[Path, int], Snapshot], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        made(tmp_path, 0)
    (tmp_path / JOURNAL).touch()
    found = made(tmp_path, 0)
    assert found.figures == {"pages": 0, "nodes": 0, "links": 0, "dangling": 0, "journal": 0}
    assert bytes(found.array("backlink_offsets")) == bytes(8)


@pytest.mark.parametrize("made", [refreshed, made_small])
def test_a_snapshot_that_says_what_cannot_be_gives_no_ranks(made: Callable[[Path, int], Snapshot], tmp_path: Path) -> None:
    """One that is whole, but whose ranks are not those of its nodes."""
    from larm.graph.snapshot import SnapshotWriter

    end = journal(tmp_path, [page("w.org/a", ["w.org/b"])])
    good = made(tmp_path, end).array("ranks", "f").tolist()
    writer = SnapshotWriter(tmp_path / SNAPSHOT)
    writer.add("nodes", bytes(24))
    writer.add("ranks", bytes(8))
    writer.finish({})
    assert made(tmp_path, end).array("ranks", "f").tolist() == good


@pytest.mark.parametrize("made", [refreshed, made_small])
@pytest.mark.parametrize("name", ["targets", "anchors", "counts"])
def test_a_block_of_which_only_the_numbers_are_wrong_is_refused_by_name(
    name: str, made: Callable[[Path, int], Snapshot], tmp_path: Path
) -> None:
    """Its checksum is right: it was written so."""
    end = journal(tmp_path, [page("w.org/a", ["w.org/b"])], [page("w.org/c", ["w.org/b"])])
    path = tmp_path / JOURNAL
    file = os.open(path, os.O_RDONLY)
    first = read_block(file, 0, end, path)
    block = read_block(file, first.end, end, path).block
    os.close(file)
    wrong = msgspec.structs.replace(block, **{name: b"\xff" * len(getattr(block, name))})
    payload = msgspec.msgpack.encode(wrong)
    data = path.read_bytes()[: first.end] + struct.pack("<4sII", b"LGB1", len(payload), zlib.crc32(payload)) + payload
    path.write_bytes(data)
    with pytest.raises(StorageError, match=rf"{JOURNAL}: the block at {first.end:,} is damaged"):
        made(tmp_path, len(data))
    assert [each.name for each in tmp_path.iterdir()] == [JOURNAL]
