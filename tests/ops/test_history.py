from __future__ import annotations

from pathlib import Path

from larm.engine.figures import thread_log
from larm.engine.figures.machine import memory_now
from larm.engine.figures.snapshot import Snapshot
from larm.ops.history import history, steps


def write(path: Path, runs: list[int]) -> None:
    """A log of runs with so many ticks of five seconds each; ten pages, a kilobyte and an error a second."""
    wall, pages = 1_700_000_000.0, 0
    with path.open("w") as log:
        log.write(thread_log.header(wall, 0.0))
        for ticks in runs:
            for tick in range(1, ticks + 1):
                wall, pages = wall + 5, pages + 50
                now = Snapshot(elapsed=5.0 * tick, pages=pages, received=5_000 * tick, errors=5 * tick, incoming=3, waiting=4)
                log.write(thread_log.line(now, wall, memory_now()))
            wall += 3600


def test_all_of_a_short_crawl(tmp_path: Path) -> None:
    write(tmp_path / "log", [3, 2])
    found = history(tmp_path / "log")
    assert [(each.run, each.pages) for each in found] == [(0, 50), (0, 100), (0, 150), (1, 200), (1, 250)]
    rates = steps(found)
    assert [(each.run, each.pages, each.received, each.errors, each.waiting) for each in rates] == [
        (0, 10.0, 1_000.0, 1.0, 7),
        (0, 10.0, 1_000.0, 1.0, 7),
        (1, 10.0, 1_000.0, 1.0, 7),
    ]


def test_of_a_long_one_some_places(tmp_path: Path) -> None:
    """From the beginning to the end, whatever its length, with the same rates."""
    write(tmp_path / "log", [3_000, 2_000])
    found = history(tmp_path / "log", 100)
    assert 90 < len(found) < 250
    assert (found[0].pages, found[-1].pages) == (50, 250_000)
    assert {each.run for each in found} == {0, 1}
    assert all(abs(each.pages - 10) < 0.01 for each in steps(found))
    assert [each.wall for each in found] == sorted(each.wall for each in found)


def test_lines_that_were_not_ended_or_are_damaged_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "log", [3])
    whole = (tmp_path / "log").read_text().splitlines()
    for cut in range(len(whole[-1])):
        (tmp_path / "log").write_text("\n".join([*whole[:-1], whole[-1][:cut]]))
        assert len(history(tmp_path / "log")) in {2, 3}
    assert history(tmp_path / "none") == []
    (tmp_path / "log").write_bytes(b"\xff\x00\n" * 9)
    assert history(tmp_path / "log") == []


def test_short_runs_are_told_apart(tmp_path: Path) -> None:
    """Also where the first line of one comes no sooner after its beginning than the last line of the one before."""
    write(tmp_path / "log", [1, 1, 1])
    assert [each.run for each in history(tmp_path / "log")] == [0, 1, 2]
