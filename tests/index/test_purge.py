"""No file of an index has words of what was deleted, however its segments are; who is killed meanwhile leaves it whole."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from larm.index import purge as module
from larm.index.integrity import check_files
from larm.index.purge import purge
from tests.every_byte import holding
from tests.index.test_writer import add, found, opened

SECRET = rb"qzvkw"


def with_secrets(path: Path, *segments: tuple[int, int]) -> None:
    """Segments of so many pages, of which so many are deleted at the end."""
    writer = opened(path)
    for number, (pages, secret) in enumerate(segments):
        for each in range(pages):
            add(writer, f"{number}-{each}", f"qzvkw{number}x{each}" if each < secret else "word")
        writer.commit()
    for number, (_, secret) in enumerate(segments):
        for each in range(secret):
            writer.delete(f"http://a.org/{number}-{each}")
    writer.commit()
    writer.close()


def sizes(path: Path) -> list[tuple[int, object]]:
    return [(each["max_doc"], each["deletes"]) for each in json.loads((path / "meta.json").read_text())["segments"]]


@pytest.mark.parametrize(
    "segments",
    [((5, 1),), ((5, 5), (3, 0)), ((40, 1), (3, 2), (7, 0)), ((3, 1),) * 6, ((2, 2),), ((3, 0),)],
)
def test_no_word_is_left_and_no_other_page_is_lost(tmp_path: Path, segments: tuple[tuple[int, int], ...]) -> None:
    path = tmp_path / "index"
    with_secrets(path, *segments)
    left = sorted(found(path))
    assert bool(holding(path, SECRET)) == any(secret for _, secret in segments)
    assert purge(path)
    assert holding(path, SECRET) == set()
    assert [deletes for _, deletes in sizes(path)] == [None] * len(sizes(path))
    assert sorted(found(path)) == left
    assert len(left) == sum(pages - secret for pages, secret in segments)
    check_files(path)
    writer = opened(path, len(segments) + 1)
    add(writer, "new")
    writer.commit()
    writer.close()
    assert "new" in found(path)


def test_what_has_no_deleted_page_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "index"
    with_secrets(path, (9, 0))
    before = {file.name for file in path.glob("*.store")}
    assert purge(path)
    assert {file.name for file in path.glob("*.store")} == before


def test_who_is_killed_leaves_a_whole_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as meta.json speaks of the empty segments, and before."""
    for at in (0, 1):
        path = tmp_path / str(at)
        with_secrets(path, (20, 2), (5, 1))
        left = sorted(found(path))

        def dying(target: Path, data: bytes, _at: int = at) -> None:
            if _at:
                target.write_bytes(data)
            if target.name == "meta.json":
                raise KeyboardInterrupt

        monkeypatch.setattr(module, "write_atomically", dying)
        with pytest.raises(KeyboardInterrupt):
            purge(path)
        monkeypatch.undo()
        assert sorted(found(path)) == left
        check_files(path)
        assert purge(path)
        assert holding(path, SECRET) == set()
        assert sorted(found(path)) == left
        assert len(list(path.glob("*.store"))) == len(sizes(path))


def test_files_that_a_killed_process_left_go(tmp_path: Path) -> None:
    path = tmp_path / "index"
    with_secrets(path, (4, 1))
    (path / f"{'0' * 32}.store").write_bytes(b"qzvkw")
    (path / "mine").write_bytes(b"of the user")
    assert purge(path)
    assert holding(path, SECRET) == set()
    assert os.path.exists(path / "mine")


def test_files_of_which_meta_json_speaks_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the index is damaged after a power failure."""
    path = tmp_path / "index"
    with_secrets(path, (20, 2))
    synced, real = set[int](), os.fsync

    def sync(file: int) -> None:
        real(file)
        synced.add(os.fstat(file).st_ino)

    def dying(target: Path, data: bytes) -> None:
        if target.name != "meta.json":
            return
        before = {file.name for file in path.iterdir() if file.stat().st_mtime_ns <= begun}
        assert {file.name for file in path.iterdir() if file.stat().st_ino not in synced} <= before
        assert path.stat().st_ino in synced
        raise KeyboardInterrupt

    begun = max(file.stat().st_mtime_ns for file in path.iterdir())
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(module, "write_atomically", dying)
    with pytest.raises(KeyboardInterrupt):
        purge(path)
