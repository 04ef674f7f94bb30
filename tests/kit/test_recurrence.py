from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.kit.recurrence import Every


@pytest.mark.parametrize(("text", "seconds"), [("1d", 86_400), ("90min", 5_400), (60, 60), ("60", 60)])
def test_so_long_after_the_last_time(text: object, seconds: int) -> None:
    assert Every.parse(text).after(1_000.0) == 1_000.0 + seconds


def test_the_next_time_of_a_cron_expression() -> None:
    every = Every.parse(" */5 * * * * ")
    assert every.after(0.0) == 300.0
    assert every.after(299.0) == 300.0
    assert every.after(300.0) == 600.0


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """By a rule of POSIX, which needs no database of time zones."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_the_hour_that_comes_twice_is_not_due_all_the_time() -> None:
    """On 25 October 2026 what follows 02:59 is 02:00; a time in the first hour is over when a run ends in the second."""
    second_time = 1_792_890_360.0  # 02:06, at 01:06 UTC
    assert time.localtime(second_time)[:6] == (2026, 10, 25, 2, 6, 0)
    assert Every.parse("*/10 * * * *").after(second_time) == second_time + 240.0


@pytest.mark.usefixtures("berlin")
def test_a_time_that_a_day_does_not_have_comes_all_the_same() -> None:
    """On 29 March 2026 what follows 01:59 is 03:00."""
    before = 1_774_659_600.0  # 02:00, a day before
    assert time.localtime(before)[:6] == (2026, 3, 28, 2, 0, 0)
    due = Every.parse("30 2 * * *").after(before + 3_600.0)
    assert time.localtime(due)[:6] == (2026, 3, 29, 3, 30, 0)
    assert time.localtime(Every.parse("30 2 * * *").after(due))[:6] == (2026, 3, 30, 2, 30, 0)


@pytest.mark.parametrize(
    "wrong", ["", "soon", "5s", "100y", True, None, [], "0 3 * *", "* * * * * *", "61 * * * *", "0 0 31 2 *", "9" * 400 + "d"]
)
def test_what_is_neither(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"expected|does not come"):
        Every.parse(wrong)


@given(st.text(alphabet="0123456789*/,-L#W @", max_size=20) | st.text(max_size=20))
def test_anything_may_be_written(text: str) -> None:
    try:
        every = Every.parse(text)
    except ValueError:
        return
    assert every.after(1_700_000_000.0) > 1_700_000_000.0
