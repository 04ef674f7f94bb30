"""FakeClock stands still until it is told."""

from __future__ import annotations

import pytest

from larm.seams import Clock
from larm.testing.clock import FakeClock


def test_moves_only_by_advance() -> None:
    clock: Clock = (fake := FakeClock(100.0))
    assert (clock.monotonic(), clock.wall()) == (100.0, 100.0)
    fake.advance(2.5)
    assert (clock.monotonic(), clock.wall()) == (102.5, 102.5)


def test_wall_can_be_set_back_without_the_monotonic_clock() -> None:
    clock = FakeClock(50.0)
    clock.set_wall(10.0)
    clock.advance(1.0)
    assert (clock.monotonic(), clock.wall()) == (51.0, 11.0)


def test_refuses_to_run_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        FakeClock().advance(-1)
