"""Passwords in URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.model.credentials import without_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:secret@a.org/x", "http://***@a.org/x"),
        ("https://secret@a.org", "https://***@a.org"),
        ("http://user:secret@@a.org/", "http://***@a.org/"),
        ("http://u:secret@a.org:99999/", "http://***@a.org:99999/"),
        ("http://u:se cret@bad host/", "http://***@bad host/"),
        ("http:u:secret@a.org/", "http:***@a.org/"),
        ("http:\\\\u:secret@a.org\\", "http:\\\\***@a.org\\"),
        ("//u:secret@a.org/x", "//***@a.org/x"),
        ("  ht\ntp://u:sec\tret@a.org/", "  http://***@a.org/"),
        ("user:secret@a.org", "user:***@a.org"),
        ("http://u:sec/ret@a.org/", "http://***@a.org/"),
        ("http://u:sec?ret@a.org/", "http://***@a.org/"),
        ("http://a.org/@user", "http://a.org/@user"),
        ("http://a.org:80/@user", "http://a.org:80/@user"),
        ("http://a.org/?mail=x@y", "http://a.org/?mail=x@y"),
        ("/x@y", "/x@y"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_without_credentials(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@given(st.text(st.sampled_from("ab:. \t"), max_size=6), st.text(st.sampled_from("ab./?#@:\\ "), max_size=12))
def test_a_password_is_not_shown(user: str, rest: str) -> None:
    """Whatever stands before it and behind."""
    assert "SECRET" not in without_credentials(f"http://{user}:SECRET@{rest}")
    assert "SECRET" not in without_credentials(f"http://SECRET@{rest}")
