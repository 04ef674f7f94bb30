"""Files and folders below a start folder, opened so that no link leads out of it and nothing but plain files is touched.

Asked by `larm.fetch.file_fetcher`, on the fetcher threads. The path is walked name by name and no symbolic link is followed,
so there is no moment between a check and the opening at which somebody could change what a name stands for.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

CAN_WALK: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
"""Whether this system can open a name relative to an open folder."""
_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC"))
_PIECE: Final = 1 << 20
_KINDS: Final = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class LinkMet(Exception):  # noqa: N818
    """A symbolic link is on the way; where it leads is another address."""


class NotPlain(Exception):  # noqa: N818
    """Neither a file nor a folder. Such are never opened: that may block, or do something. ``str()`` says what it is."""


class Opened(NamedTuple):
    """What is open now."""

    descriptor: int
    status: os.stat_result

    @property
    def folder(self) -> bool:
        """A folder; else it is a regular file."""
        return stat.S_ISDIR(self.status.st_mode)


@contextmanager
def open_below(root: str, below: str) -> Iterator[Opened]:
    """``below`` is a path as seen from ``root``, empty for the folder itself; ``root`` has no link in it.

    Raises LinkMet, NotPlain, OSError.
    """
    opened = _step(root, None)
    try:
        for name in below.split(os.sep) if below else ():
            inner = _step(name, opened.descriptor)
            os.close(opened.descriptor)
            opened = inner
        yield opened
    finally:
        os.close(opened.descriptor)


def _step(name: str, folder: int | None) -> Opened:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise LinkMet(name)
    _check_plain(found)
    descriptor = os.open(name, _FLAGS, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        _check_plain(status)  # it may have been replaced
    except BaseException:
        os.close(descriptor)
        raise
    return Opened(descriptor, status)


def _check_plain(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise NotPlain(f"{_KINDS.get(stat.S_IFMT(found.st_mode), 'special')}, neither a file nor a folder")


def read_bytes(descriptor: int, size: int) -> bytes:
    """At most ``size`` bytes from where it stands. Raises OSError."""
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(descriptor, min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def names_in(descriptor: int, wanted: Callable[[str, bool], bool], most: int) -> tuple[list[str], bool]:
    """The names of files and folders in an open folder, in order, a slash behind those of folders; and whether they are all.

    ``wanted(name, is a folder)`` is asked for each; no more than ``most`` are read. A symbolic link is taken for what it leads
    to; pipes, sockets and devices are left out.
    """
    names: list[str] = []
    with os.scandir(descriptor) as entries:
        for entry in entries:
            folder = _is(entry.is_dir)
            if not (folder or _is(entry.is_file)) or not wanted(entry.name, folder):
                continue
            if len(names) == most:
                return sorted(names), False
            names.append(entry.name + os.sep * folder)
    return sorted(names), True


def has_any(descriptor: int, names: Iterable[str]) -> bool:
    """Whether any of these is in an open folder."""
    for name in names:
        try:
            os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            continue
        return True
    return False


def _is(ask: Callable[[], bool]) -> bool:
    """An answer of the disk; a loop of links, say, is neither file nor folder."""
    try:
        return ask()
    except OSError:
        return False
