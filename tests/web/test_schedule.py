"""What is due is started; on crawls of which only the state is made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.errors import UsageError
from larm.testing.clock import FakeClock
from larm.web.crawls import Crawl
from larm.web.directories import Directories, Served
from larm.web.schedule import Schedule

HOUR = 3_600.0


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """The time zone of the machine."""
    yield
    time.tzset()


class Crawls:
    """Directories below a root, with their schedules; each runs until it is told that it has ended."""

    def __init__(self, root: Path, most: int = 1, **every: str) -> None:
        self.clock = FakeClock()
        self.clock.set_wall(1_700_000_000.0)
        for name, text in every.items():
            (root / name).mkdir()
            (root / name / "larm.json").write_text("{}")
            (root / name / "config.yaml").write_text(f"recrawl: {{every: {text}}}\n" if text else "")
        self.directories = Directories((), root, SearchSettings())
        self.running: set[str] = set()
        self.ended: dict[str, float] = {}
        self.refused = ""
        self.faults: set[str] = set()
        """Crawls at which an exception comes that nobody foresaw: when they are looked at, or when they begin."""
        self.said: list[str] = []
        self.schedule = Schedule(self.state_of, self.run, most, self.clock, self.said.append)

    def state_of(self, served: Served) -> Crawl:
        if f"look at {served.name}" in self.faults:
            raise RuntimeError("figures that nobody understands")
        return Crawl(name=served.name, state="", runs=served.name in self.running, written=self.ended.get(served.name, 0.0))

    def run(self, path: Path) -> None:
        if path.name in self.faults:
            raise RuntimeError("no room for a process")
        if self.refused:
            raise UsageError(self.refused)
        self.running.add(path.name)

    def tick(self, hours: float = 0.0) -> set[str]:
        self.clock.advance(hours * HOUR)
        self.schedule.tick(self.directories.all())
        return set(self.running)

    def end(self, name: str) -> None:
        self.running.remove(name)
        self.ended[name] = self.clock.wall()


def test_a_crawl_runs_again_so_long_after_its_last_run(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, daily="1d", never="")
    assert crawls.tick() == {"daily"}, "it never ran"
    assert crawls.tick(100) == {"daily"}, "it takes its time"
    crawls.end("daily")
    assert crawls.tick(23) == set()
    assert crawls.schedule.due == {tmp_path / "daily": crawls.clock.wall() + HOUR}
    assert crawls.tick(1) == {"daily"}


def test_what_was_missed_is_caught_up_once(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, hourly="1h")
    crawls.ended["hourly"] = crawls.clock.wall() - 100 * HOUR
    assert crawls.tick() == {"hourly"}
    crawls.end("hourly")
    assert crawls.tick() == set()


def test_at_the_times_of_a_cron_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By this machine's clock; one that never ran waits for its time, one that was missed is caught up once."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    crawls = Crawls(tmp_path, nightly='"0 3 * * *"')
    crawls.clock.set_wall(datetime(2026, 3, 28, 11, 0, tzinfo=UTC).timestamp())
    assert crawls.tick() == set()
    assert crawls.tick(13.9) == set()
    due = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert crawls.schedule.due == {tmp_path / "nightly": due.timestamp()}, "summer time has begun at 2"
    assert crawls.tick(0.1) == {"nightly"}
    crawls.end("nightly")
    assert crawls.tick(23.9) == set()
    assert crawls.tick(100) == {"nightly"}
    crawls.end("nightly")
    assert crawls.tick() == set()


def test_so_many_at_a_time_and_who_waits_longest_is_first(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, most=2, a="1h", b="1h", c="1h")
    crawls.ended = {name: crawls.clock.wall() - age * HOUR for name, age in (("a", 2), ("b", 9), ("c", 5))}
    assert crawls.tick() == {"b", "c"}
    crawls.end("c")
    assert crawls.tick() == {"a", "b"}


def test_one_that_can_not_begin_is_said_and_tried_at_its_next_turn(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, hourly="1h")
    crawls.refused = "no start URL"
    for _ in range(5):
        crawls.tick(0.01)
    assert crawls.said == ["hourly was due, and could not begin: no start URL"]
    crawls.refused = ""
    assert crawls.tick(1) == {"hourly"}


def test_a_configuration_that_is_wrong_is_said_once(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, wrong="soon", right="1h")
    for _ in range(3):
        assert crawls.tick() == {"right"}
    assert len([line for line in crawls.said if line.startswith("wrong has no schedule")]) == 1


def test_a_fault_at_one_crawl_is_said_and_the_others_run(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, most=9, a="1h", b="1h", c="1h")
    crawls.faults = {"look at a", "b"}
    for _ in range(3):
        assert crawls.tick(0.01) == {"c"}
    a, b = sorted(line for line in crawls.said if "fault" in line)
    assert a.startswith("a: its schedule fails by a fault of larm: RuntimeError: figures that nobody understands (")
    assert b.startswith("b was due, and could not begin by a fault of larm: RuntimeError: no room for a process (")
    crawls.faults.clear()
    assert crawls.tick(1) == {"a", "b", "c"}
