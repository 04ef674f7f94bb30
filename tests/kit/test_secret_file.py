"""Secrets in files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.secret_file import read_secret


def test_two_that_make_it_at_the_same_time_have_the_same(tmp_path: Path) -> None:
    path, others = tmp_path / "new" / "token", list[str]()

    def new() -> str:
        others.append(read_secret(path, "token", lambda: "theirs"))
        return "ours"

    assert read_secret(path, "token", new) == "theirs"
    assert others == ["theirs"], "nobody reads one that is not written yet"
    assert read_secret(path, "token", new) == "theirs"
    assert [each.name for each in path.parent.iterdir()] == ["token"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_system_without_links_has_it_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAT has none (EPERM)."""

    def refused(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(target))

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "token"
    assert read_secret(path, "token", lambda: "ours") == "ours"
    assert read_secret(path, "token", lambda: "another") == "ours"
    assert [each.name for each in tmp_path.iterdir()] == ["token"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_one_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("known to all")
    path.chmod(0o644)
    with pytest.raises(StorageError, match="chmod 600"):
        read_secret(path, "token", lambda: "x")
