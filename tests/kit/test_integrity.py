"""A database is read as a whole before it is believed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.database import check_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "some.db")) as made, made:
        made.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
        made.executemany("INSERT INTO numbers VALUES (?)", ((number * 1_000_000,) for number in range(3000)))
    return tmp_path / "some.db"


def test_what_is_whole_or_not_there_passes(path: Path, tmp_path: Path) -> None:
    check_database(path)
    check_database(tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    check_database(tmp_path / "empty.db")


def test_garbage_within_the_rows_is_found(path: Path) -> None:
    """SQLite would return what it can read, and nobody would ask."""
    data = bytearray(path.read_bytes())
    data[-300:-200] = os.urandom(100)
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"some.db: .*damaged"):
        check_database(path)


@pytest.mark.parametrize("size", [100, 5000, 20_000])
def test_a_cut_is_found(path: Path, size: int) -> None:
    os.truncate(path, size)
    with pytest.raises(StorageError, match=r"some.db: .*damaged"):
        check_database(path)


def test_what_can_not_be_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StorageError, match=r"folder.db: "):
        check_database(tmp_path / "folder.db")
