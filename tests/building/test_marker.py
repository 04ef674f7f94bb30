"""Whose files those are that lie in a directory."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from larm.crawldir.form import FORM, MARKER, Marker, read_marker
from larm.crawldir.marker import forget, permit, refuse_to_begin, set_marker
from larm.crawldir.state import last_header
from larm.errors import StorageError

FILES = [
    "logs/store.log",
    "logs/thread0_errors.log",
    "logs/pagefile_12.pfl",
    "logs/pagefile_12.pfl.zst",
    "logs/URLScopeFilter.log",
    "stats.json",
    "index/index.html",
    "index.old/x",
    "graph/fig1.png",
    "anchors/x",
    "cachingqueue/notes.db",
    "lock",
    "larm.json",
]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_somebody_elses_is_named_and_stays(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(StorageError) as refused:
        permit(tmp_path)
    assert str(refused.value).startswith(f"{path}: larm would write there")
    with pytest.raises(StorageError):
        permit(tmp_path, fresh=True)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [path.name]
    path.unlink()
    assert not permit(tmp_path)


def test_what_is_in_nobodys_way(tmp_path: Path) -> None:
    """Other names, empty folders, and a lock of a larm that is beginning or was killed."""
    for name in ("logs/my.txt", "logs/access.log", "notes.log", "config.yaml", "docs/index.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    (tmp_path / "index").mkdir()
    for lock in ("", "4711\n"):
        (tmp_path / "lock").write_text(lock)
        assert not permit(tmp_path)
    assert not permit(tmp_path / "new" / "one")


def test_the_marker_makes_it_larms(tmp_path: Path) -> None:
    assert set_marker(tmp_path, "0.1.0", saved=False) == read_marker(tmp_path)
    (tmp_path / "stats.json").write_text("{}")
    assert permit(tmp_path)
    written = (tmp_path / MARKER).stat().st_ino
    set_marker(tmp_path, "0.1.0", saved=False)
    assert (tmp_path / MARKER).stat().st_ino == written, "it was as it should be"


@pytest.mark.parametrize("text", ["", "{", "{}", '{"form": "x"}', "\xff"])
def test_a_marker_that_is_none(tmp_path: Path, text: str) -> None:
    """Where the crawl can be told by its memory it is one, else the marker is a file like others."""
    (tmp_path / MARKER).write_text(text, encoding="latin-1")
    with pytest.raises(StorageError, match=MARKER):
        permit(tmp_path)
    (tmp_path / "cachingqueue").mkdir()
    (tmp_path / "cachingqueue" / "cache.db").write_bytes(b"damaged")
    assert permit(tmp_path)


@pytest.mark.parametrize("form", [FORM - 1, FORM + 1])
def test_directory_with_another_form_is_refused_before_its_state_is_read(tmp_path: Path, form: int) -> None:
    (tmp_path / MARKER).write_bytes(msgspec.json.encode(Marker(form, "9.1")))
    (tmp_path / "cachingqueue").mkdir()
    (tmp_path / "cachingqueue" / "cache.db").write_bytes(b"of another form")
    for read in (permit, last_header):
        with pytest.raises(StorageError, match=r"another version of larm \(9\.1\) made .*; crawl into another .* --fresh"):
            read(tmp_path)
    assert permit(tmp_path, fresh=True)


def test_fresh_removes_what_larm_made(tmp_path: Path) -> None:
    mine = ["logs/access.log", "logs/my.txt", "notes.log", "config.yaml", "index.html", "logs/mine_errors.log"]
    mine += ["logs/access.log.1"]
    ours = ["logs/store.log", "logs/MyFilter.log", "logs/pagefile_3.pfl", "logs/crash.log", "stats.json", "stats.json.new"]
    ours += ["logs/MyFilter.log.2", "logs/thread0_errors.log.7"]
    ours += ["index/meta.json", "index.new/x", "graph/snapshot", "anchors.old/x", "cachingqueue/cache.db"]
    for name in mine:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    assert not permit(tmp_path)
    assert set_marker(tmp_path, "0.1.0", saved=True).others == ("access.log", "mine_errors.log")
    for name in ours:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("larm's")
    forget(tmp_path, ["MyFilter", "access"])
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {*mine, MARKER}


def test_a_memory_that_has_none_is_no_beginning(tmp_path: Path) -> None:
    """With a checkpoint once made, and with pages: it was replaced."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "store.log").write_text("a page\n")
    set_marker(tmp_path, "0.1.0", saved=False)
    refuse_to_begin(tmp_path, "cache.db")
    set_marker(tmp_path, "0.1.0", saved=True)
    with pytest.raises(StorageError, match=r"cache\.db: no checkpoint in it, but .*store\.log has pages of the crawl"):
        refuse_to_begin(tmp_path, "cache.db")
    (tmp_path / "logs" / "store.log").unlink()
    refuse_to_begin(tmp_path, "cache.db")
