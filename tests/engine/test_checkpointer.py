"""One consistent cut through all parts, made durable (LARM-116)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from larm.engine.checkpointer import LATE, Checkpointer, Ledger
from larm.errors import StorageError
from larm.frontier.checkpoint import CheckpointFile, Following, Header
from larm.frontier.host_records import ROW, decode_host
from larm.frontier.hosts import HostBook
from larm.frontier.politeness import NOTHING
from larm.frontier.queue_row import EMPTY
from larm.frontier.queues import HostQueues
from larm.frontier.turns import Turns
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.logs.log_book import LogBook
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.workers import Workers
from larm.model.document import Visit
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.model.outcome import Refused, Timing
from larm.store.lines import StorageLines
from larm.store.pipeline import StorageLine
from larm.testing.clock import FakeClock
from larm.testing.fakes import ListStorage, message
from tests.frontier.rig import of


class Scope:
    def __init__(self) -> None:
        self.hosts = {"b", "a"}


class Outbox:
    """Some part that has state, of which the checkpointer knows nothing else."""

    name = "outbox"

    def __init__(self) -> None:
        self.sent = 2
        self.kept: list[int] = []
        self._cut = 0

    def cut(self, *, last: bool) -> object:
        self._cut = self.sent
        return {"sent": self.sent, "over": last}

    def saved(self) -> None:
        self.kept.append(self._cut)


class River:
    """Every part that has state, in a directory."""

    def __init__(self, directory: Path, storage: ListStorage | None = None) -> None:
        self.gate = Gate()
        self.clock = FakeClock(1_000.0)
        self.store = BlockStore(directory / "queue")
        self.file = CheckpointFile(self.store)
        self.incoming = self._queue("incoming")
        settings = of(host_block=3)
        self.book = HostBook(self.store, settings, self.clock)
        self.queues = HostQueues(Turns(self.book, settings, self.clock, Tally(lambda: None), lambda: None))
        self.seen = DiskSeenSet(directory / "visited.db", 100)
        self.counters = Counters()
        self.logs = LogBook(directory / "logs")
        self.storage = storage or ListStorage()
        self.line = StorageLine(self.storage, 1_000_000, None)
        self.died: list[BaseException] = []
        self.workers = Workers(lambda name, error: self.died.append(error))
        self.workers.start("larm-store-list", self.line.run)
        self.outbox = Outbox()
        self.checkpointer = Checkpointer(
            shared=cast("Any", SimpleNamespace(gate=self.gate, clock=self.clock, counters=self.counters)),
            frontier=cast("Any", SimpleNamespace(incoming=self.incoming, book=self.book, seen=self.seen)),
            logs=self.logs,
            lines=StorageLines([self.line]),
            ledger=Ledger(
                self.file,
                Header(
                    EMPTY,
                    counters={},
                    logs={},
                    storages={"index": {"generation": 7}},
                    scope_hosts=[],
                    restrict_to="",
                    start_urls=["http://a/"],
                    following=Following("", 0, 0),
                    cycle=2,
                    missed=["index"],
                    parts={"outbox": {"sent": 1}, "schedule": {"due": 5}},
                ),
                lambda: {"a": ["10.0.0.1"]},
            ),
            scope=Scope(),
            parts=[self.outbox],
        )

    def _queue(self, name: str) -> CachingQueue[URLMessage]:
        return CachingQueue(name, 3, self.store, encode_messages, decode_messages)

    def read(self) -> tuple[Header, bytes]:
        found = self.file.read()
        assert found is not None
        return found

    def close(self) -> None:
        self.line.close()
        assert self.workers.join(20) == []
        for part in (self.logs, self.seen, self.store):
            part.close()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., River]]:
    made: list[River] = []

    def build(storage: ListStorage | None = None) -> River:
        made.append(River(tmp_path, storage))
        return made[-1]

    yield build
    for river in made:
        river.close()


def messages(count: int, host: str = "a") -> list[URLMessage]:
    return [message(f"http://{host}/{number}") for number in range(count)]


def test_everything_is_in_it(make: Callable[..., River]) -> None:
    river = make()
    river.incoming.put_many(messages(2))
    river.queues.add(messages(2, "b"))
    river.seen.add_new([5, 7])
    river.counters.add("item_scraped_count", 3)
    log = river.logs.open("thread0")
    log.line("one")
    river.line.put([Visit("http://a/")])
    river.checkpointer.save(finished=True)
    header, fresh = river.read()
    assert [each.url.access for each in header.incoming.state().back] == ["http://a/0", "http://a/1"]
    assert list(river.file.host_rows()) == ["host/b"]
    assert header.counters == {"item_scraped_count": 3}
    assert header.logs == {"thread0": 4}
    assert header.storages == {"list": {"visits": 1}, "index": {"generation": 7}}
    assert header.missed == ["index"]
    assert (header.scope_hosts, header.restrict_to, header.start_urls) == (["a", "b"], "", ["http://a/"])
    assert (header.cycle, header.finished) == (2, True)
    assert header.met == {"a": ["10.0.0.1"]}
    assert len(fresh) == 16
    assert river.checkpointer.last.size > 0


def test_whatever_has_state_joins(make: Callable[..., River]) -> None:
    """And what is not in this run is kept as it was."""
    river = make()
    river.checkpointer.save()
    assert river.read()[0].parts == {"outbox": {"sent": 2, "over": False}, "schedule": {"due": 5}}
    assert river.outbox.kept == [2]
    river.outbox.sent = 3
    river.checkpointer.save(last=True)
    assert river.read()[0].parts["outbox"] == {"sent": 3, "over": True}


def test_a_part_is_not_told_of_a_checkpoint_that_failed(make: Callable[..., River]) -> None:
    river = make()
    river.store.transaction = fail  # type: ignore[assignment,method-assign]
    with pytest.raises(StorageError, match="full"):
        river.checkpointer.save()
    assert river.outbox.kept == []


def fail(*_: object) -> None:
    raise StorageError("the disk is full")


def test_logs_are_on_the_disk_as_far_as_it_says(make: Callable[..., River]) -> None:
    """And longer, perhaps; never shorter."""
    river = make()
    log = river.logs.open("thread0")
    log.line("one")
    river.checkpointer.save()
    assert (river.logs.directory / "thread0.log").read_text() == "one\n"


def test_fingerprints_reach_their_own_file(make: Callable[..., River]) -> None:
    river = make()
    river.seen.add_new([5, 7])
    river.checkpointer.save()
    assert river.seen._stored == 2
    river.checkpointer.save()
    assert river.read()[1] == b"", "only what is new since the last one"


def test_blocks_that_were_read_are_deleted_with_the_next_one(make: Callable[..., River]) -> None:
    """Not before: until then, the last one refers to them."""
    river = make()
    river.incoming.put_many(messages(12))
    river.checkpointer.save()
    before = river.read()[0].incoming.state().numbers()
    assert before
    while river.incoming.take(100):
        pass
    assert all(river.store.get(f"incoming_{number}.cqb") for number, _ in before)
    river.checkpointer.save()
    assert not any(river.store.get(f"incoming_{number}.cqb") for number, _ in before)


class Careful(ListStorage):
    """Looks, at each commit, how far the checkpoint on the disk is."""

    def __init__(self) -> None:
        super().__init__()
        self.look: Callable[[], object] = lambda: None
        self.seen: list[object] = []

    def commit(self) -> Mapping[str, Any]:
        self.seen.append(self.look())
        return super().commit()


def test_storages_are_durable_before_the_checkpoint_says_so(make: Callable[..., River]) -> None:
    storage = Careful()
    river = make(storage)
    storage.look = river.file.read
    river.line.put([Visit("http://a/")])
    river.checkpointer.save()
    assert storage.seen == [None]


def test_after_the_last_one_a_storage_closes_without_being_told(make: Callable[..., River]) -> None:
    """As soon as it has committed: no other one, and not the checkpoint itself, is waited for."""
    storage = Careful()
    river = make(storage)
    storage.look = river.file.read
    river.line.put([Visit("http://a/")])
    river.checkpointer.save(finished=True, last=True)
    assert river.workers.join(20) == []
    assert (storage.calls[-2:], storage.seen) == (["commit", "close"], [None])
    assert river.read()[0].storages["list"] == {"visits": 1}


# -- failures


def test_a_storage_that_fails_leaves_the_last_checkpoint(make: Callable[..., River]) -> None:
    storage = ListStorage()
    river = make(storage)
    river.checkpointer.save()
    storage.fail_commit = True
    river.counters.add("x")
    with pytest.raises(StorageError, match="can't commit"):
        river.checkpointer.save()
    assert river.read()[0].counters == {}


def test_after_a_failed_one_no_later_one_is_written(make: Callable[..., River], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the failed one took from the parts is in neither: the later one would have lost it.

    So it happens when Ctrl-C comes just before the disk is full, and something is deleted just after it.
    """
    river = make()
    river.incoming.put_many(messages(5))
    river.checkpointer.save()
    river.queues.add(river.incoming.take(5))
    river.seen.add_new([5])
    transaction = river.store.transaction

    def full(*arguments: object) -> None:
        raise StorageError("no space left on device")

    monkeypatch.setattr(river.store, "transaction", full)
    with pytest.raises(StorageError, match="no space left"):
        river.checkpointer.save()
    monkeypatch.setattr(river.store, "transaction", transaction)
    with pytest.raises(StorageError, match="a checkpoint failed"):
        river.checkpointer.save()
    header, _ = river.read()
    assert sum(length for _, length in header.incoming.state().numbers()) + len(header.incoming.state().back) + len(
        header.incoming.state().front
    ) == len(messages(5))
    assert not river.file.host_rows()


def test_a_step_that_failed_half_way_is_in_no_checkpoint(make: Callable[..., River]) -> None:
    """A tick may wait for just that step to end; what it took and did not hand on would be lost for good."""
    river = make()
    river.incoming.put_many(messages(5))
    river.checkpointer.save()

    def fail() -> None:
        with river.gate.step():
            river.incoming.take(5)
            raise RuntimeError("a full disk, a mistake of ours")

    with pytest.raises(RuntimeError):
        fail()
    river.checkpointer.save()
    header, _ = river.read()
    assert len(_queued(river, header)) == 5


# -- the cut


def test_every_checkpoint_is_one_consistent_picture(make: Callable[..., River]) -> None:
    """Messages go from one queue to the other, and back, all the time; each is in exactly one of them in each checkpoint."""
    river = make()
    river.incoming.put_many([message(f"http://{'abc'[number % 3]}/{number}") for number in range(30)])
    over: list[bool] = []

    def down() -> None:
        while not over:
            with river.gate.step():
                batch = river.incoming.take(4)
                river.queues._tally.rise(len(batch))
                river.queues.add(batch)
                river.counters.add("down", len(batch))

    def up() -> None:
        while not over:
            for lease in river.queues.lease(4):
                with river.gate.step():
                    river.incoming.put_many([lease.message])
                    river.queues.release([(lease, Refused(404, {}, Timing()))], lambda *_: NOTHING)
                    river.queues._tally.fall(1)
                    river.counters.add("up")

    river.workers.start("down", down)
    river.workers.start("up", up)
    try:
        for _ in range(25):
            river.checkpointer.save()
            assert _addresses(river) == sorted(range(30))
            header, _ = river.read()
            in_hosts = header.counters.get("down", 0) - header.counters.get("up", 0)
            assert 30 - len(_queued(river, header)) == in_hosts, "the counters are of the same moment"
    finally:
        over.append(True)
    river.line.close()
    assert river.workers.join(20) == []
    assert river.died == []


def _queued(river: River, header: Header) -> list[URLMessage]:
    return _all(river, "incoming", header.incoming)


def _addresses(river: River) -> list[int]:
    header, _ = river.read()
    found = _queued(river, header)
    for key in river.file.host_rows():
        saved = decode_host(river.store.get(key) or b"")
        found += [each for each, _ in saved.row.running]
        found += _all(river, f"host-{key.removeprefix(ROW)}", saved.queue)
    return sorted(int(each.url.path_query[1:]) for each in found)


def _all(river: River, name: str, row: Any) -> list[URLMessage]:
    """The messages of a saved queue, its blocks on the disk included; they are only looked at."""
    state = row.state()
    found = [*state.front, *state.back]
    for number, length in state.numbers():
        block = decode_messages((river.store.get(f"{name}_{number}.cqb") or b"")[8:])
        assert len(block) == length
        found += block
    return found


def test_what_a_thread_left_half_done_is_not_saved(make: Callable[..., River]) -> None:
    """The tick may come between the failure and the end of the crawl."""
    river = make()
    river.checkpointer.save()
    before = river.read()
    river.incoming.put_many([message("http://a/half")])
    with pytest.raises(KeyError), river.gate.step():
        raise KeyError("a filter")
    river.checkpointer.save()
    river.checkpointer.save()
    assert river.read() == before


def test_nothing_is_leased_while_a_checkpoint_takes_too_long(make: Callable[..., River]) -> None:
    """A kill then costs what came since the one before, and that took no longer."""
    river = make()
    said: list[bool] = []

    def slow(_header: object, *rest: object) -> int:
        for seconds in (LATE - 1, 2.0):
            river.clock.advance(seconds)
            said.append(river.checkpointer.keeps_up())
        return write(_header, *rest)  # type: ignore[arg-type]

    write, river.file.write = river.file.write, slow  # type: ignore[method-assign,assignment]
    river.checkpointer.on_saved.append(lambda: said.append(river.checkpointer.keeps_up()))
    assert river.checkpointer.keeps_up()
    river.checkpointer.save()
    assert said == [True, False, True]
