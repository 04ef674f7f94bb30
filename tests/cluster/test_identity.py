"""The identity of an agent, in its directory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from larm.cluster import identity
from larm.cluster.agent import Gone
from larm.cluster.applicant import SavedSession
from larm.cluster.identity import Identity, place_of, read_identity, write_identity
from larm.cluster.transport import speaks_for
from larm.errors import StorageError, UsageError


def test_name_is_that_of_the_certificate_and_new_for_each_directory(tmp_path: Path) -> None:
    """An agent that starts again without its directory must not be taken for the one that had the hosts."""
    names = {read_identity(tmp_path / str(number), "demo", "one").name for number in range(2)}
    assert len(names) == 2
    assert all(speaks_for("one", name) for name in names)
    path = tmp_path / "agent.json"
    write_identity(path, Identity("demo", "one-3f2a91"))
    assert read_identity(path, "demo", "one").name == "one-3f2a91"
    with pytest.raises(UsageError, match="is for two"):
        read_identity(path, "demo", "two")
    assert read_identity(path, "demo").name == "one-3f2a91"


def test_directory_of_another_cluster_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    write_identity(path, Identity("demo", "a"))
    with pytest.raises(UsageError, match="a part of the cluster demo, not of other"):
        read_identity(path, "other")
    assert read_identity(path).cluster == "demo"


def test_identity_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    saved = SavedSession("c", 1, 5, member=True, nonce=7, revision=9)
    gone = (Gone("x", {"a": 1.0, "x": 0.5}, 4), Gone("", {}, 5))
    written = Identity("demo", "a", 3, "boot 5", "here:1", ("http://there:2379",), saved, 5, gone, inside=True)
    write_identity(path, written)
    assert read_identity(path, "demo") == written
    path.write_text("{")
    with pytest.raises(StorageError, match="put it back as it was"):
        read_identity(path, "demo")


def test_copied_directory_and_restarted_machine_are_other_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their process can't know that the one before is dead."""
    folder, copy, boot = tmp_path / "queues", tmp_path / "copy", tmp_path / "boot_id"
    folder.mkdir()
    boot.write_text("one\n")
    monkeypatch.setattr(identity, "_BOOT_ID", boot)
    place = place_of(folder)
    assert place == place_of(folder)
    shutil.copytree(folder, copy)
    assert place_of(copy) != place
    boot.write_text("two\n")
    assert place_of(folder) != place
    boot.unlink()
    assert not place_of(folder), "a system that does not say it has no place"
