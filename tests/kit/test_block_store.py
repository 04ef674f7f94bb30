"""Bytes by key, and nothing but bytes."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import diskcache
import pytest

from larm.errors import StorageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.threads.workers import Workers
from tests.support.faults import open_files


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BlockStore]:
    store = BlockStore(tmp_path / "cachingqueue")
    yield store
    store.close()


class Evil:
    """Pickled, it makes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.mkdir, (str(self.path), 0o700)


def test_put_get_replace(store: BlockStore) -> None:
    assert store.get("a") is None
    store.put("a", b"one")
    store.put("a", b"\x00two")
    store.put("", b"")
    assert store.get("a") == b"\x00two"
    assert store.get("") == b""
    assert str(store) == str(store.directory / "cache.db")


def test_all_of_it_survives_closing(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "q")
    store.put("a", b"1")
    store.transaction({"b": b"2"})
    store.close()
    store.close()
    with pytest.raises(StorageError, match="q: the store is closed"):
        store.get("a")
    assert "closed" in repr(store)
    store = BlockStore(tmp_path / "q")
    assert list(map(store.get, store.keys())) == [b"1", b"2"]
    store.close()


@pytest.mark.parametrize(("mask", "folder", "file"), [(0o022, 0o755, 0o644), (0o077, 0o700, 0o600), (0o002, 0o775, 0o664)])
def test_who_may_read_it_is_for_the_umask_to_say(tmp_path: Path, mask: int, folder: int, file: int) -> None:
    before = os.umask(mask)
    try:
        store = BlockStore(tmp_path / "q")
        seen = DiskSeenSet(tmp_path / "q" / "seen.db", 10)
        write_atomically(tmp_path / "q" / "small", b"x")
    finally:
        os.umask(before)
    store.put("a", b"1")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [store.directory, *store.directory.iterdir()]}
    assert modes.pop("q") == folder
    assert set(modes.values()) == {file}, modes
    seen.close()
    store.close()


def test_what_is_opened_to_be_read_is_not_changed(tmp_path: Path) -> None:
    """Neither while somebody writes nor afterwards; nor is anything made beside it."""
    store = BlockStore(tmp_path / "q")
    store.transaction({"a": b"1", "b": b"2"})
    look = BlockStore(tmp_path / "q", read_only=True)
    assert look.get_many(look.keys()) == {"a": b"1", "b": b"2"}
    store.put("a", b"3")
    assert look.get("a") == b"3"
    with pytest.raises(StorageError, match="opened to be read only"):
        look.put("a", b"4")
    look.close()
    store.close()
    before = {path.name: path.read_bytes() for path in (tmp_path / "q").iterdir()}
    look = BlockStore(tmp_path / "q", read_only=True)
    assert look.get("a") == b"3"
    look.close()
    assert {path.name: path.read_bytes() for path in (tmp_path / "q").iterdir()} == before
    with pytest.raises(StorageError, match="none"):
        BlockStore(tmp_path / "none", read_only=True)
    assert not (tmp_path / "none").exists()


def test_there_are_no_files_beside_the_database(store: BlockStore) -> None:
    store.put("large", bytes(1_000_000))
    assert {path.name for path in store.directory.rglob("*")} == {"cache.db", "cache.db-wal", "cache.db-shm"}


def test_a_transaction_deletes_and_writes_many(store: BlockStore) -> None:
    store.transaction({f"old_{n}": b"x" for n in range(1700)})
    store.transaction(
        {f"new_{n}": str(n).encode() for n in range(1234)} | {"old_5": b"again"}, [f"old_{n}" for n in range(1700)]
    )
    assert len(store.keys("new_")) == 1234
    assert store.keys("old_") == ["old_5"]
    assert store.get("new_1233") == b"1233"
    with diskcache.Cache(str(store.directory)) as cache:
        assert cache.check() == []  # diskcache agrees with what was written past it
        assert len(cache) == 1235


def test_keys_by_prefix(store: BlockStore) -> None:
    store.transaction(dict.fromkeys(("host-a", "host-b_1", "host-bé_2", "host_", "hot", 'host-"quote"', "host-%"), b""))
    assert store.keys("host-") == ['host-"quote"', "host-%", "host-a", "host-b_1", "host-bé_2"]
    assert store.keys("host-b") == ["host-b_1", "host-bé_2"]
    assert len(store.keys()) == 7


def test_retired_keys_are_handed_over_once_and_stay_readable(store: BlockStore) -> None:
    store.put("a", b"1")
    store.retire("a")
    store.retire("b")
    assert store.get("a") == b"1"
    assert store.retired() == ["a", "b"]
    assert store.retired() == []


def test_a_failed_transaction_changes_nothing_and_the_store_goes_on(store: BlockStore) -> None:
    store.put("a", b"1")
    (pages,) = store._writer.row("PRAGMA page_count")
    store._writer.write(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(StorageError, match=r"cachingqueue/cache.db: database or disk is full: the disk is full; make room"):
        store.transaction({"b": b"2", "large": bytes(1_000_000)}, ["a"])
    assert store.get("a") == b"1"
    assert store.keys() == ["a"]
    with pytest.raises(StorageError, match="disk is full"):
        store.put("large", bytes(1_000_000))
    store.transaction({"b": b"2"}, ["a"])
    assert store.keys() == ["b"]
    assert store._writer.row("PRAGMA synchronous") == (1,)


def test_a_read_only_database_fails_at_once(store: BlockStore) -> None:
    store._writer.write("PRAGMA query_only = 1")
    with pytest.raises(StorageError, match="it can't be opened or written"):
        store.put("a", b"")


@pytest.mark.parametrize("value", ["text", 5, None, bytearray(b"x")])
def test_anything_but_bytes_is_refused(store: BlockStore, value: object) -> None:
    with pytest.raises(TypeError, match="a block is bytes"):
        store.put("a", value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a block is bytes"):
        store.transaction({"a": b"", "b": value})  # type: ignore[dict-item]
    assert store.keys() == []
    store.transaction({"c": b""})  # nothing was left half done
    with pytest.raises(TypeError, match="a key is text"):
        store.put(5, b"")  # type: ignore[arg-type]


def test_a_pickle_on_the_disk_is_never_run(store: BlockStore, tmp_path: Path) -> None:
    """CVE-2025-69872."""
    with diskcache.Cache(str(store.directory)) as foreign:
        foreign.set("small", Evil(tmp_path / "ran"))
        foreign.set("text", "text")
        foreign.set("file", bytes(100_000))
        foreign.set(("a", "key"), b"x")
    for key in ("small", "text", "file"):
        with pytest.raises(StorageError, match=r"cachingqueue/cache\.db: it holds an entry that is not plain bytes"):
            store.get(key)
    assert store.keys() == ["file", "small", "text"]
    assert not (tmp_path / "ran").exists()


def test_a_foreign_row_can_be_replaced_and_deleted_but_no_file_with_it(store: BlockStore) -> None:
    with diskcache.Cache(str(store.directory)) as foreign:
        foreign.set("file", bytes(100_000))
        foreign.set("other", bytes(100_000))
    store.transaction({"file": b"1"}, ["other"])
    assert store.get("file") == b"1"
    assert len(list(store.directory.rglob("*.val"))) == 2


def test_many_threads_and_closing_on_another(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "q")
    deaths: list[BaseException] = []
    workers = Workers(lambda name, error: deaths.append(error))

    def work(number: int) -> None:
        for n in range(30):
            store.put(f"{number}_{n}", str(n).encode())
            store.transaction({f"t{number}_{n}": b"t"}, [f"t{number}_{n - 1}"])
            assert store.get(f"{number}_{n}") == str(n).encode()

    for number in range(4):
        workers.start(f"larm-{number}", lambda number=number: work(number))  # type: ignore[misc]
    assert workers.join(60) == []
    assert deaths == []
    assert len(store.keys()) == 4 * 31
    workers.start("larm-close", store.close)
    workers.join(10)
    assert deaths == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
def test_close_lets_go_of_all_files(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "q")
    store.put("a", b"1")
    assert store.get("a") == b"1"
    assert open_files(tmp_path) != []
    store.close()
    assert open_files(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "cache.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"q/cache.db: file is not a database: the database is damaged") as refused:
        BlockStore(tmp_path / "q")
    assert refused.value.__traceback__ is not None, "with all that it remembers"
    assert open_files(tmp_path) == []


def test_a_database_cut_anywhere_is_an_error_or_works(tmp_path: Path) -> None:
    whole = BlockStore(tmp_path / "whole")
    whole.transaction({f"key_{n}": bytes(3000) for n in range(5)})
    whole.close()
    data = (tmp_path / "whole" / "cache.db").read_bytes()
    errors = 0
    for number, length in enumerate([1, 50, 100, *range(4000, len(data), 4000)]):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "cache.db").write_bytes(data[:length])
        try:
            store = BlockStore(tmp_path / f"{number}")
            try:
                assert set(map(store.get, store.keys())) <= {bytes(3000)}
            finally:
                store.close()
        except StorageError:
            errors += 1
    assert errors > 5


def test_a_directory_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file/q: Not a directory"):
        BlockStore(tmp_path / "file" / "q")
    monkeypatch.setenv("LARM_PLACE", "elsewhere")
    with pytest.raises(StorageError, match="environment variable"):
        BlockStore(tmp_path / "$LARM_PLACE")


def test_sqlite_has_what_the_statements_need() -> None:
    assert sqlite3.sqlite_version_info >= (3, 38)  # JSON built in, upsert, 32766 variables


def test_many_at_once(store: BlockStore) -> None:
    store.put_many({"a": b"1", "b": b"2"})
    assert store.get_many(["a", "b", "c"]) == {"a": b"1", "b": b"2"}
    assert store.get_many([]) == {}


def test_going_back_drops_the_blocks_of_later_epochs(store: BlockStore) -> None:
    """A block that was written after the cut belongs to nobody after a crash; rows of the checkpoint stay."""
    store.put("old.cqb", b"1")
    epoch = store.next_epoch()
    store.put("young.cqb", b"2")
    store.put("old.cqb", b"3")
    store.put_many({"many.cqb": b"2"})
    store.transaction({"row": b"4"})
    store.go_back(epoch, ".cqb")
    assert store.keys() == ["row"]
    store.put("again.cqb", b"5")
    store.go_back(epoch, ".cqb")
    assert store.keys() == ["row"]


def test_blocks_of_any_size_in_one_call(store: BlockStore) -> None:
    """More than what is put by one statement, and empty ones."""
    blocks = {f"k{number}": bytes([number % 251]) * (3_000_000 if number % 400 == 1 else number % 3) for number in range(2_100)}
    store.put_many(blocks)
    assert store.get_many(blocks) == blocks


@pytest.mark.parametrize("key", ["a\0b", "a\ud800b"])
def test_a_key_that_would_not_be_found_again_is_refused(store: BlockStore, key: str) -> None:
    with pytest.raises(ValueError, match="not find again"):
        store.put(key, b"lost")
    store.put("ü\U0001f600", b"kept")
    assert store.get("ü\U0001f600") == b"kept"


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda store: store.complete, id="complete"),
        pytest.param(lambda store: store.get("a"), id="get"),
        pytest.param(BlockStore.keys, id="keys"),
        pytest.param(BlockStore.check, id="check"),
    ],
)
def test_a_look_waits_for_the_one_before(store: BlockStore, look: Callable[[BlockStore], object]) -> None:
    """SQLite shows two overlapping statements of a connection what was there when the first one began."""
    store.put("a", b"1")
    died: list[BaseException] = []
    workers = Workers(lambda _name, error: died.append(error))
    with store._read_lock:
        workers.start("look", lambda: look(store))
        assert workers.join(0.05) == ["look"]
    assert workers.join(20) == died == []
