from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.parse.dates import seconds_of, seconds_of_pdf


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01", 0),
        ("1971", 31_536_000),
        ("1970-01-02T00:00:00Z", 86_400),
        ("1970-01-02T01:00:00+01:00", 86_400),
        ("1970-01-02T01:00+0100", 86_400),
        ("1970-01-02 00:00:01.5", 86_401),
        ("Fri, 02 Jan 1970 00:00:00 GMT", 86_400),
        (" Fri, 02 Jan 1970 01:00:00 +0100 ", 86_400),
        ("1960-01-01", 0),
        ("1970-13-01", 0),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_dates(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("D:19700102000000Z", 86_400),
        ("D:19700102010000+01'00'", 86_400),
        ("19700102010000+01'00", 86_400),
        ("D:19700102", 86_400),
        ("D:1971", 31_536_000),
        ("D:20001301", 0),
        ("x", 0),
    ],
)
def test_dates_of_pdf(text: str, seconds: int) -> None:
    assert seconds_of_pdf(text) == seconds


@given(st.text(alphabet="0123456789-:TZ+ .'D,Jan", max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert seconds_of(text) >= 0
    assert seconds_of_pdf(text) >= 0
