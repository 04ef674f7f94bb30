"""The real clock."""

from __future__ import annotations

from datetime import UTC, datetime

from larm.kit.clock import SystemClock


def test_monotonic_never_goes_back() -> None:
    clock = SystemClock()
    times = [clock.monotonic() for _ in range(100)]
    assert times == sorted(times)


def test_wall_is_seconds_since_1970() -> None:
    assert abs(SystemClock().wall() - datetime.now(UTC).timestamp()) < 60
