"""Quantities with a unit, as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.kit.units import ByteSize, Seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (2, 2.0),
        (0.5, 0.5),
        (0, 0.0),
        ("2", 2.0),
        ("2s", 2.0),
        ("500ms", 0.5),
        ("5min", 300.0),
        ("5m", 300.0),
        ("1h", 3600.0),
        (" 1.5 D ", 129600.0),
        (".02", 0.02),
        ("1.s", 1.0),
    ],
)
def test_seconds(text: object, seconds: float) -> None:
    assert Seconds.parse(text) == seconds
    assert isinstance(Seconds.parse(text), Seconds)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (500, 500),
        ("500", 500),
        ("10b", 10),
        ("40KB", 40_000),
        ("512KiB", 524_288),
        ("10MB", 10_000_000),
        ("1.5 gb", 1_500_000_000),
        ("1GiB", 2**30),
    ],
)
def test_sizes_are_decimal_unless_they_say_ki(text: object, size: int) -> None:
    assert ByteSize.parse(text) == size
    assert isinstance(ByteSize.parse(text), ByteSize)


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", -1, "1 week", "1s 2s", "1e3", None, True, [1], float("inf"), float("nan"), "١s5x"]
)
def test_what_is_no_quantity_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match="2s"):
        Seconds.parse(text)
    with pytest.raises(ValueError, match="500KB"):
        ByteSize.parse(text)


def test_a_size_is_no_duration() -> None:
    with pytest.raises(ValueError, match="duration"):
        Seconds.parse("10MB")


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_value_error(text: str) -> None:
    for kind in (Seconds, ByteSize):
        with suppress(ValueError):
            assert kind.parse(text) >= 0
