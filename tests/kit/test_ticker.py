"""When the tick thread wakes."""

from __future__ import annotations

from larm.kit.threads.ticker import Ticker


def test_a_tick_at_its_time() -> None:
    assert Ticker(0.001).wait()


def test_many_who_hurry_it_make_one_tick() -> None:
    ticker = Ticker(0.001)
    ticker.hurry()
    ticker.hurry()
    assert ticker.wait()
    ticker.stop()
    assert not ticker.wait()


def test_who_hurries_does_not_wait_for_the_time() -> None:
    ticker = Ticker(10_000)
    ticker.hurry()
    assert ticker.wait()
    ticker.stop()
    ticker.hurry()
    assert not ticker.wait()
