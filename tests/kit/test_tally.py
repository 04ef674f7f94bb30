"""The end of the crawl is counted."""

from __future__ import annotations

import pytest

from larm.kit.threads.tally import Tally
from larm.kit.threads.workers import Workers


def test_zero_is_told_once_when_it_is_reached_by_a_fall() -> None:
    zeros: list[int] = []
    tally = Tally(lambda: zeros.append(1))
    tally.rise(0)
    tally.fall(0)
    tally.rise(3)
    tally.fall(2)
    assert zeros == []
    assert tally.value == 1
    tally.fall()
    assert zeros == [1]
    tally.rise()
    tally.fall()
    assert zeros == [1, 1]
    assert repr(tally) == "<Tally 0>"


def test_on_zero_may_use_the_tally() -> None:
    values: list[int] = []
    tally = Tally(lambda: (tally.rise(), values.append(tally.value))[1])
    tally.rise()
    tally.fall()
    assert values == [1]


def test_more_ends_than_beginnings_are_our_bug() -> None:
    tally = Tally(lambda: None)
    tally.rise()
    with pytest.raises(ValueError, match="ended twice"):
        tally.fall(2)
    assert tally.value == 1
    with pytest.raises(ValueError, match="rise by -1"):
        tally.rise(-1)
    with pytest.raises(ValueError, match="fall by -1"):
        tally.fall(-1)


def test_many_threads() -> None:
    zeros: list[int] = []
    tally = Tally(lambda: zeros.append(1))
    tally.rise(1)
    workers = Workers(lambda name, error: zeros.append(-1))

    def work() -> None:
        for _ in range(1000):
            tally.rise(2)
            tally.fall(2)

    for number in range(4):
        workers.start(f"larm-{number}", work)
    assert workers.join(30) == []
    assert zeros == []
    tally.fall()
    assert zeros == [1]
