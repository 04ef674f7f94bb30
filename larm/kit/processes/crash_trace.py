"""CrashTrace: a file in which a crash of this process (a segmentation fault, an abort) leaves a traceback, and a kill nothing.

Python has one such file for a process, so several that are open at a time share it: the oldest is the file, the others are
links to it, and one of them takes over when it is closed. Whatever the program around us had switched on before is on again
after the last one. Any thread.
"""

from __future__ import annotations

import faulthandler
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_lock = threading.Lock()
# guarded by _lock
_open: list[CrashTrace] = []  # the first one has the file
_enabled_before: list[bool] = []  # by the program around us; there while any is open


class CrashTrace:
    """Made: from now on. Raises OSError where the file can't be written."""

    def __init__(self, path: Path) -> None:
        # constant after construction
        self._path = path
        # guarded by _lock
        self._file: BinaryIO | None = None
        with _lock:
            if not _open:
                enabled = faulthandler.is_enabled()
                self._own()
                _enabled_before.append(enabled)
            else:
                self._link(_open[0]._path)
            _open.append(self)

    @staticmethod
    def crashed(path: Path) -> bool:
        """Whether the process that had this trace open last has crashed."""
        return path.exists() and path.stat().st_size > 0

    def close(self) -> None:
        """The process goes on without it; a second call does nothing."""
        with _lock:
            if self not in _open:
                return
            _open.remove(self)
            if self._file is not None:
                self._hand_over()
                self._file.close()
            self._path.unlink(missing_ok=True)

    def _hand_over(self) -> None:
        if _open:
            _open[0]._own()
            for other in _open[1:]:
                other._link(_open[0]._path)
            return
        faulthandler.disable()
        if _enabled_before.pop():
            with suppress(OSError, ValueError, AttributeError, RuntimeError):  # no stderr
                faulthandler.enable()

    def _own(self) -> None:
        self._path.unlink(missing_ok=True)
        self._file = self._path.open("wb")
        faulthandler.enable(self._file)

    def _link(self, path: Path) -> None:
        self._path.unlink(missing_ok=True)
        try:
            os.symlink(path.absolute(), self._path)
        except OSError:  # a file system without links: a crash will be taken for a kill
            self._path.touch()
