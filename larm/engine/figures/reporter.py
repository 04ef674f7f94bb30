"""Reporter: writes what a snapshot says to ``logs/ThreadMonitor.log`` and ``stats.json`` (LARM-77, LARM-78, LARM-82).

It observes and never steers: when the crawl ends, and what is flushed or restarted, is not decided here. `tick` is called by
the tick thread, and when that has ended by the main thread as long as the end takes; `finish` once by the main thread. No two
run at the same time.
"""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from larm.engine.figures import thread_log
from larm.engine.figures.limits import ending, limiting_factor
from larm.engine.figures.machine import cores_now, memory_now, memory_peak
from larm.engine.figures.notes import Note
from larm.engine.figures.rates import Rate, Rates
from larm.engine.figures.snapshot import Snapshot
from larm.kit.disk.disk_failure import disk_failures
from larm.kit.disk.json_file import read_json
from larm.kit.logs.log_file import LogFile
from larm.seams import Clock

SAMPLES = 10
"""Ticks that the averages go over: 50 seconds at LARM's five (LARM-78)."""
LOG = "ThreadMonitor.log"
STATS = "stats.json"


class SavedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What ``stats.json`` holds; ``larm stats``, the monitor and scripts read it."""

    state: str = ""
    """running or finished."""
    finish_reason: str = ""
    """`Ending.reason`; empty while the crawl runs."""
    written: float = 0.0
    """Wall time in seconds since 1970."""
    pages_per_second: float = 0.0
    bytes_per_second: float = 0.0
    average_over_seconds: float = 0.0
    limited_by: str = ""
    figures: Snapshot = Snapshot()
    stats: dict[str, Any] = {}
    """The summary, under the names that users of Scrapy know."""
    said: tuple[Note, ...] = ()
    """What was said at the end of the run."""


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
        average = self._rates.average()
        limit = "" if reason else ending(waits) or limiting_factor(self._rates.first, now, self._rates.cpu, self._rates.machine)
        saved = SavedFigures(
            state="finished" if reason else "running",
            finish_reason=reason,
            written=wall,
            pages_per_second=round(average.pages, 3),
            bytes_per_second=round(average.received, 1),
            average_over_seconds=round(average.seconds, 1),
            limited_by=limit,
            figures=now,
            stats=summary(now, reason, wall),
        )
        _replace(self._stats, saved)


def saved_figures(directory: Path) -> SavedFigures | None:
    """Return the contents of stats.json; None where there is none. Raises StorageError."""
    return read_json(directory / STATS, SavedFigures, "the next crawl writes it anew")


def keep_notes(directory: Path, said: Sequence[Note]) -> None:
    """Keep in stats.json the notes at the end of a run, which may have ended unseen. Raises StorageError."""
    if (saved := saved_figures(directory)) is not None:
        _replace(directory / STATS, msgspec.structs.replace(saved, said=tuple(said)))


def _replace(path: Path, saved: SavedFigures) -> None:
    """Whoever reads ``path`` sees the old file or the new one, never half of it. No sync: it is a report, not state."""
    half = path.with_name(path.name + ".new")
    with disk_failures(path):
        half.write_bytes(msgspec.json.format(msgspec.json.encode(saved)))
        os.replace(half, path)


_FILTERS = {
    "scope": "offsite/filtered",
    "visited": "dupefilter/filtered",
    "robots": "robotstxt/forbidden",
    "length": "urllength/request_ignored_count",
    "depth": "depth/request_ignored_count",
}
"""Where Scrapy has a name for what a filter drops; others are ``filter/NAME``."""


def summary(now: Snapshot, reason: str, wall: float) -> dict[str, Any]:
    """Name -> int, float or text, sorted by name; ``wall`` is the moment of the snapshot, in seconds since 1970.

    ``reason`` empty: the crawl is still running.
    """
    derived: dict[str, Any] = {
        "downloader/request_count": now.requests,
        "downloader/response_bytes": now.received,
        "elapsed_time_seconds": round(now.elapsed, 3),
        "item_scraped_count": now.pages_run,
        "larm/pages_in_all_runs": now.pages,
        "larm/errors": now.errors,
        "larm/hosts": now.hosts_known,
        "larm/hosts_given_up": now.hosts_given_up,
        "larm/urls_visited": now.visited,
        "larm/urls_left": now.queued + now.in_flight,
        "memusage/max": memory_peak(),
        "start_time": _moment(wall - now.elapsed),
    }
    if now.cluster is not None:
        derived |= {f"agents/{name}": value for name, value in msgspec.structs.asdict(now.cluster).items() if name != "holds"}
    if reason:
        derived |= {"finish_reason": reason, "finish_time": _moment(wall)}
    counters = dict(now.counters)
    for name, count in now.filtered.items():
        counters.pop(f"{name}/filtered", None)  # or it would be there twice
        derived[_FILTERS.get(name, f"filter/{name}")] = count
    return dict(sorted((derived | counters).items()))


def summary_lines(stats: dict[str, Any]) -> list[str]:
    """One ``name: value`` a line, for a person; zeros left out."""
    return [f"  {name}: {value}" for name, value in stats.items() if value != 0]


def _moment(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds")
