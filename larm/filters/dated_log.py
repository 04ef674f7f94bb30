"""DatedLog: a log of a filter whose lines begin with date and time, and are flushed at once (LARM-97). Handler thread."""

from collections.abc import Sequence
from datetime import datetime

from larm.kit.logs.log_file import LogFile
from larm.seams import Clock


class DatedLog:
    """Wraps a `LogFile`."""

    def __init__(self, file: LogFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    def lines(self, lines: Sequence[str]) -> None:
        """Append and flush."""
        now = datetime.fromtimestamp(self._clock.wall()).isoformat(" ", "milliseconds")
        self._file.lines([f"{now} {line}" for line in lines])
        self._file.flush()
