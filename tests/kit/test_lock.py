"""One writer a directory."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from larm.errors import StorageError, UsageError
from larm.kit.disk.lock import FILE_NAME, DirectoryLock, is_held

HOLDER = """
import sys
from pathlib import Path
from larm.kit.disk.lock import DirectoryLock
lock = DirectoryLock(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_second_lock_is_refused_until_the_first_is_given_back(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "crawl"
    with DirectoryLock(directory) as lock:
        assert "held" in repr(lock)
        with pytest.raises(UsageError, match=f"crawl is in use by process {os.getpid()};") as refused:
            DirectoryLock(directory)
        assert refused.value.exit_status == 2
    lock.close()
    assert "free" in repr(lock)
    DirectoryLock(directory).close()


def test_the_lock_of_another_process_ends_with_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(UsageError, match=f"in use by process {holder.pid};"):
            DirectoryLock(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    DirectoryLock(tmp_path).close()


def test_whether_it_is_held_can_be_seen(tmp_path: Path) -> None:
    assert not is_held(tmp_path), "there is none"
    with DirectoryLock(tmp_path):
        assert is_held(tmp_path)
        assert is_held(tmp_path), "who looks does not take it away"
    assert not is_held(tmp_path)


def test_who_only_looks_refuses_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DirectoryLock(tmp_path).close()
    with open(tmp_path / FILE_NAME, "rb") as looks:
        flock = fcntl.flock
        flock(looks, fcntl.LOCK_SH)

        def seen(descriptor: int, how: int) -> None:
            assert how & fcntl.LOCK_NB, "nobody is waited for: it may be another that begins, and has it for days"
            try:
                flock(descriptor, how)
            finally:
                if how & fcntl.LOCK_SH:  # he goes
                    looks.close()

        monkeypatch.setattr(fcntl, "flock", seen)
        DirectoryLock(tmp_path).close()


def test_a_longer_pid_of_the_past_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("99999999999999\n")
    with DirectoryLock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file/crawl: Not a directory: it can't be opened"):
        DirectoryLock(tmp_path / "file" / "crawl")


def test_directory_counts_as_written_when_its_lock_was_not_only_a_look(tmp_path: Path) -> None:
    DirectoryLock(tmp_path, looks=True).close()
    assert tmp_path not in DirectoryLock.written
    DirectoryLock(tmp_path).close()
    assert tmp_path in DirectoryLock.written
