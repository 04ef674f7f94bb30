"""What files need so that a checkpoint can rely on them. Stateless; used on any thread."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from larm.errors import REPAIR, StorageError
from larm.kit.disk.disk_failure import disk_failure, disk_failures

PIECE = 1_000_000
"""Bytes that are copied at a time."""


def pieces(file: BinaryIO, begin: int, end: int) -> Iterator[bytes]:
    """What a file has between two places, a piece at a time; less where it is shorter. Raises OSError."""
    file.seek(begin)
    while begin < end and (piece := file.read(min(end - begin, PIECE))):
        begin += len(piece)
        yield piece


def is_there(path: Path) -> bool:
    """Whether there is a file or folder. Raises StorageError where that can't be known: in a folder of another user."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise disk_failure(path, error) from error
    return True


def free_bytes(directory: Path) -> int:
    """What this user may still write to the disk that it is on. Raises StorageError."""
    with disk_failures(directory):
        found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def cut_back(path: Path, length: int) -> None:
    """Cut the file to ``length`` bytes. Raises StorageError where it is shorter, or absent and ``length`` is not 0."""
    with disk_failures(path):
        if check_length(path, length) > length:
            os.truncate(path, length)


def check_length(path: Path, length: int) -> int:
    """Bytes of the file. Raises StorageError where it is shorter than ``length``, or absent and ``length`` is not 0."""
    with disk_failures(path):
        found = path.stat().st_size if path.exists() else 0
        if found < length:
            raise StorageError(
                f"{path}: {found:,} bytes, but the last checkpoint noted {length:,}: it was cut or replaced; "
                f"put the file back as it was, or {REPAIR}"
            )
        return found


def sync_directory(directory: Path) -> None:
    """Make the names of new files in it durable, too. Raises StorageError."""
    with disk_failures(directory):
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
