from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.symbols import symbols


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a -> b, f(x)->y", "-> ->"),
        ("x := 5, C++ and C#; Notepad++", ":= c++ c# notepad++"),
        ("git rebase -i [--no-index] %s", "-i --no-index %s"),
        ("__init__ _private snake_case", "__init__ _private"),
        ("$libdir @property", "$libdir @property"),
        ("1 = 2; std::vector a||b a <=> b", "= :: || <=>"),
        ("---- ==== 5 - 6 -- full-text so: what? 100% of", ""),
        ("mail@a.org http://a.org/#id", ""),
        ("", ""),
    ],
)
def test_what_is_a_symbol(text: str, expected: str) -> None:
    assert [span.word for span in symbols(text)] == expected.split()


@given(st.text(alphabet="ab c+-#=%_$@:>", max_size=30))
def test_each_is_where_it_is_said_to_be(text: str) -> None:
    for span in symbols(text):
        assert text[span.start : span.end].lower() == span.word
        assert not any(letter.isspace() for letter in span.word)
