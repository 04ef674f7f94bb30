from __future__ import annotations

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
