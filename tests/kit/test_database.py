"""What SQLite leaves of deleted rows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

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
