"""All host records, on the disk and back."""

from __future__ import annotations

import pytest

from larm.errors import StorageError
from larm.frontier.hosts import ROW
from larm.kit.block_store import BlockStore
from tests.frontier.rig import HURRIED, Rig, ok


def test_a_record_is_made_on_first_sight(store: BlockStore) -> None:
    rig = Rig(store)
    with rig.book.lock:
        assert rig.book.find_locked("a") is None
        made = rig.book.get_locked("a")
        assert rig.book.get_locked("a") is made
        assert rig.book.find_locked("a") is made
        assert list(rig.book) == [made]
    assert len(rig.book) == 1
    assert made.health == HURRIED.health
    assert repr(made) == "<Host a: 0 queued, 0 parked, 0 running, health 5>"


def test_repr_of_a_host_given_up(store: BlockStore) -> None:
    rig = Rig(store)
    with rig.book.lock:
        host = rig.book.get_locked("a")
    host.dormant = True
    assert "dormant" in repr(host)


def test_a_cut_takes_the_changes(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "b/1")
    assert [cut.key for cut in rig.book.cut()] == ["a", "b"]
    assert rig.book.cut() == []


def test_a_cut_is_a_copy(store: BlockStore) -> None:
    """It is encoded while the crawl goes on."""
    rig = Rig(store)
    rig.screen("a/1")
    rig.put("a/2")
    (cut,) = rig.book.cut()
    before = cut.encode()
    rig.errand.land(rig.one(), ok())
    rig.settle()
    rig.end(rig.one())
    assert cut.encode() == before


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\xc1", b"garbage", b"\x94\xa1a\x00\x00\x00"])
def test_a_damaged_row_is_named(store: BlockStore, damage: bytes) -> None:
    store.put(ROW + "a.example", damage)
    with pytest.raises(StorageError, match=r"frontier.*the record host/a\.example is damaged.*--fresh"):
        Rig(store).book.load([ROW + "a.example"])


def test_a_row_that_is_cut_off_anywhere_is_named(store: BlockStore) -> None:
    rig = Rig(store)
    rig.screen("a/1")
    rig.put("a/2")
    rig.save()
    whole = store.get(ROW + "a")
    assert whole is not None
    for end in range(0, len(whole), 7):
        store.put(ROW + "a", whole[:end])
        with pytest.raises(StorageError, match="host/a is damaged"):
            Rig(store).book.load([ROW + "a"])


def test_a_missing_row_is_named(store: BlockStore) -> None:
    with pytest.raises(StorageError, match="host/a is damaged"):
        Rig(store).book.load([ROW + "a"])
