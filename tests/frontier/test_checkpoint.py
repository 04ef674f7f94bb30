"""The crawl's state in one transaction (LARM-116)."""

from __future__ import annotations

import msgspec
import pytest

from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Following, Header
from larm.frontier.host_records import QueueRow
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.model.message import decode_messages, encode_messages
from larm.testing.fakes import message
from tests.frontier.rig import Rig


def row(*numbers: int) -> QueueRow:
    back = encode_messages([message(f"http://a/{number}") for number in numbers])
    return QueueRow(encode_messages([]), (3 << 24 | 100).to_bytes(8, "little"), back, 4)


def header() -> Header:
    return Header(
        incoming=row(1, 2),
        counters={"item_scraped_count": 7},
        logs={"thread0": 123},
        storages={"log": {"store.log": 55, "pages": {"number": 1, "offset": 9}}},
        scope_hosts=["a", "b"],
        restrict_to="",
        start_urls=["http://a/"],
        following=Following("", 0, 0),
    )


def test_round_trip(store: BlockStore) -> None:
    file = CheckpointFile(store)
    assert file.read() is None
    written = header()
    assert file.write(written, [], b"12345678", []) > 0
    assert file.read() == (written, b"12345678")


def test_a_later_one_replaces_it_and_deletes_what_was_retired(store: BlockStore) -> None:
    file = CheckpointFile(store)
    store.put("incoming_1.cqb", b"old")
    file.write(header(), [], b"12345678", [])
    file.write(msgspec.structs.replace(header(), finished=True), [], b"", ["incoming_1.cqb"])
    found = file.read()
    assert found is not None
    assert (found[0].finished, found[1]) == (True, b"")
    assert store.get("incoming_1.cqb") is None


def test_rows_of_unchanged_hosts_stay(store: BlockStore) -> None:
    rig = Rig(store)
    rig.put("a/1", "b/1")
    rig.save()
    rig.put("b/2")
    rig.save()
    assert list(CheckpointFile(store).host_rows()) == ["host/a", "host/b"]


def test_going_back_drops_what_was_written_after_the_cut(store: BlockStore) -> None:
    file = CheckpointFile(store)
    queue = CachingQueue("host-a", 1, store, encode_messages, decode_messages)
    queue.put_many([message(f"http://a/{number}") for number in range(5)])
    file.write(msgspec.structs.replace(header(), epoch=store.next_epoch()), [], b"", [])
    store.put("host-b_7.cqb", b"of a run that was killed")
    found = file.read()
    assert found is not None
    file.go_back(found[0])
    assert [key for key in store.keys("host-") if key.endswith(".cqb")] == sorted(queue.keys())
    assert file.read() is not None


def test_before_the_first_checkpoint_nothing_is_kept(store: BlockStore) -> None:
    store.put("host-b_7.cqb", b"of a run that was killed")
    CheckpointFile(store).go_back(None)
    assert store.keys() == []


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x80", b"\x91\x01", b"\x07", msgspec.msgpack.encode({"counters": {}})])
def test_damage_is_told(store: BlockStore, damage: bytes) -> None:
    store.put("crawl", damage)
    with pytest.raises(StorageError, match=r"frontier.*damaged.*larm repair"):
        CheckpointFile(store).read()


@pytest.mark.parametrize("damage", [b"\x91\xc1", encode_messages([message("http://a/1")]).replace(b"http", b"\xdattp")])
def test_damage_within_a_queue_is_told(store: BlockStore, damage: bytes) -> None:
    """The ends of the queue are bytes within the bytes."""
    file = CheckpointFile(store)
    broken = QueueRow(damage, b"", encode_messages([]), 0)
    file.write(msgspec.structs.replace(header(), incoming=broken), [], b"", [])
    with pytest.raises(StorageError, match="damaged"):
        file.read()


def test_a_failed_write_leaves_the_last_one(store: BlockStore) -> None:
    file = CheckpointFile(store)
    file.write(header(), [], b"12345678", [])
    with pytest.raises(TypeError):  # nothing that a disk does, but in the middle of the transaction
        file.write(msgspec.structs.replace(header(), cycle=5), [], ["no bytes"], ["crawl"])  # type: ignore[arg-type]
    found = file.read()
    assert found is not None
    assert (found[0].cycle, found[1]) == (0, b"12345678")
