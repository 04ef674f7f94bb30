"""LogBook: all logs of a crawl, flushed together (LARM-98), and cut back together when a crawl is resumed.

Opened by the wiring, flushed by the tick thread; the logs themselves are written to by any thread. A log called ``name`` is the
file ``<name>.log``. One that has grown to half of what it may take is moved to ``<name>.log.<n>`` in the cut of a checkpoint, n
being its turns so far, and the part before that goes. A part of a turn that no checkpoint knows takes its place back. Nothing
reads what is in them, so one that others cut or removed goes on from what is left.
"""

import os
import threading
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.logs.log_file import LogFile, part

__all__ = ["GONE", "LogBook", "LogFile", "time_of_day"]

GONE: Final = "logs/bytes_gone"
"""Counter of what left logs for good, as they were longer than ``monitor.log_size``."""


class LogBook:
    """The logs of one directory. Files in it that nobody opened here are somebody else's and are left alone."""

    def __init__(self, directory: Path, others: Collection[str] = (), size: int = 0) -> None:
        """Make the directory where it is missing; ``others`` are files in it that are refused. Raises StorageError.

        ``size``: bytes that a log may take, with its old part; 0: any.
        """
        # constant after construction
        self.directory = directory
        self._size = size
        self._others = frozenset(others)
        self._lock = threading.Lock()
        # guarded by self._lock
        self._files: dict[str, LogFile] = {}
        self._turns: dict[str, int] = {}
        self._noted: dict[str, int] | None = None  # positions to go on from, of logs that are not open yet
        with disk_failures(directory):
            directory.mkdir(parents=True, exist_ok=True)

    def open(self, name: str, header: str | None = None) -> LogFile:
        """The log ``<name>.log``, the same object for the same name. Raises StorageError; ValueError if the name is a path."""
        if not name or name != Path(name).name:
            raise ValueError(f"{name!r} is no name of a log")
        with self._lock:
            if name not in self._files:
                path = self._path(name)
                if path.name in self._others:
                    raise StorageError(
                        f"{path}: it was there before this crawl and is not larm's; it would be overwritten; move it"
                        " elsewhere, or use another directory (--dir)"
                    )
                if self._noted is not None:
                    self._cut_locked(name, self._noted.get(name, 0))
                self._files[name] = LogFile(path, header)
                if self._noted is not None:
                    self._noted.pop(name, None)
            return self._files[name]

    def sync(self) -> None:
        """Flush, and wait for the disk: a log must not be shorter than a checkpoint notes, even after a power cut."""
        for file in self._opened():
            file.sync()

    def turn(self) -> int:
        """Begin each log anew that takes half of what it may; the bytes that went for good. Raises StorageError.

        For the cut of a checkpoint, before `positions`.
        """
        gone = 0
        with self._lock:
            for name, file in self._files.items() if self._size else ():
                if file.position > self._size // 2:
                    number = self._turns.get(name, 0) + 1
                    gone += file.turn(number)
                    self._turns[name] = number
        return gone

    def turns(self) -> dict[str, int]:
        """How often each log has begun anew, where it has."""
        with self._lock:
            return dict(self._turns)

    def positions(self) -> dict[str, int]:
        """Length of each log with what is buffered: for the cut of a checkpoint. `sync` before it is stored."""
        with self._lock:
            return (self._noted or {}) | {name: file.position for name, file in self._files.items()}

    def go_back(self, positions: Mapping[str, int], turns: Mapping[str, int] | None = None) -> dict[Path, int]:
        """Undo what was logged after ``positions`` was noted, and turns after ``turns``. Before any log is opened.

        Logs that are not named become empty, when they are opened. Returns the length in bytes of those that are shorter than
        was noted, as others cut or removed them. Raises StorageError.
        """
        with self._lock:
            self._turns = dict(turns or {})
            self._noted = {name: self._cut_locked(name, position) for name, position in positions.items()}
            return {self._path(name): left for name, left in self._noted.items() if left < positions[name]}

    def close(self) -> None:
        """Flush and close all logs. Raises StorageError, after closing all, for the first that could not be written."""
        failures = []
        for file in self._opened():
            try:
                file.close()
            except Exception as error:  # noqa: BLE001  raised below
                failures.append(error)
        if failures:
            raise failures[0]

    def _cut_locked(self, name: str, position: int) -> int:
        """Take back a turn that is not noted, even one that was killed half-way, and cut; the length that is left."""
        path = self._path(name)
        later = part(path, self._turns.get(name, 0) + 1)
        with disk_failures(path):
            if later.exists():
                os.replace(later, path)
            left = min(path.stat().st_size, position) if path.exists() else 0
            if path.exists():
                os.truncate(path, left)
        return left

    def _opened(self) -> list[LogFile]:
        with self._lock:
            return list(self._files.values())

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def __repr__(self) -> str:
        return f"<LogBook {self.directory}: {', '.join(self._files) or 'no logs'}>"


def time_of_day(wall: float) -> str:
    """``HH:mm:ss:mmm``, local time, as each line of a log begins (LARM-96); ``wall``: seconds since 1970."""
    now = datetime.fromtimestamp(wall)
    return f"{now.hour:02d}:{now.minute:02d}:{now.second:02d}:{now.microsecond // 1000:03d}"
