"""The disk that fails when it is told to."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from larm.kit.disk.atomic import write_atomically
from tests.support.faults import FaultyDisk


def write_all(folder: Path) -> None:
    """One of everything."""
    (folder / "new").mkdir(exist_ok=True)
    with open(folder / "raw", "ab+", buffering=0) as raw:
        raw.write(b"raw")
        os.fsync(raw.fileno())
    with (folder / "text").open("w", encoding="utf-8", newline="\n") as text:
        text.write("text")
    (folder / "bytes").write_bytes(b"bytes")
    descriptor = os.open(folder / "low", os.O_WRONLY | os.O_CREAT)
    try:
        os.write(descriptor, b"low")
        os.ftruncate(descriptor, 1)
    finally:
        os.close(descriptor)
    os.replace(folder / "bytes", folder / "moved")


def test_it_counts_and_changes_nothing(tmp_path: Path) -> None:
    with FaultyDisk(tmp_path / "seen") as disk:
        (tmp_path / "seen").mkdir()
        write_all(tmp_path / "seen")
        (tmp_path / "elsewhere").write_text("not counted")
        assert (tmp_path / "seen" / "text").read_text() == "text"
    assert disk.sites == [
        "mkdir .",
        "mkdir new",
        *("open raw", "write raw", "fsync raw"),
        *("open text", "write text"),
        *("open bytes", "write bytes"),
        *("open low", "write low", "ftruncate low"),
        "replace bytes",
    ]
    assert disk.failed is None
    assert {path.name: path.read_bytes() for path in (tmp_path / "seen").iterdir() if path.is_file()} == {
        "raw": b"raw",
        "text": b"text",
        "moved": b"bytes",
        "low": b"l",
    }


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_each_attempt_can_fail(tmp_path: Path, error: int) -> None:
    with FaultyDisk(tmp_path) as disk:
        write_all(tmp_path)
    for number, site in enumerate(disk.sites, 1):
        if site == "mkdir new":
            continue  # it is there by now, which the system would say first
        folder = tmp_path / f"{number}"
        folder.mkdir()
        with FaultyDisk(folder, number, error) as disk, pytest.raises(OSError) as raised:  # noqa: PT011
            write_all(folder)
        assert raised.value.errno == error
        assert disk.failed == site


def test_a_full_disk_stays_full_and_a_bad_one_recovers(tmp_path: Path) -> None:
    for error, well in ((errno.ENOSPC, False), (errno.EIO, True)):
        with FaultyDisk(tmp_path, 1, error):
            for attempt in range(2):
                try:
                    (tmp_path / "file").write_text("some")
                    worked = True
                except OSError:
                    worked = False
                assert worked == (attempt == 1 and well)
    (tmp_path / "file").write_text("afterwards")


def test_what_is_written_by_a_temporary_file_is_seen(tmp_path: Path) -> None:
    with FaultyDisk(tmp_path) as disk:
        write_atomically(tmp_path / "state", b"new")
    assert [site.split()[0] for site in disk.sites] == ["open", "write", "fsync", "replace", "fsync"]
