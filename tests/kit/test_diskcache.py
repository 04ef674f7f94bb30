"""What `larm.kit.disk.bytes_cache` relies on in diskcache, which nobody maintains any more: another version must keep all of
it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import diskcache
import pytest

from larm.kit.disk.bytes_cache import BytesCache, BytesDisk, ForeignEntryError


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[BytesCache]:
    made = BytesCache(str(tmp_path))
    yield made
    made.close()


def opened(directory: Path) -> sqlite3.Connection:
    return sqlite3.connect(directory / "cache.db")


def test_the_database_and_its_table(cache: BytesCache, tmp_path: Path) -> None:
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


def test_every_statement_goes_through_our_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """diskcache takes it from ``_con``; one of its own would be bound to its thread, and nobody would close it."""
    made: list[object] = []
    connect = sqlite3.connect

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        made.append(options.get("check_same_thread"))
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    cache = BytesCache(str(tmp_path))
    cache.write([("a", b"1")], [])
    cache.put_many([("b", b"2")])
    assert cache.keys("") == ["a", "b"]
    cache.close()
    assert set(made) == {False}, "for any thread; the constructor closes its connection at the end, and we open another"
    assert len(made) == 2


def test_nothing_is_pickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2025-69872. Also not its own settings."""

    class Forbidden:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"diskcache uses pickle.{name}")

    monkeypatch.setattr(diskcache.core, "pickle", Forbidden())
    for number in range(2):
        cache = BytesCache(str(tmp_path))
        cache.write([(f"{number}", b"x" * 100_000)], [])
        assert cache.keys("") == ["0", "1"][: number + 1]
        cache.close()
    with diskcache.Cache(str(tmp_path / "other")) as plain, pytest.raises(AssertionError, match="pickle"):
        plain.set("a", {"not": "plain"})  # or this test would show nothing


def test_the_settings_are_those_that_we_gave(cache: BytesCache, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as database:
        kept = dict(database.execute("SELECT key, value FROM Settings"))
    assert (kept["eviction_policy"], kept["cull_limit"], kept["size_limit"]) == ("none", 0, 2**62)
    [(mode,)] = cache.connection.execute("PRAGMA journal_mode")
    assert mode == "wal"


def test_nothing_is_evicted_and_no_file_is_written(cache: BytesCache, tmp_path: Path) -> None:
    cache.put_many((f"{number:04d}", b"x" * 40_000) for number in range(200))
    cache.write([("one more", b"x" * 1_000_000)], [])
    assert len(cache.keys("")) == 201
    assert {path.name for path in tmp_path.rglob("*")} <= {"cache.db", "cache.db-wal", "cache.db-shm"}


def test_damaged_settings_raise_what_we_translate(tmp_path: Path) -> None:
    """A table of settings is believed, whatever it holds: what it does to diskcache is an error that we know."""
    BytesCache(str(tmp_path)).close()
    with closing(opened(tmp_path)) as database:
        database.execute("UPDATE Settings SET value = 'nonsense' WHERE key = 'disk_min_file_size'")
        database.execute("UPDATE Settings SET key = 'sqlite_of what' WHERE key = 'sqlite_cache_size'")
        database.commit()
    with pytest.raises((ForeignEntryError, sqlite3.Error)):
        BytesCache(str(tmp_path))


def test_its_names() -> None:
    assert issubclass(diskcache.Timeout, Exception)
    assert not issubclass(diskcache.Timeout, OSError)
    for name in ("put", "get", "store", "fetch", "remove"):
        assert name in vars(diskcache.Disk), f"BytesDisk.{name} overrides nothing"
    assert isinstance(vars(diskcache.Cache)["_con"], property)
    assert issubclass(BytesDisk, diskcache.Disk)


def test_environment_variables_in_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It uses another directory then: `BlockStore` refuses such a path."""
    monkeypatch.setenv("WHERE", "elsewhere")
    cache = BytesCache(str(tmp_path / "$WHERE"))
    cache.close()
    assert (tmp_path / "elsewhere" / "cache.db").exists()
