"""The node of a crawl: what its threads do, and what they never do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

import pytest

from larm.cluster.agent import Gone
from larm.cluster.applicant import Applicant, SavedSession
from larm.cluster.identity import Identity, read_identity
from larm.cluster.keys import Keys
from larm.cluster.node import Node, Wires
from larm.cluster.session import Session
from larm.cluster.terms import Doors, Rule
from larm.cluster.transport import Asked, Origin, Refusal
from larm.config import ClusterSettings, Config
from larm.engine.allowance import PageBudget
from larm.engine.limits import Limits
from larm.errors import StageError, UsageError
from larm.fetch.fence import Fence
from larm.kit.clock import SystemClock, boot_time
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.ticker import Ticker
from larm.kit.threads.workers import Workers
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer
from tests.support.fake_etcd import FakeEtcd
from tests.support.views import RULES, see, view


class Server:
    """Listens to nothing."""

    address = "127.0.0.1:1"

    def start(self, workers: Workers) -> None:
        """Nothing comes."""

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def node_of(
    folder: Path,
    etcd: Any = None,
    identity: Identity | None = None,
    now: Callable[[], float] = boot_time,
    links: Callable[[], Iterator[URLMessage]] = lambda: iter(()),
) -> Iterator[Any]:
    """``log``, ``steering`` and ``session`` are added to it."""
    log: list[str] = []
    steering: Any = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    shared: Any = Stub(
        clock=SystemClock(), counters=Counters(), gate=Gate(), tally=Tally(lambda: None), bell=Bell(), ticker=Ticker(5.0)
    )
    store, numbers = BlockStore(folder), count(1)
    doors = Doors(
        shared,
        steering,
        store,
        str,
        links,
        URLNormalizer().parse,
        lambda _: iter(()),
        lambda _: {},
        now,
        log.append,
        log.append,
        folder,
        folder / "store.log",
        Fence(),
        (),
    )
    identity = identity or Identity("demo", "me", 1)
    session = Session(
        etcd or FakeEtcd(now), Keys("demo"), Applicant("me", 1), identity.session, rules=RULES, random=lambda: next(numbers)
    )
    rule = Rule("demo", "127.0.0.1:1", RULES, ClusterSettings(recover=0))
    server: Any = Server()
    node: Any = None
    try:
        node = Node(rule, identity, folder / "agent.json", Wires(session, lambda *_: server, None, None), doors)
        node.log, node.steering, node.session = log, steering, session
        handler = Stub(put=lambda messages: node.owners.sift(messages, print), keeps_up=lambda: True)
        frontier: Any = Stub(
            handler=handler,
            book=Stub(known=list),
            changes=Stub(),
            seen=(),
            queues=Stub(),
            turns=Stub(figures=lambda: Stub(uncounted=0)),
        )
        moves: Any = Stub(moving=dict)
        node.take(frontier, lambda: None, moves, PageBudget(None, 0))
        yield node
    finally:
        if node is not None:
            node._client._http._loop.close()
        store.close()


def test_rounds_with_etcd_go_on_however_many_events_come_in(tmp_path: Path) -> None:
    died: list[BaseException] = []
    workers = Workers(lambda _, error: died.append(error))
    etcd, seen = FakeEtcd(boot_time), threading.Event()
    with node_of(tmp_path, etcd) as node:

        def flood() -> None:
            if node.agent.begun:
                seen.set()
            node._line.put(flood)

        flood()
        try:
            workers.start("larm-agents", node.run)
            assert seen.wait(30), "it founds a cluster, and its run begins"
        finally:
            node.stop()
            assert workers.join(30) == []
    assert died == []
    assert read_identity(tmp_path / "agent.json", "demo").session.member


@pytest.fixture
def clock() -> list[float]:
    return [1_000.0]


def begin(node: Any, clock: list[float], seconds: float = 5.0) -> None:
    """Rounds and steps, as its two threads do them."""
    for _ in range(round(seconds * 2)):
        clock[0] += 0.5
        node.session.round(node._mine, node._doors.now)
        node._after_round()
        node._step(clock[0])


@pytest.mark.parametrize("what", ["on_idle", "recrawl", "paused", "pending"])
def test_crawl_that_has_more_to_do_later_is_not_idle(tmp_path: Path, clock: list[float], what: str) -> None:
    with node_of(tmp_path, now=lambda: clock[0]) as node:
        begin(node, clock, 2.0)
        assert node.agent.begun
        assert node._mine.idle
        match what:
            case "on_idle":
                node.steering.limits.set("crawl.on_idle", "wait")
            case "recrawl":
                node.recrawl = Stub(goes_on=True)
            case "paused" | "pending":
                setattr(node.steering, what, True)
        begin(node, clock, 5.0)
        assert not node._mine.idle
        assert not node.over


def test_agent_that_is_alone_finds_the_end_by_itself(tmp_path: Path, clock: list[float]) -> None:
    with node_of(tmp_path, now=lambda: clock[0]) as node:
        begin(node, clock, 10.0)
        assert node.over
        assert node.may_end()


def test_process_that_hangs_gives_its_place_up(tmp_path: Path, clock: list[float]) -> None:
    """Not at the first look, which may be that after a suspension. It asks nothing any more."""
    with node_of(tmp_path, now=lambda: clock[0]) as node:
        node._doors.fence.until = boot_time() + 60

        def looks(why: str) -> bool:
            """As larm-agents and the main thread do for some seconds."""
            node.hang = lambda _: why
            for _ in range(49):
                node._step(clock[0])
                clock[0] += 0.1
            return bool(node.gives_up())

        assert not looks("nothing goes on")
        assert not looks("")
        assert not looks("nothing goes on")
        assert node._doors.shared.bell.wait(0) is None
        clock[0] += 0.2
        assert node.gives_up()
        node.session.state.confirm(boot_time())
        node._after_round()
        assert not node.may_lease(), "no later renewal opens the fence"
        assert isinstance(node._doors.shared.bell.wait(0), StageError)


def test_lost_agent_that_starts_again_joins_though_urls_wait_in_its_outboxes(tmp_path: Path, clock: list[float]) -> None:
    """Its run has not begun here before it is a member, so it sends none of them before that."""
    etcd = FakeEtcd(lambda: clock[0])
    with node_of(tmp_path / "first", etcd, Identity("demo", "other", 1), now=lambda: clock[0]) as other:
        other.session._own = Applicant("other", 1)
        saved = Identity("demo", "me", 1, session=SavedSession(nonce=5), epoch=1, inside=True)
        with node_of(tmp_path / "second", etcd, saved, now=lambda: clock[0]) as node:
            message = URLMessage(URLNormalizer().parse("http://h1.example/"))
            node.owners.sift([message], print)
            assert node.agent.courier.waiting == 1
            node._checkpoints = 9
            for _ in range(20):
                node._checkpoints += 1
                begin(node, clock, 0.5)
            assert node.session.state.inside
            assert node.agent.begun


def test_leaving_agent_keeps_its_place_until_its_search_and_its_urls_are_done(tmp_path: Path, clock: list[float]) -> None:
    """Its links and its outboxes go with it."""
    with node_of(tmp_path, now=lambda: clock[0]) as node:
        begin(node, clock, 2.0)
        node._leaving = True
        see(node.session.state, view(7, "b", past=[(1, "m")]), clock[0])
        node.agent.epoch = 7

        def released() -> bool:
            for _ in range(5):
                node._checkpoints += 1
                node._hand_over()
            return not node.agent.must_release

        node._search.begin(Gone("", {}, 7), 1 << 40)
        assert not released()
        node._search._wanted.clear()
        node._doors.shared.tally.rise(1)
        assert not released()
        node._doors.shared.tally.fall(1)
        node.agent.courier.keep([Stub()], clock[0])
        assert not released()
        node.agent.courier.reroute = None
        node.agent.courier.waiting = 0
        assert released()


def test_search_of_a_lost_agent_survives_a_checkpoint_that_comes_first(tmp_path: Path, clock: list[float]) -> None:
    """A checkpoint forgets what was searched before it: not what has not been searched yet."""
    gone = Gone("x", {"me": 1.0, "x": 1.0}, 1)
    with node_of(tmp_path, identity=Identity("demo", "me", 1, gone=(gone,), epoch=1), now=lambda: clock[0]) as node:
        gate, cuts = node._doors.shared.gate, list[object]()

        class Step:
            """A checkpoint right after each step."""

            def __enter__(self) -> None:
                """It begins."""

            def __exit__(self, *_: object) -> None:
                cuts.append(node.cut(last=False))
                node.saved()

        gate.step = Step
        node._step(clock[0])
        assert cuts
        assert node.agent.wanted == (gone,)
        for _ in range(9):
            node._step(clock[0])
        assert node.agent.wanted == ()


def test_batch_is_found_again_at_once_where_an_agent_claimed_to_be_idle(tmp_path: Path, clock: list[float]) -> None:
    """The thread larm-etcd is woken to withdraw the claim."""
    with node_of(tmp_path, now=lambda: clock[0]) as node:
        begin(node, clock, 2.0)
        node._hurry.clear()
        assert node._mine.idle
        node._asked(Asked("parcel", Origin("", 1, 1, "b", 1), b"\xa4"))
        node._asked(Asked("parts", Origin("", 1, 99, "b", 1), b"\xa4"))
        assert isinstance(node._asked(Asked("nonsense", Origin("", 1, 1, "b", 1), b"")), Refusal)


def test_garbage_is_refused_and_counted(tmp_path: Path) -> None:
    with node_of(tmp_path) as node:
        for number in range(100):
            for kind in ("parcel", "parts", "copies"):
                found = node._asked(Asked(kind, Origin("c", 1, 1, "liar" * 100, 1), bytes(number)))
                assert isinstance(found, Refusal)
                assert found.code == "garbage"
        assert node._doors.shared.counters.snapshot() == {"agents/refused": 300}
        assert node.log == []


def test_agent_that_is_alone_can_not_leave(tmp_path: Path) -> None:
    with node_of(tmp_path) as node, pytest.raises(UsageError, match="no other agent"):
        node.leave()
