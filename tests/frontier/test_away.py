"""What is found of a host that moves waits before the filters remember it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from larm.filters.away import AwayHosts
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.tally import Tally
from larm.model.message import URLMessage
from larm.seams import Filter
from larm.testing.fakes import message


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BlockStore]:
    with closing(BlockStore(tmp_path)) as store:
        yield store


def nothing(messages: object, reason: str) -> None:
    raise AssertionError("it drops nothing")


def urls(messages: list[URLMessage]) -> list[str]:
    return [each.url.access for each in messages]


def test_it_waits_and_keeps_the_crawl_going(store: BlockStore) -> None:
    tally = Tally(lambda: None)
    away: Filter = (made := AwayHosts(store, 2, tally, {}))
    batch = [message(f"http://{host}/{number}") for number in range(4) for host in "ab"]
    assert away.sift(batch, nothing) == batch
    made.close_to("a")
    made.close_to("a")
    assert urls(away.sift(batch, nothing)) == [f"http://b/{number}" for number in range(4)]
    assert (tally.value, len(made)) == (4, 4)
    assert "moves" in (away.explain(batch[0]) or "")
    assert away.explain(batch[1]) is None
    again = AwayHosts(store, 2, tally, made.rows())
    assert (len(again), again.sift(batch[:1], nothing)) == (4, [])
    while again.take("a", 3):
        pass
    assert again.sift(batch, nothing) == batch, "it is not away any more"


def test_what_waits_comes_in_its_order(store: BlockStore) -> None:
    made = AwayHosts(store, 2, Tally(lambda: None), {})
    made.close_to("a")
    for number in range(9):
        made.sift([message(f"http://a/{number}")], nothing)
    found: list[str] = []
    while taken := made.take("a", 4):
        found += urls(taken)
    assert found == [f"http://a/{number}" for number in range(9)]
