"""write_atomically: a file is either the old one or the new one, also after a power failure. Used on any thread."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.files import sync_directory


def open_beside(path: Path) -> tuple[int, str]:
    """A new file that is to take the place of ``path``: descriptor and name; the mode is the umask's. Raises OSError."""
    name = _name_beside(path)
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666), name


def _name_beside(path: Path) -> str:
    return f"{path.parent}/.{path.name}.{secrets.token_hex(4)}"


def _open_nameless(path: Path) -> int | None:
    """Open a new file in the folder of ``path`` that goes with a killed process; None where the system has no such files."""
    if not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(path.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except (AttributeError, OSError):
        return None


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file at ``path``, or make it; its directory must exist. Raises StorageError, then the old file stands."""
    rewrite_atomically(path, [data])


def rewrite_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for a large one. What ``pieces`` raises is passed on, and the old file stands as well."""
    with _replacing(path) as file:
        file.writelines(pieces)


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that a user names for output; after an exception the old file is as it was. Raises StorageError, OSError.

    A file keeps its mode. Devices and pipes are written to, and never replaced.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    with _replacing(path.resolve(), _open_nameless(path.resolve())) as file:
        if path.exists():
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
        yield file


@contextmanager
def _replacing(path: Path, nameless: int | None = None) -> Iterator[BinaryIO]:
    """``nameless``: a file of `_open_nameless`. Files of the state have names: some file systems cannot link."""
    with disk_failures(path):
        descriptor, name = open_beside(path) if nameless is None else (nameless, _name_beside(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:  # by a folder's descriptor, or Python would link the link in /proc
                os.link(f"/proc/self/fd/{nameless}", name, src_dir_fd=nameless)
        os.replace(name, path)
        sync_directory(path.parent)  # or the new name may be lost while the data is kept
    except BaseException as error:
        with suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError):
            raise disk_failure(path, error) from error
        raise
