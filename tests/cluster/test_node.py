"""The thread of a node: what it does first."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

import msgspec
import pytest

from larm.cluster.beat import Beat, Quiet, Stamp, View, Vote
from larm.cluster.bus import Question
from larm.cluster.card import Card, Command, Rests
from larm.cluster.identity import Identity, read_identity
from larm.cluster.membership import Rules, Saved
from larm.cluster.node import Node
from larm.cluster.said import Said
from larm.cluster.terms import Doors, Envelope, Refusal, Rule
from larm.config import Config
from larm.engine.limits import Limits
from larm.errors import StageError, UsageError
from larm.kit.clock import SystemClock, boot_time
from larm.kit.counters import Counters
from larm.kit.disk.block_store import BlockStore
from larm.kit.threads.bell import Bell
from larm.kit.threads.gate import Gate
from larm.kit.threads.tally import Tally
from larm.kit.threads.ticker import Ticker
from larm.kit.threads.workers import Workers
from larm.model.url import URLNormalizer
from larm.version import VERSION
from tests.support.local_bus import Hub, LocalBus


class _Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)


@contextmanager
def node_of(
    folder: Path, steering: Any, hub: Hub, saved: Saved | None = None, now: Callable[[], float] = boot_time
) -> Iterator[Node]:
    shared: Any = Stub(
        clock=SystemClock(), counters=Counters(), gate=Gate(), tally=Tally(lambda: None), bell=Bell(), ticker=Ticker(5.0)
    )
    store = BlockStore(folder)
    doors = Doors(
        shared,
        steering,
        store,
        str,
        lambda: iter(()),
        URLNormalizer().parse,
        lambda _: iter(()),
        lambda _: {},
        now,
        _Log(),
        folder,
        folder / "store.log",
    )
    rule = Rule("demo", "me", ("seed",), "", Rules())
    try:
        yield Node(rule, Identity("demo", "me", saved=saved or Saved()), folder / "agent.json", LocalBus(hub, "me"), doors)
    finally:
        store.close()


def test_beats_are_sent_however_many_events_come_in(tmp_path: Path) -> None:
    hub, beats = Hub(), queue.SimpleQueue[Question]()
    hub.listening["seed"] = beats.put
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    died: list[BaseException] = []
    workers = Workers(lambda _, error: died.append(error))
    with node_of(tmp_path, steering, hub) as node:

        def flood() -> None:
            node._line.put(flood)

        flood()
        try:
            workers.start("larm-agents", node.run)
            assert [beats.get(timeout=30).kind for _ in range(2)] == ["beat", "beat"]
        finally:
            node.stop()
            assert workers.join(30) == []
    assert died == []
    assert read_identity(tmp_path / "agent.json", "demo").boots == 1


def test_a_crawl_that_waits_for_more_is_not_over(tmp_path: Path) -> None:
    """``crawl.on_idle: wait`` of one agent holds the end of all."""
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:
        assert node.agent.quiet("").idle is False  # nobody has looked yet
        node.agent.released()
        assert node.agent.quiet("").idle is True
        steering.limits.set("crawl.on_idle", "wait")
        assert node.agent.quiet("").idle is False


def test_a_revisit_that_has_one_more_round_is_not_over(tmp_path: Path) -> None:
    """Or the others would end while it chooses pages, and nobody would take what these link to."""
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:
        node.agent.released()
        recrawl: Any = Stub(goes_on=True)
        node.recrawl = recrawl
        assert node.agent.quiet("").idle is False
        recrawl.goes_on = False
        assert node.agent.quiet("").idle is True


def test_a_process_that_hangs_gives_its_place_up(tmp_path: Path) -> None:
    """Not at the first look, which may be that after a suspension; and nothing is said any more, nor asked."""
    hub, beats = Hub(), queue.SimpleQueue[Question]()
    hub.listening["seed"] = beats.put
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    time = [100.0]
    with node_of(tmp_path, steering, hub, now=lambda: time[0]) as node:

        def looks(why: str) -> bool:
            """As larm-agents and the main thread do for some seconds."""
            node.hang = lambda _: why
            for _ in range(49):
                node._step(time[0])
                time[0] += 0.1
            return node.gives_up()

        assert not looks("nothing goes on")
        assert not looks("")  # it was suspended
        assert not looks("nothing goes on")
        assert node._doors.shared.bell.wait(0) is None
        time[0] += 0.2
        assert node.gives_up()
        said = beats.qsize()
        assert said > 1
        node._step(time[0] + 10)
        assert beats.qsize() == said
        assert not node.may_lease()
        error: object = node._doors.shared.bell.wait(0)
        assert isinstance(error, StageError)


def test_who_comes_back_to_nobody_ends_and_says_where_they_were(tmp_path: Path) -> None:
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    saved = Saved((View(3, dict.fromkeys(["me", "b", "c"], 1.0)),), 3, Vote(0), begun=True)
    with node_of(tmp_path, steering, Hub(), saved) as node:
        node.together.hear("b", Card("tcp/there:1"))
        node._step(boot_time() + 319)
        assert node._doors.shared.bell.wait(0) is None
        node._step(boot_time() + 321)
        error: object = node._doors.shared.bell.wait(0)
    assert isinstance(error, UsageError)
    assert "(b at tcp/there:1, c) were heard in 320 s" in str(error)


def test_names_that_are_made_up_without_end_are_refused(tmp_path: Path) -> None:
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:

        def said_by(name: str) -> object:
            envelope = Envelope(VERSION, "", Card("there"), {}, beat_of(name))
            answer = node._greeting.asked(Said(msgspec.msgpack.encode(envelope)))
            return msgspec.msgpack.decode(answer, type=Envelope | Refusal)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("larm.cluster.greeting.MOST", 2)
            told = [said_by(name) for name in ("a", "b", "c", "a")]
    assert [type(each) for each in told] == [Envelope, Envelope, Refusal, Envelope]


def test_a_stop_of_the_run_before_does_not_stop_this_one(tmp_path: Path) -> None:
    """Whoever is about to end still tells it on the first card that it sends here; clocks may differ by any time."""
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:
        bell: Bell[object] = node._doors.shared.bell  # type: ignore[assignment]
        node.together.hear("b", Card("there", command=Command(1 << 60, "b", "stop")))
        node.together.hear("b", Card("there", command=Command(1 << 60, "b", "stop")))
        assert bell.wait(0.0) is None
        node.together.hear("b", Card("there", command=Command((1 << 60) + 1, "b", "stop", "closespider_timeout")))
        assert bell.wait(0.0) == "closespider_timeout"


def test_the_newest_command_is_on_our_card(tmp_path: Path) -> None:
    """Also one that is given by who knows of one from a clock far ahead."""
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    steering.order = lambda order: orders.append(type(order).__name__)
    steering.carry_out = lambda: None
    orders: list[str] = []
    with node_of(tmp_path, steering, Hub()) as node:
        node.together.hear("b", Card("there", command=Command(1 << 60, "b", "pause")))
        assert node.together.order("resume") == "this agent goes on; it is the only one"
        assert node.together.card().command == Command((1 << 60) + 1, "me", "resume")
        node.together.hear("b", Card("there", command=Command(1 << 60, "b", "pause")))
        assert node.together.card().command.what == "resume"
    assert orders == ["Pause", "Resume"]


def beat_of(name: str, *views: View) -> Beat:
    return Beat(name, Stamp(1 << 32, 1.0), None, views, 0, (), Vote(0), None, 1.0, "", Quiet(), begun=False)


@pytest.mark.parametrize("liars", [1, 2])
def test_one_member_that_refuses_ends_nobody_whom_others_hear(tmp_path: Path, liars: int) -> None:
    """It may say that we are a copy in each of its answers; where more say so than hear us, we are one."""
    hub, time = Hub(), [100.0]
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    view = View(3, dict.fromkeys(["me", "b", "c", "d"], 1.0))

    def answers(name: str, *, lies: bool) -> Callable[[Question], object]:
        def answer(question: Question) -> None:
            if question.kind == "pass":
                question.answer(None)
                return
            asked = msgspec.msgpack.decode(question.payload, type=Envelope)
            beat = msgspec.structs.replace(beat_of(name, view), stamp=Stamp(1 << 32, time[0]), echo=asked.beat.stamp)
            envelope = Envelope(VERSION, "", Card(name), {}, beat)
            question.answer(msgspec.msgpack.encode(Refusal("it is a copy", copied=True) if lies else envelope))

        return answer

    with node_of(tmp_path, steering, hub, Saved((view,), 3, Vote(0), begun=True), now=lambda: time[0]) as node:
        for number, name in enumerate("bcd"):
            hub.listening[name] = answers(name, lies=number < liars)
            node._line.addresses[name] = name
        for _ in range(600):
            node._step(time[0])
            for _ in range(50):
                node._line.take(0.0)
            time[0] += 0.1
        died: object = node._doors.shared.bell.wait(0)
    assert isinstance(died, UsageError) is (liars == 2)


def test_garbage_without_end_is_counted_and_not_logged_without_end(tmp_path: Path) -> None:
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:
        for number in range(1_000):
            assert node._asked("beat", Said(b"\xa4" + f"{number:04}".encode())) is None
            assert node._asked("parts", Said(bytes(number))) is None
            node._not_heard(f"{number} {'x' * 100_000}")
        assert node._doors.shared.counters.snapshot() == {"agents/refused": 3_000}
        lines: list[str] = node._doors.log.lines  # type: ignore[attr-defined]
        assert len(lines) <= 101
        assert max(map(len, lines)) < 400


def test_questions_without_end_wait_in_bounded_memory(tmp_path: Path) -> None:
    """What there is no room for gets no answer at once; what we asked ourselves is always heard."""
    hub, answers = Hub(), list[bytes | None]()
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    with node_of(tmp_path, steering, hub) as node:
        node._line.open(lambda kind, said: b"yes")
        liar = LocalBus(hub, "liar")
        for _ in range(5_000):
            liar.ask("me", "beat", b"x", 1.0, answers.append)
        assert answers == [None] * 3_000
        for _ in range(2_000):
            node._line.take(0.0)
        assert answers[3_000:] == [b"yes"] * 2_000
        for _ in range(5):
            liar.ask("me", "parts", bytes(16_000_000), 1.0, answers.append)
        assert answers[5_000:] == [None]
        node._line.take(0.0)
        assert node._doors.shared.counters.snapshot()["agents/refused"] == 3_001


def test_addresses_of_strangers_are_not_asked_because_somebody_tells_them(tmp_path: Path) -> None:
    """Each takes a session; those of members, and of whoever is heard, are known."""
    steering = Stub(recipients={}, pending=False, paused=False, ask_again=lambda: None, limits=Limits(Config()))
    with node_of(tmp_path, steering, Hub()) as node:
        told = {str(number): f"tcp/10.0.0.1:{number}" for number in range(900)} | {"c": "tcp/10.0.0.2:1"}
        beat = beat_of("b", View(3, dict.fromkeys("bc", 1.0)))
        node._greeting.asked(Said(msgspec.msgpack.encode(Envelope(VERSION, "", Card("there"), told, beat))))
        assert node._line.addresses == {"b": "there", "c": "tcp/10.0.0.2:1"}


def test_hosts_of_a_dead_agent_keep_the_rest_that_they_asked_it_for(tmp_path: Path) -> None:
    """Nobody but the dead agent had heard of it: its card tells, and a lie of a thousand years counts for a day."""
    steering = Stub(recipients={}, pending=False, paused=False, limits=Limits(Config()))
    both, alone = View(3, dict.fromkeys(["me", "b"], 1.0)), View(4, {"me": 1.0})
    with node_of(tmp_path, steering, Hub(), Saved((both,), 3, Vote(0), begun=True)) as node:
        rested: dict[str, float] = {}
        changes = Stub(back_off=rested.__setitem__)
        node.together._frontier = Stub(changes=changes)  # type: ignore[assignment]
        now = int(SystemClock().wall())
        rests = {"long.example": now + 3_600, "over.example": now - 5, "never.example": now + (1 << 40)}
        node.together.hear("b", Card("there", rests=rests))
        node._after(boot_time())
        assert rested == {}
        node.agent.membership._learn(alone, boot_time())
        node._after(boot_time())
    assert rested.keys() == {"long.example", "never.example"}
    assert 3_500 < rested["long.example"] <= 3_600
    assert rested["never.example"] == 86_400


def test_rests_that_are_told() -> None:
    """Not the short ones, which are over when others ask the host; the longest, as there is room for."""
    rests = Rests(30.0)
    for number in range(1_000):
        rests.note(f"h{number}.example", float(number), 1_000.0)
    told = rests.told(1_500.0)
    assert len(told) == 100
    assert told["h999.example"] == 1_999
    assert min(told.values()) == 1_900
    assert rests.told(5_000.0) == {}
    rests.note("short.example", 29.0, 5_000.0)
    assert rests.told(5_000.0) == {}
