"""The command line, called as `python -m larm` calls it, with a fake crawl behind it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from larm import cli
from larm.config import Config
from larm.engine.figures.notes import plain
from larm.engine.figures.snapshot import Snapshot
from larm.errors import StorageError
from larm.kit.disk.lock import DirectoryLock
from larm.kit.processes.helper_process import HelperProcess
from larm.ops.afterwards import Explained


class Said(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


Larm = Callable[..., Said]


class FakeEnding:
    """Stands in for `larm.engine.ending.Ending`."""

    def __init__(self, reason: str = "finished", error: Exception | None = None, start_fetched: bool = True) -> None:
        self.reason = reason
        self.error = error
        self.start_fetched = start_fetched
        self.failed_starts: list[str] = []
        self.slowest = 0.0


class FakeCrawl:
    """Stands in for `larm.engine.crawl.Crawl`: ends as it is told, after ``seconds`` calls of `on_second`."""

    def __init__(self) -> None:
        self.notes = ["scope: the hosts of the start URLs"]
        self.ending = FakeEnding()
        self.own_filters: list[object] = []
        self.filters: list[object] = []
        self.failure: BaseException | None = None
        self.on_second: Callable[[], object] = lambda: None
        self.during: Callable[[], object] = lambda: None
        self.stopped = 0

    def run(self) -> FakeEnding:
        self.on_second()
        self.during()
        if self.failure:
            raise self.failure
        return self.ending

    def stop(self) -> None:
        self.stopped += 1

    def snapshot(self) -> Snapshot:
        counters = {"downloader/response_status_count/200": 12}
        return Snapshot(elapsed=1.5, pages=42, pages_run=12, requests=14, counters=counters)


class FakeWiring(types.ModuleType):
    """Stands in for `larm.ops.observers` and remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__("larm.ops.observers")
        self.crawl = FakeCrawl()
        self.config = Config()
        self.directory = Path()
        self.fresh = False
        self.built = 0
        self.failure: Exception | None = None
        self.rows = [("filter scope", "passes"), ("robots.txt", "line 3: Disallow: /x\x1b[2J")]

    def build_crawl(
        self, config: Config, directory: Path, *, fresh: bool, parked: bool, ahead: HelperProcess | None
    ) -> FakeCrawl:
        if ahead is not None:
            ahead.close()
        with suppress(StorageError):
            DirectoryLock(directory).close()
        if self.failure:
            raise self.failure
        self.config, self.directory, self.fresh = config, directory, fresh
        self.built += 1
        return self.crawl

    def explain_url(self, config: Config, directory: Path, url: str) -> Explained:
        self.config, self.directory = config, directory
        return Explained(plain("Fetched\x1b[2J"), [("URL", url), *self.rows])

    def check(self, config: Config, directory: Path, *, tried: bool = False) -> None:
        self.config, self.directory = config, directory
        if self.failure:
            raise self.failure


@pytest.fixture
def wiring(monkeypatch: pytest.MonkeyPatch) -> FakeWiring:
    fake = FakeWiring()
    monkeypatch.setitem(sys.modules, "larm.ops.observers", fake)
    monkeypatch.setattr("larm.ops.observers", fake, raising=False)
    monkeypatch.setattr("larm.building.wiring.check", fake.check)
    monkeypatch.setattr("larm.ops.afterwards.explain_url", fake.explain_url)
    return fake


@pytest.fixture
def larm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Any, wiring: FakeWiring) -> Larm:
    """Runs a command in an empty directory; output as text."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Said:
        status = cli.run(arguments)
        out, err = capsysbinary.readouterr()
        return Said(status, out.decode(errors="replace"), err.decode())

    return call
