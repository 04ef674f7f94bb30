"""The same trouble reads the same everywhere."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from larm.kit.disk.disk_failure import disk_failure


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "x"), "/d: No space left on device: the disk is full; make room"),
        (PermissionError(errno.EACCES, "x"), "/d: Permission denied: it can't be opened or written"),
        (
            FileNotFoundError(errno.ENOENT, "x"),
            "/d: No such file or directory: it is not there, or no longer",
        ),
        (OSError(errno.EMFILE, "x"), "/d: Too many open files: too many files are open; allow more ('ulimit -n')"),
        (OSError("no number"), "/d: no number: check the disk"),
        (OSError(errno.EIO, "x"), "/d: Input/output error: check the disk"),
        (sqlite3.ProgrammingError("closed"), "/d: closed: check the disk"),
        (RuntimeError("else"), "/d: else: check the disk"),
    ],
)
def test_message(error: Exception, message: str) -> None:
    failure = disk_failure(Path("/d"), error)
    assert str(failure).startswith(message)
    assert failure.exit_status == 3


def test_where_no_file_can_be_opened_sqlite_is_not_believed(tmp_path: Path) -> None:
    """It says that this file can't be opened, whatever the reason."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE a (b)")
    except sqlite3.Error as error:
        failure = disk_failure(tmp_path / "a.db", error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "unable to open database file: too many files are open" in str(failure)


def test_a_path_that_is_longer_than_sqlite_takes(tmp_path: Path) -> None:
    """It says that it can't open the file, as where its permissions are wrong."""
    folder = tmp_path / ("d" * 150) / ("e" * 150)  # each part of a path has at most 255
    folder.mkdir(parents=True)
    rest = 504 - len(f"{folder}/")
    with closing(sqlite3.connect(folder / ("f" * rest))) as database:
        database.execute("CREATE TABLE a (b)")
    longer = folder / ("f" * (rest + 1))
    with pytest.raises(sqlite3.Error) as raised, closing(sqlite3.connect(longer)) as database:
        database.execute("CREATE TABLE a (b)")
    assert "its path is too long; use a directory nearer" in str(disk_failure(longer, raised.value))


def test_a_closed_folder_is_told_rather_than_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "a"
    monkeypatch.setattr(os, "access", lambda path, _: path != closed)
    error = PermissionError(errno.EACCES, "")
    assert str(disk_failure(closed / "b" / "config.yaml", error)).startswith(f"{closed}: Permission denied: ")
    assert str(disk_failure(tmp_path / "x", error)).startswith(f"{tmp_path / 'x'}: Permission denied: ")
