"""A crawl that runs beside the test, of a small web, till it is stopped; and a web whose answers can be watched."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from larm.engine.crawl import Crawl
from larm.engine.ending import Ending
from larm.kit.threads.workers import Workers
from larm.ops.control.client import Control, NotRunning
from larm.ops.control.requests import Report, Stop, Watch
from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import config_of, watch

DEADLINE = 60
"""Seconds: beyond, something hangs."""


class Running:
    """A crawl on a thread of its own, that waits for more when it has all pages."""

    def __init__(self, web: SyntheticWeb, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        host = web.host("a.localhost")
        host.page("/", links=["/1", "/missing"], title="Home")
        host.page("/1", links=["/2"])
        host.page("/2")
        host.page("/lonely")
        self.web = web
        self.log = watch(web)
        self.directory = directory
        self.begun = threading.Event()
        self.log.at(1, self.begun.set)
        waits = {"crawl.on_idle": "wait", "monitor.tick": "20ms"} | dict(settings or {})
        self.crawl: Crawl = build_crawl(config_of(web.url("a.localhost"), waits), directory)
        self.endings: list[Ending] = []
        self.died: list[BaseException] = []
        self._workers = Workers(lambda _, error: self.died.append(error))

    def start(self) -> None:
        self._workers.start("crawl", lambda: self.endings.append(self.crawl.run()))
        assert self.begun.wait(DEADLINE)

    def until(self, state: str) -> Report:
        """The first report with this state."""
        with Control(self.directory) as control:
            for report in control.stream(Watch()):
                if report.state == state:
                    return report
        raise AssertionError(f"it ended, and never was {state}")

    def end(self) -> None:
        try:
            with Control(self.directory) as control:
                control.ask(Stop())
        except NotRunning:
            self.crawl.stop()
        assert self._workers.join(DEADLINE) == []
        assert self.died == []


@contextmanager
def running(directory: Path, settings: Mapping[str, object] | None = None) -> Iterator[Running]:
    """It has begun; it has ended in good order afterwards."""
    with SyntheticWeb() as web:
        crawl = Running(web, directory, settings)
        crawl.start()
        try:
            yield crawl
        finally:
            crawl.end()
        assert [ending.error for ending in crawl.endings] == [None]
