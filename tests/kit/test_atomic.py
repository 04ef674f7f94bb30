"""A file is the old one or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.atomic import output_file, write_atomically


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


def test_output_file_is_as_it_was_when_its_writer_fails(tmp_path: Path) -> None:
    path = tmp_path / "pages"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), output_file(path) as file:
        file.writelines([b"new" * 10_000, "no bytes"])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_output_file_keeps_mode_and_link_when_it_is_replaced(tmp_path: Path) -> None:
    path, link = tmp_path / "pages", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    with output_file(link) as file:
        file.write(b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o600, True)


def test_output_file_is_written_in_place_when_it_is_a_pipe(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with output_file(Path(f"/dev/fd/{writer}")) as file:
        file.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    os.close(writer)


def test_output_of_a_killed_process_leaves_nothing_beside_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"old")
    code = "import os, pathlib, sys\nfrom larm.kit.disk.atomic import output_file\n"
    code += "with output_file(pathlib.Path(sys.argv[1])) as file:\n    file.write(b'new')\n    file.flush()\n    os._exit(9)"
    assert subprocess.run([sys.executable, "-P", "-c", code, str(path)], check=False).returncode == 9
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"pages.jsonl": b"old"}
