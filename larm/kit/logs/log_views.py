"""LogViews: the logs of a directory as people see them while a crawl writes them. Used on the control thread.

It opens files to read and knows no other way: nothing that is asked can create or cut a log. It shows what is on the disk.
"""

import os
from pathlib import Path

from larm.errors import UsageError

_LOOK = 256 * 1024
"""Bytes of a log that are read at a time."""


class LogViews:
    """The files ``<name>.log`` of a directory. What can't be read raises UsageError, as that is no reason to end a crawl."""

    def __init__(self, directory: Path) -> None:
        # constant after construction
        self._directory = directory

    def names(self) -> list[str]:
        """Return the names of all logs, in their order."""
        try:
            with os.scandir(self._directory) as found:
                return sorted(each.name[:-4] for each in found if each.name.endswith(".log") and each.is_file())
        except OSError as error:
            raise UsageError(f"{self._directory}: {error.strerror}") from error

    def last(self, name: str, count: int) -> list[str]:
        """Return the last lines, as far as they are in its last bytes."""
        lines, _ = self.since(name, 0)
        return lines[max(len(lines) - count, 0) :]

    def since(self, name: str, position: int | None) -> tuple[list[str], int]:
        """Return the lines from a position on, of very many only the last, and the position behind them; None: the end."""
        names, whole = self.names(), True
        if name not in names:
            raise UsageError(f"there is no log {name[:100]}; there are {', '.join(names)}")
        try:
            with (self._directory / f"{name}.log").open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                if position is None or position > size:  # it was cut back, or begun again
                    position = size if position is None else 0
                if size - position > _LOOK:
                    position, whole = size - _LOOK, False
                file.seek(position)
                data = file.read(size - position)
        except OSError as error:
            raise UsageError(f"{name}.log: {error.strerror}") from error
        end = data.rfind(b"\n") + 1
        lines = data[:end].decode("utf-8", "replace").split("\n")[:-1]
        return lines if whole else lines[1:], position + end
