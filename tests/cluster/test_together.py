"""What an agent says that it waits for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Stub
from typing import Any

from larm.cluster.agent import Agent
from larm.cluster.beat import Beat, Quiet, Stamp, View, Vote
from larm.cluster.card import Card, Figures
from larm.cluster.courier import Courier
from larm.cluster.inbox import Inbox
from larm.cluster.membership import Membership, Rules, Saved
from larm.cluster.terms import Rule
from larm.cluster.together import Together
from tests.cluster.simulation import Memory

RULES = Rules(lease=3.0, adopt_after=12.0)
THREE = View(1, {"a": 1.0, "b": 1.0, "c": 1.0})


class Waiting:
    """The agent a, which has nothing left to do; b has, c has not."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        saved = Saved((THREE,), 1, begun=True)
        membership = Membership("a", 1 << 32, 1.0, RULES, saved=saved, now=0.0)
        self.agent = Agent(membership, Courier(membership, lambda _: Memory()), Inbox(), lambda: True)
        self.agent.released()
        doors: Any = Stub(stored=folder / "store.log", directory=folder, now=lambda: self.now, steering=None)
        rule = Rule("demo", "tcp/127.0.0.1:1", (), "", RULES)
        self.together = Together(self.agent, rule, doors, Stub(), folder)  # type: ignore[arg-type]

    def hear(self, pages: int) -> str:
        """Both say how it is; b has so many pages. What a waits for then."""
        for name in ("b", "c"):
            echo, quiet = Stamp(1 << 32, self.now), Quiet(idle=name == "c")
            beat = Beat(name, Stamp(1 << 32, self.now), echo, (THREE,), 1, (), Vote(0), None, 1.0, "", quiet, begun=True)
            assert self.agent.hear(beat, self.now) is not None
            self.together.hear(name, Card(f"tcp/{name}:1", figures=Figures(pages=pages if name == "b" else 7)))
        return self.together._holds(self.now)


def test_a_member_that_always_says_that_it_is_busy_is_named(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    said = []
    for second in range(0, 1_000, 2):
        waiting.now = float(second)
        said.append(waiting.hear(pages=min(second, 400)))
    named = [second for second, text in zip(range(0, 1_000, 2), said, strict=True) if text]
    assert named[0] == 722, "320 s after it has fetched its last page"
    assert named == list(range(722, 1_000, 2))
    assert said[-1] == "all but b are done, where nothing was fetched for long: ask there why, or end it and others go on"


def test_one_that_leaves_says_so(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    waiting.agent.membership.leaving = True
    assert waiting.hear(pages=1) == "it leaves, and hands its hosts over to the others"
