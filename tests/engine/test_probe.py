"""One look at all parts of a running crawl (LARM-78)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from larm.config import Config, FetchSettings
from larm.engine.checkpointer import Saved
from larm.engine.fetcher_record import FetcherRecord
from larm.engine.probe import Probe
from larm.frontier.traps.desk import TrapDesk
from larm.frontier.traps.limits import TrapRules
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.seen_set import DiskSeenSet
from larm.kit.logs.log_book import LogBook
from larm.store.lines import StorageLines
from larm.store.pipeline import QUEUE, StorageLine
from larm.testing.fakes import ListStorage
from tests.frontier.rig import CONNECT, Rig, of, status


class River:
    """A frontier, a visited set, a log and a storage whose thread has not begun."""

    def __init__(self, directory: Path) -> None:
        self.store = BlockStore(directory / "queue")
        self.rig = Rig(self.store, of(per_host=2))
        self.seen = DiskSeenSet(directory / "visited.db", 100)
        self.logs = LogBook(directory / "logs")
        self.threads = {
            "larm-fetch-0": 3.0,
            "larm-fetch-1": 1.0,
            "larm-page-0": 0.5,
            "larm-handler": 0.5,
            "larm-store-list": 0.25,
            "larm-x": 9.0,
        }
        self.handler = SimpleNamespace(incoming=[1, 2, 3], busy=True, keeps_up=lambda: True)
        self.rig.counters.load({"item_scraped_count": 40, "downloader/request_count": 50, "length/filtered": 4})
        self.probe = Probe(
            paused=lambda: False,
            stalled=tuple,
            settings=Config(fetch=FetchSettings(threads=2, transfers=16)),
            shared=cast(
                "Any",
                SimpleNamespace(
                    clock=self.rig.clock,
                    counters=self.rig.counters,
                    tally=self.rig.tally,
                    cpu=SimpleNamespace(seconds=lambda: self.threads),
                ),
            ),
            frontier=cast(
                "Any",
                SimpleNamespace(
                    handler=self.handler,
                    turns=self.rig.turns,
                    seen=self.seen,
                    traps=TrapDesk(self.rig.book, TrapRules(), self.rig.tally),
                ),
            ),
            records=[
                *(FetcherRecord(self.logs, number, self.rig.clock) for number in range(2)),
                FetcherRecord(self.logs, 2, self.rig.clock, "larm-page-0"),
            ],
            lines=StorageLines([StorageLine(ListStorage(), 1_000, None)]),
            checkpointer=cast("Any", SimpleNamespace(last=Saved(0.5, 0.1, 77))),
        )


@pytest.fixture
def river(tmp_path: Path) -> Iterator[River]:
    river = River(tmp_path)
    yield river
    for part in (river.logs, river.seen, river.store):
        part.close()


def test_counts_of_this_run_and_of_all(river: River) -> None:
    river.rig.counters.update({"item_scraped_count": 2, "downloader/request_count": 5, "downloader/response_bytes": 99})
    river.rig.counters.update({"downloader/response_status_count/404": 2, "downloader/response_status_count/200": 3})
    river.rig.counters.update({"downloader/exception_type_count/timeout": 1, "scope/filtered": 6})
    river.rig.fake.advance(9)
    now = river.probe()
    assert (now.pages, now.pages_run, now.requests, now.received, now.elapsed) == (42, 2, 5, 99, 9)
    assert now.errors == 3
    assert now.filtered == {"length": 0, "scope": 6}


def test_every_url_is_counted_where_it_is(river: River) -> None:
    river.rig.tally.rise(3)  # those that wait for the handler
    river.rig.put("a/1", "a/2", "a/3", "b/1", "b/2", "c/1")
    leases = river.rig.queues.lease(4)
    river.rig.end(next(each for each in leases if each.host == "b"), CONNECT)
    now = river.probe()
    assert (now.incoming, now.in_flight, now.transfers) == (3, 3, 32)
    assert now.waiting == 3, "those of a host that was given up, too"
    assert (now.hosts_known, now.hosts_given_up, now.hosts_waiting) == (3, 1, 0)
    assert now.handler_busy


def test_hosts_by_what_they_wait_for(river: River) -> None:
    river.rig.put("a/1", "b/1", "b/2")
    lease = next(each for each in river.rig.queues.lease(2) if each.host == "b")
    river.rig.end(lease, status(503))
    now = river.probe()
    assert (now.hosts_blocked, now.hosts_waiting) == (1, 0)


def test_the_rest(river: River) -> None:
    river.seen.add_new([1, 2])
    now = river.probe()
    assert (now.visited, now.visited_bytes) == (2, 30)
    assert [(each.name, each.queued, each.limit) for each in now.storages] == [("list", 0, QUEUE)]
    assert [each.name for each in now.threads] == ["larm-fetch-0", "larm-fetch-1", "larm-page-0"]
    assert (now.checkpoint_seconds, now.checkpoint_bytes) == (0.5, 77)


def test_processor_time_by_stage(river: River) -> None:
    river.probe._records[0].spent(2.0)
    river.probe._records[2].spent(0.5)
    found = river.probe().cpu
    assert found.pop("other") >= 0.0
    assert found.pop("processing, in other processes") >= 0.0
    assert found == {
        "fetching": 2.0,
        "processing": 2.5,
        "filters and frontier": 0.5,
        "storage list": 0.25,
        "checkpoints and figures": 0.0,
        "start, display and end": 0.0,
    }
