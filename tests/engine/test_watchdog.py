"""Threads that have something to do and make no progress are named, with their stacks; others never are."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from larm.engine.figures.snapshot import Stalled
from larm.engine.watchdog import Watchdog, Watched, stack_of
from larm.kit.threads.progress import Pulse
from larm.kit.threads.workers import Workers
from larm.testing.clock import FakeClock


class Rig:
    def __init__(self) -> None:
        self.clock = FakeClock(1_000.0)
        self.pulse = Pulse()
        self.progress = ""
        self.log: list[str] = []
        self.counted: Counter[str] = Counter()
        watched = Watched("larm-test", self.pulse, lambda: "commits", lambda: self.progress)
        self.dog = Watchdog(
            [watched], 160, self.clock, log=self.log.extend, counted=lambda name, n: self.counted.update({name: n})
        )

    def _count(self, name: str, number: int) -> None:
        self.counted[name] += number

    def after(self, seconds: float) -> tuple[Stalled, ...]:
        self.clock.advance(seconds)
        self.dog.look()
        return self.dog.stalled


@pytest.fixture
def rig() -> Iterator[Rig]:
    """With a thread that hangs."""
    rig, hangs, free = Rig(), threading.Event(), threading.Event()

    def hang_here() -> None:
        hangs.set()
        free.wait()

    workers = Workers(lambda *_: None)
    workers.start("larm-test", hang_here)
    assert hangs.wait(60)
    yield rig
    free.set()
    assert workers.join(60) == []


def test_who_waits_for_something_to_do_may_wait(rig: Rig) -> None:
    assert rig.after(10_000) == ()
    rig.pulse.beat()
    rig.pulse.rest()
    assert rig.after(10_000) == ()
    assert rig.after(10_000) == ()


def test_who_gets_on_may_take_any_time(rig: Rig) -> None:
    for number in range(10):
        rig.pulse.beat()
        assert rig.after(159) == ()
        rig.progress = f"texts of links, {number} of 10"
        assert rig.after(159) == ()


def test_who_does_not_is_named_once_with_its_stack_until_it_goes_on(rig: Rig) -> None:
    rig.pulse.beat()
    rig.dog.look()
    assert rig.after(159) == ()
    assert rig.after(1) == (Stalled("larm-test", "commits", 160.0),)
    assert rig.after(60) == (Stalled("larm-test", "commits", 220.0),)
    assert rig.counted == {"stalled/larm-test": 1}
    assert rig.log[0].endswith("larm-test makes no progress for 2:40: commits")
    assert any("in hang_here" in line for line in rig.log)
    told = len(rig.log)
    rig.pulse.beat()
    assert rig.after(1) == ()
    assert rig.log[told:] == [rig.log[-1]]
    assert rig.log[-1].endswith("larm-test goes on, after 3:41")
    assert rig.after(159) == ()
    assert len(rig.after(1)) == 1, "it may stall again"
    assert rig.counted == {"stalled/larm-test": 2}


def test_a_process_hangs_where_a_thread_does_or_nobody_looks(rig: Rig) -> None:
    rig.pulse.beat()
    rig.dog.look()
    rig.after(170)
    assert rig.dog.hang(171) == ""
    assert rig.dog.hang(170) == "larm-test makes no progress for 2:50: commits"
    rig.pulse.beat()
    rig.pulse.rest()
    rig.after(1)
    assert rig.dog.hang(10) == ""
    rig.clock.advance(10)
    assert rig.dog.hang(10) == "the main thread makes no progress for 0:10"


def test_a_thread_that_has_ended_has_no_stack() -> None:
    assert stack_of("larm-nobody") == []
