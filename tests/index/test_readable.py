"""What tantivy opens where it can't take its lock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from larm.index import readable
from larm.index.writer import IndexWriter


def test_a_lock_that_is_taken_while_the_folder_goes_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    writer.commit()
    writer.close()
    monkeypatch.setattr(readable, "_can_lock", lambda _: False)
    rmdir, late = os.rmdir, list[Path]()

    def removed(path: Any, **more: Any) -> None:
        if Path(path).name.startswith("larm-") and not late:
            late.append(Path(path) / ".tantivy-meta.lock")
            late[0].touch()
        rmdir(path, **more)

    with readable.openable(tmp_path / "index") as folder:
        assert (folder / "meta.json").read_bytes() == (tmp_path / "index" / "meta.json").read_bytes()
        monkeypatch.setattr(os, "rmdir", removed)
    assert late, "the lock was there when the folder went"
    assert not folder.exists()
