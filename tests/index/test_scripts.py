from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.index.analysis import MIXED, WORDS, encodable, new_analyzer
from larm.index.scripts import is_unspaced, parted

SPACED = ["plain English", "Größe, naïve café — “quoted” …", "Привет, мир", "हिन्दी भाषा", "Ελλάδα", "مرحبا", "", "😀"]
UNSPACED = ["中文网页", "こんにちは", "カタカナ", "ภาษาไทย", "한국어", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ", "𠀀𠀁"]


@pytest.mark.parametrize("text", SPACED)
def test_scripts_with_spaces(text: str) -> None:
    """Their words are the same for both analyzers, so that a query needs only one of them."""
    assert parted(text) == (text, "")
    assert new_analyzer(MIXED).analyze(text) == new_analyzer(WORDS).analyze(text)


@pytest.mark.parametrize("text", UNSPACED)
def test_scripts_without_spaces(text: str) -> None:
    """A word for each character (with its marks)."""
    assert parted(text) == ("", text)
    words = new_analyzer(MIXED).analyze(text)
    assert all(map(is_unspaced, words))
    assert len(words) > 1


def test_a_few_characters_go_to_both_sides() -> None:
    text = "This English page shows how to write 東京 and กรุงเทพ to its readers; most of it is in plain English, as this is."
    assert parted(text) == (text, "東京 กรุงเทพ")
    assert parted("使用 Python 编程") == ("", "使用 Python 编程")


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_parted_and_analysed(text: str) -> None:
    spaced, unspaced = parted(text)
    assert text in (spaced, unspaced)
    if not unspaced:
        assert not any(map(is_unspaced, new_analyzer(MIXED).analyze(encodable(text))))
