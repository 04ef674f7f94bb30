from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.index.analysis import MIXED, WORDS, encodable, new_analyzer
from larm.index.scripts import composed_and_parted, is_plain, is_unspaced, parted
from larm.index.terms import composed

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


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("ｶﾀｶﾅとｶﾞﾗｽ", "カタカナとガラス"),
        ("カﾞラスとハﾟン", "ガラスとパン"),
        ("בְּרֵאשִׁית בָּרָא", "בראשית ברא"),
        ("cafe\u0301", "café"),
        ("ＡＢＣ", "ＡＢＣ"),
    ],
)
def test_what_nobody_types_is_not_asked_for(written: str, typed: str) -> None:
    """Katakana of half the width, as on old Japanese pages, and the points of Hebrew."""
    assert composed(written) == composed(typed) == typed
    assert composed_and_parted(written) == parted(typed)


_ODD = (
    "aéｶﾞﾟ\u05c4\u05b0א\u0301\u0387\u0653\u2000"
    "\u2018\u20d0\u20e5\u2126\u212a\u2329\u2adc\u2cf0\u2d7f\u2de0я\u0306東가\u1161\ud800"
)


@given(st.text() | st.text(st.sampled_from(_ODD)))
def test_texts_are_composed_and_parted(text: str) -> None:
    assert composed_and_parted(text) == parted(composed(text))
    assert composed(composed(text)) == composed(text)


def test_plain_characters_stay_as_they_are_and_are_words_or_none_for_both_analyzers() -> None:
    pairs = (unicodedata.decomposition(chr(code)).split() for code in range(sys.maxunicode + 1))
    seconds = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"}
    plain = [character for character in map(chr, range(sys.maxunicode + 1)) if is_plain(character)]
    assert len(plain) > 3000
    words, mixed = new_analyzer(WORDS), new_analyzer(MIXED)
    for character in plain:
        assert unicodedata.is_normalized("NFC", character)
        assert unicodedata.combining(character) == 0
        assert character not in seconds
        assert not is_unspaced(character)
        assert words.analyze(f"a{character}b") == mixed.analyze(f"a{character}b")
