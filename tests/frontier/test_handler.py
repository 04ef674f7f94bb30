"""One thread, one queue, one chain (LARM-43, LARM-44)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from larm.frontier.handler import MessageHandler
from larm.frontier.robots.desk import BATCH, Arrival
from larm.frontier.robots.rules import ALLOW_ALL
from larm.kit.disk.block_store import BlockStore
from larm.kit.disk.caching_queue import CachingQueue
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.workers import Workers
from larm.model.message import URLMessage, decode_messages, encode_messages
from larm.testing.fakes import message

Run = Callable[[Sequence[URLMessage]], list[URLMessage]]
PATIENCE = 10  # seconds


class River:
    """A handler on its thread, between a list of calls and a list of what passed."""

    def __init__(self, store: BlockStore, run: Run = list) -> None:
        self.over = threading.Event()
        self.all_seen = threading.Event()
        self.number = 0
        self.died: list[BaseException] = []
        self.tally = Tally(self.over.set)
        self.gate = Gate()
        self.judge = run
        self.batches: list[tuple[str | None, int]] = []
        self.passed: list[str] = []
        self.caught_up: list[tuple[str | None, int]] = []
        self.threads: set[str] = set()
        self.parked: list[URLMessage] = []
        self.handler = MessageHandler(
            incoming=CachingQueue("incoming", 5_000, store, encode_messages, decode_messages),
            chain=self,
            settle=self._settle,
            forward=self._forward,
            tally=self.tally,
            gate=self.gate,
            caught_up=lambda: self.caught_up.extend(self.batches),
        )
        self.workers = Workers(lambda name, error: (self.died.append(error), self.over.set()))

    def run(self, batch: Sequence[URLMessage], start: str | None = None) -> list[URLMessage]:
        """The chain."""
        self.threads.add(threading.current_thread().name)
        self.batches.append((start, len(batch)))
        if sum(number for _, number in self.batches) >= self.number:
            self.all_seen.set()
        assert self.tally.value >= len(batch), "what is in the chain counts"
        return self.judge(batch)

    def _settle(self, arrival: Arrival) -> Iterator[list[URLMessage]]:
        while self.parked:
            batch, self.parked = self.parked[:2], self.parked[2:]
            yield batch

    def _forward(self, batch: Sequence[URLMessage]) -> None:
        self.passed += [each.url.access for each in batch]

    def start(self) -> None:
        self.workers.start("larm-handler", self.handler.run)

    def put(self, *addresses: str) -> None:
        with self.gate.step():
            self.number += len(addresses)
            self.handler.put([message(f"http://{address}") for address in addresses])

    def finish(self) -> None:
        """Stop it when the chain has had all that was put."""
        assert self.all_seen.wait(PATIENCE)
        self.stop()

    def stop(self) -> None:
        self.handler.stop()
        assert self.workers.join(PATIENCE) == []


@pytest.fixture
def rivers(store: BlockStore) -> Iterator[Callable[..., River]]:
    made: list[River] = []

    def make(run: Run = list) -> River:
        made.append(River(store, run))
        return made[-1]

    yield make
    for river in made:
        river.stop()


def nothing(batch: Sequence[URLMessage]) -> list[URLMessage]:
    return []


def test_put_runs_no_filter_in_the_callers_thread(rivers: Callable[..., River]) -> None:
    """LARM-44."""
    river = rivers(nothing)
    river.put("a/1", "a/2")
    assert (river.batches, len(river.handler.incoming), river.tally.value) == ([], 2, 2)
    river.start()
    assert river.over.wait(PATIENCE)
    assert river.threads == {"larm-handler"}


def test_what_passes_goes_on_in_its_order_and_still_counts(rivers: Callable[..., River]) -> None:
    river = rivers(lambda batch: [each for each in batch if not each.url.access.endswith("x")])
    river.put("a/1", "a/x", "b/1")
    river.put("a/2", "b/x")
    river.start()
    river.finish()
    assert river.passed == ["http://a/1", "http://b/1", "http://a/2"]
    assert river.tally.value == 3


def test_batches_are_bounded(rivers: Callable[..., River]) -> None:
    """A checkpoint waits for one batch at most."""
    river = rivers(nothing)
    river.put(*(f"a/{number}" for number in range(2 * BATCH + 5)))
    river.start()
    assert river.over.wait(PATIENCE)
    assert river.batches == [(None, BATCH), (None, BATCH), (None, 5)]


def test_a_filter_that_loses_messages_without_a_word_does_not_hang_the_crawl(rivers: Callable[..., River]) -> None:
    river = rivers(lambda batch: list(batch[1:]))
    river.put("a/1", "a/2", "a/3")
    river.start()
    river.finish()
    assert (river.passed, river.tally.value) == (["http://a/2", "http://a/3"], 2)


def test_a_filter_that_adds_messages(rivers: Callable[..., River]) -> None:
    """The seams do not forbid it; the crawl must not end while they are on their way."""
    river = rivers(lambda batch: [*batch, message("http://b/")])
    river.put("a/1")
    river.start()
    river.finish()
    assert (river.passed, river.tally.value) == (["http://a/1", "http://b/"], 2)


def test_the_tally_is_never_zero_too_early(rivers: Callable[..., River]) -> None:
    """Whoever forwards still finds the batch counted."""
    river = rivers()
    seen = []
    river.handler._forward = lambda batch: (seen.append(river.tally.value), river.tally.fall(len(batch)))  # as a dead host does
    river.put("a/1", "a/2", "a/3")
    river.start()
    assert river.over.wait(PATIENCE)
    assert seen == [3]


def test_rules_that_arrive_go_before_younger_messages_and_enter_at_the_robots_filter(rivers: Callable[..., River]) -> None:
    """LARM-56."""
    river = rivers(nothing)
    river.parked = [message(f"http://a/old{number}") for number in range(3)]
    river.tally.rise(3)
    river.put("a/young")
    river.handler.robots_arrived(Arrival("a", "http", ALLOW_ALL))
    river.start()
    assert river.over.wait(PATIENCE)
    assert river.batches == [("robots", 2), ("robots", 1), (None, 1)]


def test_rules_wake_a_handler_that_has_nothing_else_to_do(rivers: Callable[..., River]) -> None:
    river = rivers(nothing)
    river.start()
    river.parked = [message("http://a/old")]
    river.tally.rise(1)
    river.handler.robots_arrived(Arrival("a", "http", ALLOW_ALL))
    assert river.over.wait(PATIENCE)


def test_a_batch_is_a_step_of_the_gate(rivers: Callable[..., River]) -> None:
    """No checkpoint between a message's leaving one queue and its entering the other."""
    river = rivers(nothing)
    river.put("a/1")
    with river.gate.cut():
        river.start()
        assert river.batches == []
        assert len(river.handler.incoming) == 1
    assert river.over.wait(PATIENCE)


def test_stopped_it_leaves_what_is_queued(rivers: Callable[..., River]) -> None:
    river = rivers()
    river.handler.stop()
    river.put("a/1")
    river.start()
    river.stop()
    assert (river.batches, len(river.handler.incoming), river.tally.value) == ([], 1, 1)


def test_its_death_is_told(rivers: Callable[..., River]) -> None:
    def broken(batch: Sequence[URLMessage]) -> list[URLMessage]:
        raise RuntimeError("the chain is broken")

    river = rivers(broken)
    river.put("a/1")
    river.start()
    assert river.over.wait(PATIENCE)
    assert [str(error) for error in river.died] == ["the chain is broken"]
    with river.gate.cut():
        assert river.gate.broken


def test_nothing_more_is_asked_for_while_it_is_far_behind(
    rivers: Callable[..., River], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever leases is told when it has caught up, once."""
    monkeypatch.setattr("larm.frontier.handler.MOST", 2 * BATCH)
    river = rivers(nothing)
    river.put(*(f"a/{number}" for number in range(2 * BATCH - 1)))
    assert river.handler.keeps_up()
    river.put(*(f"b/{number}" for number in range(2 * BATCH)))
    assert not river.handler.keeps_up()
    river.start()
    assert river.over.wait(PATIENCE)
    assert river.handler.keeps_up()
    assert river.caught_up == [(None, BATCH), (None, BATCH)]
