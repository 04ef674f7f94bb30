"""Threads are waited for as long as they get on; those that hang are named, with what they do."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from larm.engine.patience import HANGS, QUIET, Patience, busy
from larm.kit.threads.progress import Progress
from larm.kit.threads.workers import Workers
from larm.store.pipeline import StorageLine
from larm.testing.clock import FakeClock
from larm.testing.fakes import ListStorage


class Held(threading.Event):
    """Says when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.reached.set()
        return super().wait(timeout)


class End:
    """A storage that takes a while to close, and somebody who waits for it; 20 seconds pass each time that he tells of it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.release = Held()
        self.storage = ListStorage(release=self.release)
        self.line = StorageLine(self.storage, 1000, None)
        self.workers = Workers(lambda _name, error: pytest.fail(str(error)))
        self.computed = 0.0
        self.told: list[Sequence[str]] = []
        self.steps: Iterator[object] = iter(())

    def tell(self, lines: Sequence[str]) -> None:
        self.told.append(lines)
        self.clock.advance(20)
        if next(self.steps, None) == "done":
            self.release.set()

    def wait(self, *, ended: bool = False) -> list[str]:
        self.workers.start("larm-store-list", self.line.run)
        self.line.close()
        self.release.reached.wait()
        if ended:
            assert self.workers.join(10) == []
        patience = Patience(self.clock, lambda _name: self.line.doing, self.tell, busy=lambda: self.computed, interval=0.001)
        return patience.wait(self.workers)


@pytest.fixture
def end() -> Iterator[End]:
    made = End()
    yield made
    made.release.set()
    assert made.workers.join(10) == []


def test_one_that_gets_on_is_waited_for_however_long_it_takes(end: End) -> None:
    def steps() -> Iterator[object]:
        end.storage.progress.begin("texts of links", 100, "pages")
        for done in range(100):
            end.storage.progress.to(done)
            yield
        yield "done"

    end.steps = steps()
    assert end.wait() == []
    assert end.clock.monotonic() > 3 * HANGS
    assert "larm-store-list: closes; texts of links, 57 of 100 pages" in [line for lines in end.told for line in lines]


def test_one_that_computes_is_waited_for_though_it_says_nothing(end: End) -> None:
    def steps() -> Iterator[object]:
        for _ in range(100):
            end.computed += 0.02
            yield
        yield "done"

    end.steps = steps()
    assert end.wait() == []
    assert end.clock.monotonic() > 3 * HANGS
    assert set(end.told[-1]) == {"larm-store-list: closes"}


def test_one_that_hangs_is_named_and_given_up(end: End) -> None:
    end.storage.progress.begin("texts of links", 100, "pages")
    said = "larm-store-list: closes; texts of links, 0 of 100 pages"
    assert end.wait() == [said]
    assert HANGS <= end.clock.monotonic() <= HANGS + 40
    assert end.told[0] == [said]
    assert end.told[-1] == [f"{said} (nothing has moved for 9:40)"]
    assert [said] in end.told[: int(QUIET / 20)]


def test_who_has_ended_already_is_not_told_of(end: End) -> None:
    end.release.set()
    assert end.wait(ended=True) == []
    assert end.told == []


def test_what_other_threads_compute_is_seen_and_what_this_one_does_is_not() -> None:
    before = busy()
    sum(range(3_000_000))
    assert busy() - before < 0.01
    workers = Workers(lambda _name, error: pytest.fail(str(error)))
    workers.start("larm-adder", lambda: (sum(range(3_000_000)), None)[1])
    workers.join(10)
    assert busy() - before > 0.01


def test_progress_in_words() -> None:
    progress = Progress()
    assert str(progress) == ""
    progress.begin("link graph", 200)
    progress.to(50)
    assert str(progress) == "link graph, 25%"
    progress.begin("merging")
    assert str(progress) == "merging"
    progress.end()
    assert str(progress) == ""
