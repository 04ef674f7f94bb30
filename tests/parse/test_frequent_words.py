"""How many words of a text are the most frequent ones of a language."""

from __future__ import annotations

import pytest

from larm.parse.language import share, share_of


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [("", "en", 0.0), ("The end\nOF it", "en", 0.5), ("the", "ja", 0.0), ("И В x x", "ru", 0.5), ("dans", "fr", 1.0)],
)
def test_share(text: str, code: str, expected: float) -> None:
    words = text.lower().split()
    assert share(text, code) == (expected, len(words))
    assert share_of(words, code) == expected
