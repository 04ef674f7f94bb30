"""What `larm.kit.disk.block_store` relies on in diskcache, which nobody maintains any more: another version must keep all of
it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import diskcache
import pytest

from larm.errors import StorageError
from larm.kit.disk.block_store import BlockStore, make_cache
from tests.support.faults import open_files


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[BlockStore]:
    made = BlockStore(tmp_path)
    yield made
    made.close()


def opened(directory: Path) -> sqlite3.Connection:
    return sqlite3.connect(directory / "cache.db")


def test_the_database_and_its_table(cache: BlockStore, tmp_path: Path) -> None:
    """Our statements name these columns, and need key and raw to be unique together."""
    assert diskcache.core.DBNAME == "cache.db"
    with closing(opened(tmp_path)) as database:
        columns = {name: kind for _, name, kind, *_ in database.execute("PRAGMA table_info(Cache)")}
        unique = [name for _, name, unique, *_ in database.execute("PRAGMA index_list(Cache)") if unique]
        keys = [[column for _, _, column in database.execute(f"PRAGMA index_info({name})")] for name in unique]
    needed = ("key", "raw", "store_time", "access_time", "mode", "filename", "value")
    assert {name: columns[name] for name in needed} == {
        "key": "BLOB",
        "raw": "INTEGER",
        "store_time": "REAL",
        "access_time": "REAL",
        "mode": "INTEGER",
        "filename": "TEXT",
        "value": "BLOB",
    }
    assert keys == [["key", "raw"]]


def test_nothing_of_diskcache_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens a connection for each thread, which nobody would close: ours is another, which any thread may use."""
    made: list[object] = []
    connect = sqlite3.connect

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        made.append(options.get("check_same_thread", True))
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    make_cache(tmp_path)
    assert open_files(tmp_path) == []
    theirs = len(made)
    assert theirs > 0
    cache = BlockStore(tmp_path)
    cache.transaction({"a": b"1"})
    cache.put_many({"b": b"2"})
    assert cache.keys() == ["a", "b"]
    cache.close()
    assert made[2 * theirs :] == [False, False], "for any thread"


def test_nothing_is_pickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2025-69872. Also not its own settings."""

    class Forbidden:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"diskcache uses pickle.{name}")

    monkeypatch.setattr(diskcache.core, "pickle", Forbidden())
    for number in range(2):
        cache = BlockStore(tmp_path)
        cache.transaction({f"{number}": b"x" * 100_000})
        assert cache.keys() == ["0", "1"][: number + 1]
        cache.close()
    with diskcache.Cache(str(tmp_path / "other")) as plain, pytest.raises(AssertionError, match="pickle"):
        plain.set("a", {"not": "plain"})  # or this test would show nothing


def test_the_settings_are_those_that_we_gave(cache: BlockStore, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        kept = dict(database.execute("SELECT key, value FROM Settings"))
    assert (kept["eviction_policy"], kept["cull_limit"], kept["size_limit"]) == ("none", 0, 2**62)
    asked = ("journal_mode", "synchronous", "cache_size", "mmap_size", "wal_autocheckpoint")
    found = cache.ask(lambda database: [database.row(f"PRAGMA {name}")[0] for name in asked])
    assert found == ["wal", 1, 2_000, 0, 4_000]


def test_nothing_is_evicted_and_no_file_is_written(cache: BlockStore, tmp_path: Path) -> None:
    cache.put_many({f"{number:04d}": b"x" * 40_000 for number in range(200)})
    cache.transaction({"one more": b"x" * 1_000_000})
    assert len(cache.keys()) == 201
    assert {path.name for path in tmp_path.rglob("*")} <= {"cache.db", "cache.db-wal", "cache.db-shm"}


def test_damaged_settings_raise_what_we_translate(tmp_path: Path) -> None:
    """A table of settings is believed, whatever it holds: what it does to diskcache is an error that we know."""
    make_cache(tmp_path)
    with closing(opened(tmp_path)) as database:
        database.execute("UPDATE Settings SET value = 'nonsense' WHERE key = 'disk_min_file_size'")
        database.execute("UPDATE Settings SET key = 'sqlite_of what' WHERE key = 'sqlite_cache_size'")
        database.commit()
    with pytest.raises(StorageError):
        make_cache(tmp_path)
    assert open_files(tmp_path) == []


def test_a_setting_without_a_name_is_damage(tmp_path: Path) -> None:
    """As where some bytes of the file have become zeros."""
    make_cache(tmp_path)
    with closing(opened(tmp_path)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'Settings'")
        database.commit()
    with closing(opened(tmp_path)) as database:
        database.execute("UPDATE Settings SET key = NULL WHERE key = 'sqlite_cache_size'")
        database.commit()
    with pytest.raises(StorageError, match="settings that can't be read"):
        make_cache(tmp_path)


def test_its_names() -> None:
    assert issubclass(diskcache.Timeout, Exception)
    assert not issubclass(diskcache.Timeout, OSError)


def test_environment_variables_in_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It uses another directory then: `BlockStore` refuses such a path."""
    monkeypatch.setenv("WHERE", "elsewhere")
    with closing(diskcache.Cache(str(tmp_path / "$WHERE"))):
        assert (tmp_path / "elsewhere" / "cache.db").exists()
