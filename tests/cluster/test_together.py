"""What an agent says that it waits for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

import pytest

from larm.cluster.card import Card, Figures, Rests
from larm.cluster.courier import Row
from larm.cluster.keys import Command
from larm.cluster.terms import Rule
from larm.cluster.together import Together
from larm.config import Config
from larm.engine.limits import Limits
from larm.engine.orders import Pause, Resume, Set
from larm.errors import UsageError
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer
from tests.support.views import RULES, agent_of, host_of, see, view


class Waiting:
    """The agent a, which has nothing left to do; b has, c has not."""

    def __init__(self, folder: Path) -> None:
        self.now, self.orders, self.rung, self.told = 0.0, list[object](), list[object](), list[tuple[object, ...]]()
        self.agent = agent_of("a", view(1, "a", "b", "c"), epoch=1)
        self.agent.released(1)
        self.agent.is_idle(spent=False)
        shared: Any = Stub(clock=Stub(wall=lambda: self.now), bell=Stub(ring=self.rung.append))
        steering: Any = Stub(order=self.orders.append, carry_out=lambda: None, limits=Limits(Config()))
        doors: Any = Stub(
            stored=folder / "store.log", directory=folder, now=lambda: self.now, steering=steering, shared=shared, records=()
        )
        rule = Rule("demo", "127.0.0.1:1", RULES)
        self.together = Together(self.agent, rule, doors, folder, lambda *each: self.told.append(each))

    def hear(self, pages: int, since: float) -> str:
        """b has so many pages, since then. What a waits for."""
        see(self.agent.state, view(1, "a", "b", "c"), self.now)
        busy = Card("b:1", figures=Figures(pages=pages, waiting=5), since=since)
        self.together.hear({"b": busy, "c": Card("c:1", figures=Figures(pages=7))})
        return self.together._holds(self.now)


def test_member_that_is_busy_for_long_and_fetches_nothing_is_named(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    named = []
    for second in range(0, 1_000, 2):
        waiting.now = float(second)
        if waiting.hear(pages=min(second, 400), since=min(second, 400)):
            named.append(second)
    assert named == list(range(722, 1_000, 2)), "320 s after it has fetched its last page"
    said = waiting.hear(400, 400.0)
    assert said == "all but b are done, where nothing was fetched for long: ask there why, or end it and others go on"


def test_owner_that_takes_nothing_is_named(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    host = host_of(waiting.agent.state, "b")
    waiting.agent.put([Row(host, URLMessage(URLNormalizer().parse(f"http://{host}/")))], 0.0)
    assert waiting.agent.courier.due(0.0)
    waiting.now = RULES.adoption + 1
    assert "URLs wait for b: it renews its lease, but takes nothing from here" in waiting.hear(1, waiting.now)


def test_agent_that_etcd_does_not_confirm_says_why(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    waiting.agent.session.trouble = "etcd does not answer"
    assert waiting.hear(1, 0.0) == "", "it goes on until its lease has passed"
    assert waiting.together._holds(RULES.lease + 1) == "etcd does not answer"


def test_command_is_carried_out_once(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    for number, what in ((5, "pause"), (5, "pause"), (9, "resume"), (9, "resume")):
        waiting.together.step(1.0, Command(1, "b", what, number=number))  # type: ignore[arg-type]
    assert waiting.orders == [Pause(), Resume()]
    waiting.together.step(1.0, Command(1, "b", "stop", "closespider_timeout", 12))
    assert waiting.rung == ["closespider_timeout"]


def test_changed_settings_are_set_once_and_resume_nothing(tmp_path: Path) -> None:
    """An agent may have gone on by itself after a pause of all."""
    waiting = Waiting(tmp_path)
    pause = Command(1, "b", "pause", number=7)
    delay = pause.then("c", "set", changes={"frontier.delay": "2s"})
    both = delay.then("c", "set", changes={"crawl.max_depth": "3"})
    for each in (pause, delay, both, both.then("b", "resume", number=8)):
        waiting.together.step(1.0, each)
    assert waiting.orders == [Pause(), Set("frontier.delay", "2s"), Set("crawl.max_depth", "3"), Resume()]


def test_late_agent_takes_all_settings_and_the_pause(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    waiting.together.step(1.0, Command(1, "b", "pause", "", 7, {"frontier.delay": "2s"}))
    assert waiting.orders == [Set("frontier.delay", "2s"), Pause()]


def test_order_names_the_agents_that_hear_of_it_later(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    assert waiting.together.order("pause") == "this agent pauses, and so do b, c"
    for second in range(1, 5):
        waiting.now = float(second)
        state = waiting.agent.state
        state.see(state.view, 1, state.agents, 99, waiting.now)
    assert waiting.together.order("stop", "why") == (
        "this agent ends, and so do b, c; b, c can't be heard now, and will hear of it later"
    )
    assert waiting.together.change("frontier.delay", "2s").startswith("frontier.delay is 2s now: this agent takes it, and so")
    with pytest.raises(UsageError, match="max_pages is that of all agents"):
        waiting.together.change("crawl.max_pages", "5")
    assert waiting.told == [("pause", "", {}), ("stop", "why", {}), ("set", "", {"frontier.delay": "2s"})]


def test_hosts_of_a_lost_agent_keep_the_rest_that_they_asked_it_for(tmp_path: Path) -> None:
    """Only its card tells. A lie of a thousand years counts for a day."""
    waiting, rested = Waiting(tmp_path), dict[str, float]()
    waiting.together._frontier = Stub(changes=Stub(back_off=rested.__setitem__))  # type: ignore[assignment]
    waiting.now = now = 1_000_000.0
    rests = {"long.example": int(now) + 3_600, "over.example": int(now) - 5, "never.example": int(now) + (1 << 40)}
    waiting.together.hear({"b": Card("there", rests=rests)})
    waiting.together.leave_alone("b", lambda host: "c")
    assert rested == {}
    waiting.together.leave_alone("b", lambda host: "a")
    assert rested == {"long.example": 3_600, "never.example": 86_400}


def test_longest_rests_are_told() -> None:
    """Short ones are over when others ask the host."""
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
