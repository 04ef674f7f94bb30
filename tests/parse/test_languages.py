"""Languages where cld2 can't be installed."""

from __future__ import annotations

import pytest

from larm.parse import language
from larm.parse.language import detect, language_of


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "cld2", None)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ja", "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059"),
        ("zh", "\u5317\u4eac\u662f\u4e2d\u56fd\u7684\u9996\u90fd"),
        ("ko", "\uc11c\uc6b8\uc740 \uc218\ub3c4\uc774\ub2e4"),
        ("el", "\u0397 \u0391\u03b8\u03ae\u03bd\u03b1 \u03b5\u03af\u03bd\u03b1\u03b9"),
        ("th", "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e\u0e2f"),
        ("de", "Das ist nicht die Stadt, von der der Mann mit dem Hut sprach"),
        (
            "ru",
            "\u042d\u0442\u043e \u043d\u0435 \u043e\u043d \u0438 \u043d\u0435 \u043e\u043d\u0430",
        ),
        ("", "Vilniaus miestas"),
        ("", ""),
        ("", "\x00\x01 1234"),
    ],
)
def test_letters_and_frequent_words_tell(code: str, text: str) -> None:
    assert detect(text)[0] == code


def test_what_a_page_declares_is_believed() -> None:
    assert language_of("lt", "Vilniaus miestas yra labai gra\u017eus ir \u017ealias") == "lt"


def test_but_not_in_letters_that_it_does_not_have() -> None:
    assert language_of("en", "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002" * 30) == "ja"
