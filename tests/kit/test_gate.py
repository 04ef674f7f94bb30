"""A cut sees no step half done."""

from __future__ import annotations

import threading

import pytest

from larm.kit.threads.gate import Gate
from larm.kit.threads.workers import Workers


def fail(name: str, error: BaseException) -> None:
    raise error


def test_steps_run_beside_each_other() -> None:
    gate = Gate()
    with gate.step(), gate.step():
        assert repr(gate) == "<Gate open, 2 steps>"
    with gate.cut():
        assert repr(gate) == "<Gate cut, 0 steps>"
    assert repr(gate) == "<Gate open, 0 steps>"


def test_a_cut_waits_for_running_steps_and_goes_before_new_ones() -> None:
    gate = Gate()
    order: list[str] = []
    cut_waits = threading.Event()
    workers = Workers(fail)

    def cut() -> None:
        with gate.cut():
            order.append("cut")

    def late_step() -> None:
        with gate.step():
            order.append("late step")

    with gate.step():
        workers.start("larm-cut", cut)
        while not gate._cutting:
            cut_waits.wait(0.001)
        workers.start("larm-late", late_step)
        cut_waits.wait(0.01)  # gives a broken gate the chance to let them pass
        assert order == []
        order.append("first step")
    assert workers.join(10) == []
    assert order == ["first step", "cut", "late step"]


def test_what_raises_inside_still_leaves() -> None:
    gate = Gate()
    with pytest.raises(KeyError), gate.step():
        raise KeyError
    with pytest.raises(KeyError), gate.cut():
        raise KeyError
    with gate.cut():
        pass


def test_cuts_exclude_steps_and_each_other() -> None:
    gate = Gate()
    balance = [0, 0]  # a step moves one from the left to the right
    cuts: list[int] = []
    workers = Workers(fail)

    def step() -> None:
        for _ in range(300):
            with gate.step():
                with lock:
                    balance[0] -= 1
                with lock:
                    balance[1] += 1

    def cut() -> None:
        for _ in range(100):
            with gate.cut():
                cuts.append(sum(balance))

    lock = threading.Lock()
    for number in range(3):
        workers.start(f"larm-step-{number}", step)
    for number in range(2):
        workers.start(f"larm-cut-{number}", cut)
    assert workers.join(30) == []
    assert cuts == [0] * 200
    assert balance == [-900, 900]


def test_step_that_raises_breaks_the_gate() -> None:
    """What it did may be half done: no checkpoint may be taken any more."""
    gate = Gate()
    with gate.step():
        pass
    assert not gate.broken
    with pytest.raises(ZeroDivisionError), gate.step():
        raise ZeroDivisionError
    assert gate.broken
