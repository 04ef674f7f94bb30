"""Where a running crawl listens: ``DIR/control.sock``, a socket that only its owner may use.

A path of a socket has at most some hundred bytes, and some file systems have none. Then the socket is in a folder of its own
below the system's folder for temporary files, which only its owner may enter, and the crawl's lock file says where. Beside it
is a link to the directory: in a copy of that, the lock file says the same, and the socket is that of another crawl.

Called by the main thread of a crawl (`listen`), and by whoever talks to one (`socket_of`).
"""

import os
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failure, disk_failures
from larm.kit.disk.lock import DirectoryLock, note_in_lock

SOCKET = "control.sock"
_LONGEST = 103
"""Bytes of a path: with the NUL behind it there is room for 108 on Linux, for 104 on macOS and BSD."""
_PREFIX, _CRAWL = "larm-control-", "crawl"


def listen(lock: DirectoryLock) -> tuple[socket.socket, Path]:
    """A socket that listens, and its path. Under the lock of the directory, so one that is there is of a dead crawl.

    Raises StorageError.
    """
    if lock.left_note and _is_of(Path(lock.left_note), lock.directory):
        remove(Path(lock.left_note))
    path = lock.directory.absolute() / SOCKET
    try:
        if len(os.fsencode(path)) <= _LONGEST:
            with suppress(OSError):  # a file system without sockets
                return _bind(path), path
        path = Path(tempfile.mkdtemp(prefix=_PREFIX)) / SOCKET
        if len(os.fsencode(path)) > _LONGEST:
            path.parent.rmdir()
            path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")) / SOCKET
        listener = _bind(path)
        (path.parent / _CRAWL).symlink_to(lock.directory.absolute())
        lock.note(str(path))
        return listener, path
    except OSError as error:
        raise disk_failure(path, error) from error


def socket_of(directory: Path) -> Path | None:
    """Where a crawl of this directory listens, if one does. Raises StorageError."""
    path = directory.absolute() / SOCKET
    with disk_failures(path):
        if path.is_socket():
            return path
        noted = Path(note_in_lock(directory) or "/")
        return noted if _is_of(noted, directory) else None


def remove(path: Path) -> None:
    """The socket at this path, and the folder that was made for it."""
    with suppress(OSError):
        path.unlink()
    if path.parent.name.startswith(_PREFIX):
        with suppress(OSError):
            (path.parent / _CRAWL).unlink()
            path.parent.rmdir()


def _is_of(path: Path, directory: Path) -> bool:
    """A folder that was made for this directory's socket."""
    link = path.parent / _CRAWL
    return path.parent.name.startswith(_PREFIX) and link.exists() and link.samefile(directory)


def _bind(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            if not path.is_socket():
                path.lstat()  # FileNotFoundError: nothing is there
                raise StorageError(f"{path}: larm's socket goes there, and something else is there; move it elsewhere")
            path.unlink()
        with suppress(OSError):
            os.fchmod(listener.fileno(), 0o600)  # on Linux the mode that the file is made with: it is never another one
        listener.bind(str(path))
        os.chmod(path, 0o600)
        listener.listen(64)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener
