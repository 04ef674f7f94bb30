"""Who has touched a file is not believed; who has not need not be read again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.seal import NO_SEAL, open_seal, write_seal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "some.db"
    path.parent.mkdir()
    path.write_bytes(b"1234")
    write_seal(tmp_path / "seal", tmp_path, [path])
    return path


def test_a_file_that_nobody_has_touched_is_held(file: Path, tmp_path: Path) -> None:
    other = file.with_name("other.db")
    other.touch()
    seal = open_seal(tmp_path / "seal", tmp_path)
    assert seal.holds(file)
    assert not seal.holds(other)
    assert not NO_SEAL.holds(file)


def test_it_holds_once(file: Path, tmp_path: Path) -> None:
    """Whoever begins to write takes it away before: a kill must not leave it."""
    assert open_seal(tmp_path / "seal", tmp_path).holds(file)
    assert not (tmp_path / "seal").exists()
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)


def test_what_was_changed_is_not_held(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"1235")
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)


def test_a_size_that_changed_without_its_time_is_not_held(file: Path, tmp_path: Path) -> None:
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_bytes(b"12345")
    os.utime(file, ns=times)
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)


def test_what_was_removed_or_has_a_log_is_not_held(file: Path, tmp_path: Path) -> None:
    log = file.with_name("some.db-wal")
    log.write_bytes(b"")
    assert open_seal(tmp_path / "seal", tmp_path).holds(file), "an empty log is none"
    write_seal(tmp_path / "seal", tmp_path, [file])
    log.write_bytes(b"a commit")
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)
    write_seal(tmp_path / "seal", tmp_path, [file])
    file.unlink()
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)


def test_a_directory_may_be_moved_or_copied_with_its_times(file: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    shutil.copytree(file.parent, there / "folder")
    assert open_seal(tmp_path / "seal", there).holds(there / "folder" / "some.db")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"folder/some.db": 4}', b"\xff", b'{"folder/some.db": [4]}'])
def test_a_seal_that_says_nothing_is_none(file: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "seal").write_bytes(data)
    assert not open_seal(tmp_path / "seal", tmp_path).holds(file)


def test_one_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "seal").mkdir()
    with pytest.raises(StorageError, match="seal"):
        open_seal(tmp_path / "seal", tmp_path)
