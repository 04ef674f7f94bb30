from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from larm.errors import StorageError
from larm.kit.threads.workers import Workers
from larm.model.document import Visit
from larm.seams import Storage
from larm.store.base import DocumentStorage, NullStorage
from larm.store.overflow import Overflow
from larm.store.pipeline import StorageLine
from tests.store.stored_pages import page

WAIT = 20.0  # seconds until a test that hangs fails


class Recorder(DocumentStorage):
    """Notes every call; `gate` holds the writer back while it is clear."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.storing = threading.Event()

    def open(self, position: Mapping[str, Any] | None) -> None:
        self.calls.append(f"open {position}")

    def store(self, visits: Sequence[Visit]) -> None:
        self.storing.set()
        assert self.gate.wait(WAIT)
        super().store(visits)

    def store_visit(self, visit: Visit) -> None:
        self.threads.add(threading.current_thread().name)
        self.calls.append(visit.page)

    def commit(self) -> Mapping[str, Any]:
        self.calls.append("commit")
        return {"stored": len([call for call in self.calls if call.startswith("http")])}

    def close(self) -> None:
        self.calls.append("close")


class Line:
    """A line with its thread running."""

    def __init__(
        self,
        storage: Storage,
        limit: int = 10_000_000,
        position: Mapping[str, Any] | None = None,
        overflow: Path | None = None,
        most: int = 0,
    ) -> None:
        self.deaths: list[BaseException] = []
        self.workers = Workers(lambda name, error: self.deaths.append(error))
        self.line = StorageLine(storage, limit, position, Overflow(overflow) if overflow else None, most)
        self.workers.start(f"larm-store-{storage.name}", self.line.run)

    def end(self) -> None:
        self.line.close()
        assert self.workers.join(WAIT) == []


def names(*numbers: int) -> list[str]:
    return [f"http://a.org/{number}" for number in numbers]


def pages(*numbers: int) -> list[Visit]:
    return [page(name) for name in names(*numbers)]


def test_calls_come_in_order_and_from_one_thread() -> None:
    """open, store and commit as they were asked for, close; all from the thread that runs the line."""
    recorder = Recorder()
    running = Line(recorder, position={"stored": 7})
    running.line.put(pages(1, 2))
    first = running.line.request_commit()
    running.line.put(pages(3))
    assert first.result(WAIT) == {"stored": 2}
    second = running.line.request_commit()
    assert second.result(WAIT) == {"stored": 3}
    assert second.done
    running.end()
    assert recorder.calls == ["open {'stored': 7}", *names(1, 2), "commit", *names(3), "commit", "close"]
    assert recorder.threads == {"larm-store-Recorder"}
    assert running.line.queued_bytes == 0
    assert running.deaths == []


def test_everything_queued_is_one_batch() -> None:
    """What comes together while the writer is busy goes to the storage in one call."""
    recorder = Recorder()
    recorder.gate.clear()
    running = Line(recorder)
    running.line.put(pages(1))
    running.line.request_commit()
    assert recorder.storing.wait(WAIT)
    batches: list[int] = []
    recorder.store = lambda visits: batches.append(len(visits))  # type: ignore[method-assign]
    for number in range(2, 10):
        running.line.put(pages(number))
    recorder.gate.set()
    running.end()
    assert batches == [8]


def test_the_writer_is_not_woken_for_each_page() -> None:
    """Only for half a queue, a commit or the end: fewer, larger hand-overs."""
    recorder = Recorder()
    running = Line(recorder, pages(1)[0].cost * 8)
    for number in range(3):
        running.line.put(pages(number))
    assert running.line.queued_bytes == pages(1)[0].cost * 3
    running.line.put(pages(4))
    assert recorder.storing.wait(WAIT)
    running.end()


@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_of_next_to_nothing_is_only_slow(limit: int) -> None:
    """The writer must not take an empty queue for the end."""
    running = Line(Recorder(), limit)
    running.line.opened.result(WAIT)
    running.line.put(pages(1))
    assert running.line.request_commit().result(WAIT) == {"stored": 1}
    running.end()


def test_close_stores_what_is_queued() -> None:
    """close() drains; what was put before it started running is not lost either."""
    recorder = Recorder()
    line = StorageLine(recorder, 1000, None)
    line.put(pages(*range(100)))
    ticket = line.request_commit()
    line.close()
    line.run()
    assert recorder.calls == ["open None", *names(*range(100)), "commit", "close"]
    assert ticket.result(0) == {"stored": 100}


def test_put_after_close_is_a_mistake() -> None:
    line = StorageLine(NullStorage(), 1000, None)
    line.close()
    with pytest.raises(StorageError, match="null was closed"):
        line.put(pages(1))
    with pytest.raises(StorageError, match="null is closed"):
        line.request_commit().result(0)


def test_an_empty_put_is_nothing() -> None:
    recorder = Recorder()
    running = Line(recorder)
    running.line.put([])
    running.end()
    assert recorder.calls == ["open None", "close"]


def test_wait_for_room_lets_go_when_the_queue_is_below_its_limit() -> None:
    """A fetcher waits while more than the limit is queued or being written, and not a moment longer."""
    recorder = Recorder()
    recorder.gate.clear()
    running = Line(recorder, limit=1500)
    running.line.wait_for_room()  # empty: at once
    running.line.put(pages(1, 2, 3, 4))
    assert running.line.queued_bytes > 1500
    passed: list[str] = []
    fetchers = Workers(lambda name, error: None)

    def fetch() -> None:
        running.line.wait_for_room()
        passed.append("fetcher")

    fetchers.start("fetcher", fetch)
    assert recorder.storing.wait(WAIT)
    assert passed == []
    recorder.gate.set()
    assert fetchers.join(WAIT) == []
    assert passed == ["fetcher"]
    assert running.line.queued_bytes <= 1500
    running.end()


@pytest.mark.parametrize("how", ["stop", "close", "failure"])
def test_wait_for_room_ends_early(how: str) -> None:
    """Nobody waits for ever: a stop of the crawl, the end of the line and the death of its writer all wake the fetchers."""
    line = StorageLine(Broken("store"), 100, None)
    line.put(pages(1, 2))
    stopping = threading.Event()
    asked = threading.Event()

    def stop() -> bool:
        asked.set()
        return stopping.is_set()

    fetchers = Workers(lambda name, error: None)
    fetchers.start("fetcher", lambda: line.wait_for_room(stop))
    assert asked.wait(WAIT)
    match how:
        case "stop":
            stopping.set()
            line.wake()
        case "close":
            line.close()
        case "failure":
            with pytest.raises(StorageError):
                line.run()
    assert fetchers.join(WAIT) == []


class Panic(BaseException):
    """What extension modules raise when they panic."""


class Broken(DocumentStorage):
    """Fails at one of its calls."""

    name = "mine"

    def __init__(self, where: str, error: BaseException | None = None) -> None:
        self.where = where
        self.error = error or ValueError("too heavy")
        self.closed = False

    def maybe(self, where: str) -> None:
        if where == self.where:
            raise self.error

    def open(self, position: Mapping[str, Any] | None) -> None:
        self.maybe("open")

    def store_visit(self, visit: Visit) -> None:
        self.maybe("store")

    def commit(self) -> Mapping[str, Any]:
        self.maybe("commit")
        return {}

    def close(self) -> None:
        self.closed = True
        self.maybe("close")


RAISES = f"test_pipeline.py, line {Broken.maybe.__code__.co_firstlineno + 2}"


@pytest.mark.parametrize("where", ["open", "store", "commit"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("too heavy"), f"storage mine failed: ValueError: too heavy ({RAISES})"),
        (StorageError("disk gone"), "storage mine failed: disk gone"),
        (Panic("ouch"), f"storage mine failed: Panic: ouch ({RAISES})"),
    ],
)
def test_a_failure_names_the_storage_and_fails_all_tickets(where: str, error: BaseException, message: str) -> None:
    """The thread dies with a StorageError, every ticket gets it, later puts are ignored, the storage is closed."""
    storage = Broken(where, error)
    running = Line(storage)
    running.line.put(pages(1))
    early = running.line.request_commit()
    assert running.workers.join(WAIT) == []
    assert [str(death) for death in running.deaths] == [message]
    assert isinstance(running.deaths[0], StorageError)
    running.line.put(pages(2))
    assert running.line.queued_bytes == 0
    for ticket in (early, running.line.request_commit()):
        with pytest.raises(StorageError, match=re.escape(message)):
            ticket.result(WAIT)
    assert storage.closed
    assert "failed" in repr(running.line)


def test_opened_tells_whether_the_storage_could_be_opened() -> None:
    good, bad = Line(NullStorage(), position={"x": 1}), Line(Broken("open"))
    assert good.line.opened.result(WAIT) == {"x": 1}
    with pytest.raises(StorageError, match="too heavy"):
        bad.line.opened.result(WAIT)
    good.end()


def test_a_failure_of_close_is_told() -> None:
    running = Line(Broken("close"))
    running.end()
    assert "too heavy" in str(running.deaths[0])


def test_a_storage_of_ones_own_needs_ten_lines() -> None:
    """The example of the README: a list of titles."""

    class Titles(DocumentStorage):
        def __init__(self) -> None:
            self.titles: list[str] = []

        def store_visit(self, visit: Visit) -> None:
            if visit.document:
                self.titles.append(visit.document.title)

    titles = Titles()
    running = Line(titles)
    running.line.put([page("http://a.org/", "Home")])
    assert running.line.request_commit().result(WAIT) == {}
    running.end()
    assert titles.titles == ["Home"]
    assert titles.name == "Titles"


def test_a_storage_that_stores_nothing_says_so() -> None:
    class Forgetful(DocumentStorage):
        pass

    running = Line(Forgetful())
    running.line.put(pages(1))
    running.line.request_commit()
    assert running.workers.join(WAIT) == []
    assert "Forgetful has neither" in str(running.deaths[0])


def test_what_waits_for_a_slow_storage_goes_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its order, tickets too; nobody waits for the storage meanwhile, and nothing is left of it afterwards."""
    monkeypatch.setattr("larm.store.pipeline._PATIENCE", 0.0)
    monkeypatch.setattr("larm.store.pipeline._PIECE", 1_000)
    recorder = Recorder()
    recorder.gate.clear()
    (tmp_path / "visits").mkdir()
    (tmp_path / "visits" / "cache.db").write_bytes(b"of a process that was killed")
    running = Line(recorder, limit=1500, overflow=tmp_path / "visits", most=1_000_000)
    tickets = []
    for number in range(0, 40, 2):
        running.line.put(pages(number, number + 1))
        running.line.wait_for_room()
        if number % 10 == 0:
            tickets.append(running.line.request_commit())
    assert (tmp_path / "visits").exists()
    assert "on the disk" in running.line.doing
    recorder.gate.set()
    assert [ticket.result(WAIT) for ticket in tickets] == [{"stored": n} for n in (2, 12, 22, 32)]
    running.end()
    assert [call for call in recorder.calls if call.startswith("http")] == names(*range(40))
    assert not (tmp_path / "visits").exists()


def test_the_disk_has_its_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.store.pipeline._PATIENCE", 0.0)
    monkeypatch.setattr("larm.store.pipeline._PIECE", 1_000)
    recorder = Recorder()
    recorder.gate.clear()
    running = Line(recorder, limit=1500, overflow=tmp_path / "visits", most=3_000)
    waited: list[int] = []

    def stop() -> bool:
        """Who is asked would have waited for ever."""
        waited.append(number)
        return True

    for number in range(30):
        running.line.put(pages(number))
        running.line.wait_for_room(stop)
    assert waited[-1] == 29
    recorder.gate.set()
    running.end()
    assert [call for call in recorder.calls if call.startswith("http")] == names(*range(30))
