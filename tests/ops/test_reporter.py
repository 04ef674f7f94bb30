"""The reporter's two files, as `tail -f` and ``larm stats`` read them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from larm.engine.figures.reporter import Reporter
from larm.engine.figures.snapshot import Snapshot, ThreadFigures
from larm.errors import StorageError
from larm.ops.history import history
from larm.testing.clock import FakeClock
from tests.support.faults import FaultyDisk

LARM_COLUMNS = (
    "time;overallBytesRead;overallTasksRun;urlsQueued;urlsWaiting;isWorkingOnMessage;urlsScopeFiltered;urlsVisitedFiltered;"
    "urlsREFiltered;memUsed;memFree;totalMem;nrHosts;visitedSize;visitedStringSize;bytesPerThread;urlLengthFiltered;"
    "checkpointMs;checkpointBytes;pages;errors"
)
PREFIX = re.compile(r"\d\d:\d\d:\d\d:\d{3};\d+;")


class Figures:
    """A probe whose figures grow with the clock."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    def __call__(self) -> Snapshot:
        seconds = self.clock.monotonic()
        return Snapshot(
            elapsed=seconds,
            pages=int(10 * seconds),
            pages_run=int(10 * seconds),
            requests=int(12 * seconds),
            received=int(2048 * seconds),
            incoming=7,
            waiting=8,
            handler_busy=True,
            hosts_queued=3,
            hosts_waiting=3,
            visited=99,
            visited_bytes=792,
            filtered={"scope": 1, "visited": 2, "robots": 3, "length": 4},
            threads=(ThreadFigures("larm-fetch-0", received=11, tasks=5), ThreadFigures("larm-fetch-1", received=22, tasks=6)),
        )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "ThreadMonitor.log"


def reporter(clock: FakeClock, directory: Path) -> Reporter:
    return Reporter(Figures(clock), clock, directory)


def test_the_first_line_explains_the_columns_of_all_others(clock: FakeClock, tmp_path: Path, log: Path) -> None:
    """LARM-82."""
    clock.set_wall(1_700_000_000.25)
    monitor = reporter(clock, tmp_path)
    clock.advance(5)
    monitor.tick()
    first, second = log.read_text().splitlines()
    assert PREFIX.match(first)
    assert PREFIX.match(second)
    assert PREFIX.sub("", first) == LARM_COLUMNS
    names, values = first.split(";")[2:], second.split(";")[2:]
    row = dict(zip(names, values, strict=True))
    assert second.split(";")[1] == "5000"
    assert row["time"] == "1700000005250"
    assert row["overallBytesRead"] == "10240"
    assert row["overallTasksRun"] == "11"
    assert (row["urlsQueued"], row["urlsWaiting"], row["isWorkingOnMessage"]) == ("7", "8", "true")
    assert (row["urlsScopeFiltered"], row["urlsVisitedFiltered"], row["urlsREFiltered"], row["urlLengthFiltered"]) == tuple(
        "1234"
    )
    assert (row["nrHosts"], row["visitedSize"], row["visitedStringSize"]) == ("3", "99", "792")
    assert row["bytesPerThread"] == "11,22"
    assert int(row["memUsed"]) > 0
    monitor.close()


def test_each_tick_is_one_whole_line_at_once(clock: FakeClock, tmp_path: Path, log: Path) -> None:
    monitor = reporter(clock, tmp_path)
    for tick in range(1, 4):
        clock.advance(5)
        monitor.tick()
        text = log.read_text()
        assert text.endswith("\n")
        assert text.count("\n") == 1 + tick
    monitor.close()


def test_a_long_log_begins_anew_and_is_read_with_its_old_part(clock: FakeClock, tmp_path: Path, log: Path) -> None:
    monitor = Reporter(Figures(clock), clock, tmp_path, 5_000)
    for _ in range(60):
        clock.advance(5)
        monitor.tick()
    monitor.close()
    parts = {path.name: path.read_text().splitlines() for path in log.parent.iterdir()}
    assert set(parts) == {"ThreadMonitor.log", "ThreadMonitor.log.1"}
    assert all("urlsQueued" in lines[0] for lines in parts.values())
    kept = sum(len(lines) - 1 for lines in parts.values())
    assert kept < 60
    assert [each.elapsed for each in history(log, 1_000)] == [5_000 * n for n in range(61 - kept, 61)]


def test_a_continued_crawl_goes_on_in_the_same_file(clock: FakeClock, tmp_path: Path, log: Path) -> None:
    for _ in range(2):
        monitor = reporter(clock, tmp_path)
        clock.advance(5)
        monitor.finish("shutdown")
    lines = log.read_text().splitlines()
    assert len(lines) == 3
    assert sum("urlsQueued" in line for line in lines) == 1


def test_stats_json_has_the_figures_the_averages_and_what_limits(clock: FakeClock, tmp_path: Path) -> None:
    """LARM-78: the 50-second average."""
    monitor = reporter(clock, tmp_path)
    for _ in range(12):
        clock.advance(5)
        monitor.tick()
    stats = json.loads((tmp_path / "stats.json").read_bytes())
    assert stats["state"] == "running"
    assert stats["finish_reason"] == ""
    assert (stats["pages_per_second"], stats["bytes_per_second"], stats["average_over_seconds"]) == (10.0, 2048.0, 50.0)
    assert stats["limited_by"].startswith("politeness: 3 hosts")
    assert stats["figures"]["visited"] == 99
    assert stats["figures"]["threads"][1]["name"] == "larm-fetch-1"
    assert stats["stats"]["downloader/request_count"] == 720
    monitor.tick(["larm-store-graph: closes", "larm-last: saves"])
    stats = json.loads((tmp_path / "stats.json").read_bytes())
    assert stats["limited_by"] == "the end of the crawl: larm-store-graph: closes; larm-last: saves"
    assert stats["state"] == "running"
    monitor.finish("finished")
    stats = json.loads((tmp_path / "stats.json").read_bytes())
    assert (stats["state"], stats["finish_reason"], stats["stats"]["finish_reason"]) == ("finished",) * 3
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["stats.json"], "no half-written file stays"


def test_a_rate_is_known_between_the_first_tick_and_the_second(clock: FakeClock, tmp_path: Path) -> None:
    """The first one comes when a run begins, and for the five seconds that follow the monitor had said 0.0 pages a second."""
    monitor = reporter(clock, tmp_path)
    monitor.tick()
    clock.advance(2)
    rate, _ = monitor.pace(Figures(clock)())
    monitor.close()
    assert (rate.pages, rate.seconds) == (10.0, 2.0)


def test_a_directory_that_takes_no_file_is_a_storage_error(clock: FakeClock, tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(StorageError, match="logs"):
        reporter(clock, tmp_path)


def test_nothing_is_written_before_the_first_tick(clock: FakeClock, tmp_path: Path) -> None:
    """Or nobody would have the reporter, and close its log, where that fails."""
    with FaultyDisk(tmp_path) as disk:
        monitor = reporter(clock, tmp_path)
    assert not [site for site in disk.sites if site.startswith("write")]
    monitor.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_storage_error_and_leaves_the_old_stats(clock: FakeClock, tmp_path: Path) -> None:
    monitor = reporter(clock, tmp_path)
    monitor.tick()
    before = (tmp_path / "stats.json").read_bytes()
    (tmp_path / "stats.json.new").symlink_to("/dev/full")
    clock.advance(5)
    with pytest.raises(StorageError, match=r"stats\.json.*disk is full"):
        monitor.tick()
    assert (tmp_path / "stats.json").read_bytes() == before
    monitor.close()
