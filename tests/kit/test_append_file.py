"""What is appended is in the file, in its order, however little the system takes at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.kit.disk.append_file import AppendFile

SMALL = [b"line %d\n" % number for number in range(2_000)]
LARGE = [bytes([number]) * size for number, size in enumerate((5_000, 1, 0, 70_000, 2_000, 1_500))]
MANY = [b"%04d" % number * 500 for number in range(1_500)]  # more than one call takes


@pytest.mark.parametrize("pieces", [SMALL, LARGE, MANY, [b""], []], ids=["small", "large", "many", "empty", "none"])
@pytest.mark.parametrize("auto", [True, False])
def test_all_of_it_is_there(tmp_path: Path, pieces: Sequence[bytes], auto: bool) -> None:
    file = AppendFile(tmp_path / "log", 0, auto)
    for piece in pieces:
        file.append(piece)
    whole = b"".join(pieces)
    assert file.length == len(whole)
    file.close()
    assert (tmp_path / "log").read_bytes() == whole


@pytest.mark.parametrize("taken", [1, 4_999, 5_000, 5_001, 76_001, 76_002])
def test_what_is_written_in_part_is_finished(tmp_path: Path, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(descriptor: int, pieces: Sequence[bytes]) -> int:
        return os.write(descriptor, b"".join(pieces)[:taken])

    monkeypatch.setattr(os, "writev", some)
    file = AppendFile(tmp_path / "log", 0)
    for piece in LARGE:
        file.append(piece)
    file.close()
    assert (tmp_path / "log").read_bytes() == b"".join(LARGE)


@pytest.mark.parametrize("pieces", [SMALL, LARGE], ids=["small", "large"])
def test_a_full_disk_leaves_whole_pieces(tmp_path: Path, pieces: Sequence[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was there before. The next run cuts it back to its checkpoint, but people read logs in between."""

    def full(descriptor: int, rest: Sequence[bytes]) -> int:
        os.write(descriptor, b"".join(rest)[:7])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "log").write_bytes(b"an older line\n")
    file = AppendFile(tmp_path / "log", 14, auto=False)
    file.append(b"a line\n")
    file.flush()
    monkeypatch.setattr(os, "writev", full)
    for piece in pieces:
        file.append(piece)
    with pytest.raises(StorageError, match="the disk is full"):
        file.flush()
    file.close()
    assert (tmp_path / "log").read_bytes() == b"an older line\na line\n"
