"""FaultyDisk: a disk that fails at the n-th write, for tests of whatever writes files through Python.

::

    with FaultyDisk(directory, at=17, error=errno.ENOSPC) as disk:
        ...  # write below the directory: the 17th attempt fails, and with ENOSPC all that follow
    assert disk.failed == "write logs/links.log"

Without ``at`` nothing fails and `FaultyDisk.sites` tells what there is to fail. It stands in front of the functions of ``os``
and of ``open``, in this process, on all threads, below one directory; files that were open before are not watched. What SQLite
and tantivy write does not come by here. One at a time; entered and left on the test's thread.
"""

import builtins
import errno
import io
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
_BY_PATH = ("truncate", "replace", "rename", "mkdir")
_BY_DESCRIPTOR = ("write", "pwrite", "fsync", "ftruncate", "posix_fallocate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class FaultyDisk:
    """A context manager. ``at``: number of the attempt that fails, from 1; ``error``: its errno.

    A full or read-only disk stays so until the context is left; any other error happens once.
    """

    def __init__(self, folder: Path, at: int | None = None, error: int = errno.EIO) -> None:
        # constant after construction
        self._folder = os.path.realpath(folder)
        self._at = at
        self._error = error
        self._patches = ExitStack()
        self._open: Callable[..., Any] = io.open
        self._lock = threading.Lock()
        # guarded by self._lock
        self.sites: list[str] = []
        """Every attempt to write: what, and which file."""
        self.failed: str | None = None
        """The first that failed."""

    def __enter__(self) -> Self:
        for name in _BY_PATH:
            self._put(name, lambda real, path, *rest, **more: self._guard(real, os.fspath(path), path, *rest, **more))
        for name in _BY_DESCRIPTOR:
            self._put(name, lambda real, file, *rest: self._guard(real, path_of(file), file, *rest))
        self._put("open", self._os_open)
        for module in (builtins, io):
            self._patches.enter_context(patch.object(module, "open", self._io_open))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._patches.close()

    def attempt(self, what: str, path: str) -> None:
        """Count it, if it is below the folder. Raises OSError if it is to fail."""
        if not os.path.realpath(path).startswith(self._folder):
            return
        with self._lock:
            site = f"{what} {os.path.relpath(os.path.realpath(path), self._folder)}"
            self.sites.append(site)
            number = len(self.sites)
            if self._at is None or number < self._at or (number > self._at and self._error not in _FULL):
                return
            self.failed = self.failed or site
        raise OSError(self._error, os.strerror(self._error), path)

    def _put(self, name: str, stand_in: Callable[..., Any]) -> None:
        real = getattr(os, name)
        self._patches.enter_context(patch.object(os, name, lambda *given, **more: stand_in(real, *given, **more)))

    def _guard(self, real: Callable[..., Any], path: str, *given: Any, **more: Any) -> Any:
        if real.__name__ != "mkdir" or not os.path.isdir(path):  # that it is there already is said first
            self.attempt(real.__name__, path)
        return real(*given, **more)

    def _os_open(self, real: Callable[..., int], path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & _WRITING:
            self.attempt("open", os.fspath(path))
        return real(path, flags, *rest, **more)

    def _io_open(self, file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **more: Any) -> Any:
        """Like ``open``, on a raw file that asks us first."""
        if not set(mode) & set("wax+"):
            return self._open(file, mode, buffering, *rest, **more)
        path = path_of(file) if isinstance(file, int) else os.fspath(file)
        if not isinstance(file, int):
            self.attempt("open", path)
        raw = _FaultyFile(file, mode.replace("b", "").replace("t", ""), self, path)
        if buffering == 0:
            return raw
        binary: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return binary if "b" in mode else io.TextIOWrapper(binary, *rest, **more)


class _FaultyFile(io.FileIO):
    """A file whose writes are counted."""

    def __init__(self, file: Any, mode: str, disk: FaultyDisk, path: str) -> None:
        super().__init__(file, mode)
        self._disk = disk
        self._path = path

    def write(self, data: Any, /) -> int:
        self._disk.attempt("write", self._path)
        return super().write(data)

    def truncate(self, size: int | None = None, /) -> int:
        self._disk.attempt("truncate", self._path)
        return super().truncate(size)


def path_of(descriptor: int) -> str:
    """The path under which a file was opened (Linux)."""
    return os.readlink(f"/proc/self/fd/{descriptor}")


def open_files(directory: Path) -> list[str]:
    """Those of this process that lie in a directory. It asks /proc."""
    links = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the look itself
            links.append(str(link.readlink()))
    return [path for path in links if path.startswith(str(directory))]
