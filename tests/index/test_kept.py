from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from larm.errors import StorageError
from larm.index import kept
from larm.index.writer import IndexWriter
from tests.index.test_writer import add, found, opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index"


def end(writer: IndexWriter) -> None:
    """Close it, and wait for its merges, as they would end with the process: the next writer is of another one."""
    assert writer._writer is not None
    writer._writer.wait_merging_threads()
    writer.close()


def ahead(path: Path) -> None:
    """An index of generation 2, and a third commit that replaces one page, removes one and adds one."""
    writer = opened(path)
    add(writer, "a", "first")
    add(writer, "b", "first")
    assert writer.commit() == 1
    add(writer, "c", "first")
    assert writer.commit() == 2
    change(writer)
    writer.close()


def change(writer: IndexWriter) -> None:
    add(writer, "a", "second")
    writer.delete("http://a.org/c")
    add(writer, "d", "second")
    assert writer.commit() == 3


def test_a_commit_that_no_checkpoint_knows_is_undone(path: Path) -> None:
    """What it removed or replaced is there again, for it may be that the crawl does not come to remove it once more."""
    ahead(path)
    for _ in range(2):  # each time the process dies before the checkpoint
        writer = opened(path, 2)
        assert (found(path, "first"), found(path, "second")) == (["a", "b", "c"], [])
        change(writer)
        writer.close()
        assert (found(path, "first"), found(path, "second")) == (["b"], ["a", "d"])
    opened(path, 3).close()
    assert (found(path, "first"), found(path, "second")) == (["b"], ["a", "d"]), "what a checkpoint knows is not undone"


@pytest.mark.parametrize("name", ["meta.json", ".managed.json"])
def test_a_kill_while_it_is_undone_leaves_no_litter(path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """And nothing for which a fresh start would take the directory for somebody else's."""

    def killed(source: str, target: Path) -> None:
        if target == path / name:
            raise KeyboardInterrupt
        rename(source, target)

    ahead(path)
    rename = os.replace
    for goal in (2, None):
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", killed)
            patched.setattr(os, "unlink", lambda _: None)  # who is killed tidies up nothing
            with pytest.raises(KeyboardInterrupt):
                opened(path, 2)
        assert len(list(path.glob(f".{name}.*"))) == 1
        writer = opened(path, goal)
        assert found(path, "first") == (["a", "b", "c"] if goal else [])
        assert not list(path.glob(f".{name}.*"))
        if goal:
            change(writer)
        writer.close()


def test_a_commit_that_only_removed_is_undone(path: Path) -> None:
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    writer.delete("http://a.org/a")
    assert writer.commit() == 2
    writer.close()
    assert found(path) == []
    opened(path, 1).close()
    assert found(path) == ["a"]


def test_merges_on_the_way(path: Path) -> None:
    """tantivy joins segments behind our back, and removes those that it joined."""
    writer = opened(path)
    for number in range(1, 41):
        add(writer, f"p{number:02}")
        assert writer.commit() == number
        if number % 3 == 0:
            end(writer)
            writer = opened(path, number - 1)
            assert len(found(path)) == number - 1
            add(writer, f"p{number:02}")
            assert writer.commit() == number
    end(writer)
    assert found(path) == [f"p{number:02}" for number in range(1, 41)]


def test_nothing_piles_up(path: Path) -> None:
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    for _ in range(30):  # each commit leaves one segment
        add(writer, "a")
        writer.commit()
        end(writer)
        writer = opened(path, 1)
    add(writer, "a")
    writer.commit()
    end(writer)
    assert len(list((path / kept.KEPT).iterdir())) == 7, "six files of a segment, and what was meta.json"
    assert len(list(path.glob("*.store"))) <= 3


def test_a_merge_that_ends_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between meta.json and the files of which it speaks: they are read once more."""
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    add(writer, "b")
    writer.commit()
    late = (path / "meta.json").read_bytes()
    early = late.replace(b'"segment_id": "', b'"segment_id": "0', 1)
    told = [early, late, late]
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: told.pop(0) if self == path / "meta.json" else real(self))
    kept.keep(path, 2)
    monkeypatch.undo()
    assert told == [late]
    add(writer, "c")
    assert writer.commit() == 3
    writer.close()
    opened(path, 2).close()
    assert found(path) == ["a", "b"]


def test_a_file_that_is_lost_is_no_merge(path: Path) -> None:
    writer = opened(path)
    add(writer, "a")
    writer.commit()
    next(path.glob("*.store")).unlink()
    add(writer, "b")
    with pytest.raises(StorageError, match="No such file"):
        writer.commit()
    writer.close()


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOTSUP, errno.EXDEV])
def test_where_there_are_no_hard_links_what_came_later_is_removed(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def link(*_: Any, **_named: Any) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "link", link)
    ahead(path)
    assert not (path / kept.KEPT).exists()
    opened(path, 2).close()
    assert (found(path, "first"), found(path, "second")) == (["b"], [])


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails(path: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def link(*_: Any, **_named: Any) -> None:
        raise OSError(error, os.strerror(error))

    writer = opened(path)
    add(writer, "a")
    writer.commit()
    add(writer, "b")
    monkeypatch.setattr(os, "link", link)
    with pytest.raises(StorageError, match="index"):
        writer.commit()
    monkeypatch.undo()
    writer.close()
    opened(path, 1).close()
    assert found(path) == ["a"]


@pytest.mark.parametrize("name", ["*.json", "*.store"])
@pytest.mark.parametrize("data", [b"", b"{}", None])
def test_damage_is_refused_where_it_matters(path: Path, name: str, data: bytes | None) -> None:
    ahead(path)
    for file in (path / kept.KEPT).glob(name):
        file.unlink()
        if data is not None:
            file.write_bytes(data)
    opened(path, 3).close()
    if name == "*.json" and data is None:  # as though there were no hard links
        opened(path, 2).close()
        assert (found(path, "first"), found(path, "second")) == (["b"], [])
        return
    with pytest.raises(StorageError, match=rf"{name[1:]}: "):
        opened(path, 2)


def test_damage_of_what_is_put_back(path: Path) -> None:
    ahead(path)
    (path / ".managed.json").write_text("[1")
    with pytest.raises(StorageError, match=r"managed\.json: the file is damaged"):
        opened(path, 2)
