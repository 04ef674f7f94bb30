"""What SQLite leaves of deleted rows, and what it keeps of statements."""

from __future__ import annotations

import ctypes
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk import database as databases
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.database import Database


def test_what_was_deleted_is_nowhere_after_compact(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    with closing(Database(path, "CREATE TABLE IF NOT EXISTS some (number INTEGER PRIMARY KEY, text TEXT);")) as database:
        with database.transaction():
            database.write_many("INSERT INTO some VALUES (?, ?)", ((number, f"secret {number}") for number in range(5000)))
            database.write("CREATE TABLE other AS SELECT * FROM some")
        with database.transaction():
            database.write("DROP TABLE other")
            database.write("DELETE FROM some WHERE number > 10")
        database.compact()
        assert database.row("SELECT count(*) FROM some") == (11,)
        left = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert left.count(b"secret") == 11


def test_compact_says_that_somebody_reads_what_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0)
    path = tmp_path / "some.db"
    with closing(Database(path, "CREATE TABLE IF NOT EXISTS some (text TEXT);")) as database:
        database.write("INSERT INTO some VALUES ('secret')")
        with closing(Database(path, "", read_only=True)) as reader:
            with reader.moment():
                assert reader.row("SELECT text FROM some") == ("secret",)
                database.write("DELETE FROM some")
                with pytest.raises(StorageError, match="another process uses it"):
                    database.compact()
            database.compact()
        assert b"secret" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


def test_memory_does_not_grow_with_the_statements(tmp_path: Path) -> None:
    """SQLite keeps what was given to a statement as long as it is kept prepared."""
    with closing(Database(tmp_path / "some.db", "")) as database:
        given = b"x" * (1 << 20)
        before = _heap()
        for number in range(100):
            assert database.row(f"SELECT length(?) + {number}", (given,)) == (len(given) + number,)
        assert _heap() - before < 30 << 20


def test_memory_does_not_grow_with_the_blocks_that_were_put(tmp_path: Path) -> None:
    with closing(BlockStore(tmp_path / "queue")) as store:
        before = _heap()
        for epoch in range(1, 17):
            assert store.next_epoch() == epoch
            store.put_many({f"{number}": bytes(epoch << 10) for number in range(500)})
        assert _heap() - before < 30 << 20
        assert store.get_many(["0", "499"]) == {"0": bytes(16 << 10), "499": bytes(16 << 10)}


def _heap() -> int:
    """Bytes of this process that are no file's, without what the allocator keeps of what earlier tests have freed."""
    ctypes.CDLL(None).malloc_trim(0)
    rows = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(row.split()[1]) << 10 for row in rows if row.startswith("Anonymous:"))


def test_a_directory_that_is_called_like_an_address_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes ``file:other/a.db`` for a file in ``other``, perhaps that of another crawl."""
    monkeypatch.chdir(tmp_path)
    for name in ("file:other", "other"):
        Path(name).mkdir()
    with closing(Database(Path("file:other/a.db"), "CREATE TABLE t (a);")) as database:
        database.write("INSERT INTO t VALUES (1)")
    databases.copy_database(Path("file:other/a.db"), Path("file:other/b.db"))
    assert not [*Path("other").iterdir()]
    with closing(Database(Path("file:other/b.db"), "", read_only=True)) as database:
        assert database.rows("SELECT a FROM t") == [(1,)]
