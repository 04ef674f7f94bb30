from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.search.query import parse_query

words_of = Analyzer().words


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("", ()),
        ("   ", ()),
        ("Red Café", (("red",), ("cafe",))),
        ("red red RED", (("red",),)),
        ('"red house" tree', (("red", "house"), ("tree",))),
        ("“red house”", (("red", "house"),)),
        ('"red"', (("red",),)),
        ('""', ()),
        ('"', ()),
        ('red "house tree', (("red",), ("house",), ("tree",))),
        ("node.js C++ e-mail", (("node",), ("js",), ("c",), ("e",), ("mail",))),
        ("title:x AND -y (a OR b)* ~2 ^3 [a TO b]", None),
        ("😀 !!! \x00 \ud800", ()),
        ("x" * 3000, ()),
    ],
)
def test_queries(text: str, clauses: tuple[tuple[str, ...], ...] | None) -> None:
    parsed = parse_query(text, words_of)
    assert clauses is None or parsed == clauses


@given(st.text())
def test_nothing_that_is_typed_raises(text: str) -> None:
    """And no clause is empty or there twice."""
    clauses = parse_query(text, words_of)
    assert all(clauses)
    assert len(set(clauses)) == len(clauses)
