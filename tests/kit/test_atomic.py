"""A file is the old one or the new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.atomic import write_atomically


def test_make_and_replace(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="missing/state: No such file or directory"):
        write_atomically(tmp_path / "missing" / "state", b"")


def test_a_failure_leaves_the_old_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "state"
    (path / "below").mkdir(parents=True)
    with pytest.raises(StorageError, match="state: Is a directory"):
        write_atomically(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
