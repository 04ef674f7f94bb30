"""What SQLite leaves of deleted rows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk import database as databases
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
