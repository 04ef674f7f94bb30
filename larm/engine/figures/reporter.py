"""Reporter: writes what a snapshot says to ``logs/ThreadMonitor.log`` and ``stats.json`` (LARM-77, LARM-78, LARM-82).

It observes and never steers: when the crawl ends, and what is flushed or restarted, is not decided here. `tick` is called by
the tick thread, and when that has ended by the main thread as long as the end takes; `finish` once by the main thread. No two
run at the same time.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from larm.engine.figures import thread_log
from larm.engine.figures.limits import ending, limiting_factor
from larm.engine.figures.machine import cores_now, memory_now
from larm.engine.figures.rates import Rate, Rates
from larm.engine.figures.snapshot import Snapshot
from larm.engine.figures.summary import summary
from larm.errors import StorageError
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.logs.log_file import LogFile
from larm.seams import Clock

SAMPLES = 10
"""Ticks that the averages go over: 50 seconds at LARM's five (LARM-78)."""
LOG = "ThreadMonitor.log"
STATS = "stats.json"


class Reporter:
    """Owns the two files. Its calls come from one thread at a time."""

    def __init__(self, probe: Callable[[], Snapshot], clock: Clock, directory: Path, log_size: int = 0) -> None:
        """``directory`` is the crawl's own; ``logs/`` in it is made where absent (LARM-9). Raises StorageError.

        ``log_size``: bytes that the log may take, with its old part; 0: any.
        """
        # constant after construction
        self._probe = probe
        self._clock = clock
        self._stats = directory / STATS
        # only the thread that ticks
        self._rates = Rates(SAMPLES)
        self._log_size = log_size
        self._log = LogFile(directory / "logs" / LOG, thread_log.header(clock.wall(), 0.0))

    def tick(self, waits: Sequence[str] = ()) -> Snapshot:
        """Take the figures, write them to both files. Raises StorageError where the disk does not take them.

        ``waits``: the crawl ends, and waits for these.
        """
        now = self._probe()
        self._write(now, "", waits)
        return now

    def pace(self, now: Snapshot) -> tuple[Rate, str]:
        """Averages over the last ticks and since then, and what limits the crawl; any thread."""
        first = self._rates.first if self._rates else now
        return self._rates.average(now), limiting_factor(first, now, self._rates.cpu, self._rates.machine)

    def finish(self, reason: str) -> None:
        """The last figures and why it ended (`Ending.reason`); closes the log. Raises StorageError."""
        try:
            self._write(self._probe(), reason)
        finally:
            self.close()

    def close(self) -> None:
        """Leave without a last line; may be called again. Raises StorageError, and is closed all the same."""
        self._log.close()

    def _write(self, now: Snapshot, reason: str, waits: Sequence[str] = ()) -> None:
        self._rates.add(now, time.process_time(), cores_now())
        wall = self._clock.wall()
        if self._log_size and self._log.position > self._log_size // 2:
            self._log.turn(1)
        self._log.line(thread_log.line(now, wall, memory_now()))
        self._log.flush()
        _replace(self._stats, msgspec.json.format(msgspec.json.encode(self._report(now, reason, waits, wall))))

    def _report(self, now: Snapshot, reason: str, waits: Sequence[str], wall: float) -> dict[str, Any]:
        """What stats.json holds; ``larm stats`` and scripts read it."""
        average = self._rates.average()
        limit = "" if reason else ending(waits) or limiting_factor(self._rates.first, now, self._rates.cpu, self._rates.machine)
        return {
            "state": "finished" if reason else "running",
            "finish_reason": reason,
            "written": wall,
            "pages_per_second": round(average.pages, 3),
            "bytes_per_second": round(average.received, 1),
            "average_over_seconds": round(average.seconds, 1),
            "limited_by": limit,
            "figures": now,
            "stats": summary(now, reason, wall),
        }


def note_sentences(directory: Path, said: Sequence[str]) -> None:
    """Keep in stats.json what was said at the end of a run, which may have ended unseen. Raises StorageError."""
    path = directory / STATS
    try:
        report = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: can't read the figures: {error}") from error
    _replace(path, msgspec.json.format(msgspec.json.encode(report | {"said": said})))


def _replace(path: Path, content: bytes) -> None:
    """Whoever reads ``path`` sees the old file or the new one, never half of it. No sync: it is a report, not state."""
    half = path.with_name(path.name + ".new")
    with disk_failures(path):
        half.write_bytes(content)
        os.replace(half, path)
