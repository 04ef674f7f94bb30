"""Frequent words are counted the same, compiled or not."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from larm.processing import frequent_words
from larm.processing.frequent_words import FREQUENT, count, share, share_of

needs_it = pytest.mark.skipif(find_spec("larm.processing.quick_words") is None, reason="there was no C compiler")

_WORDS = sorted(frozenset().union(*FREQUENT.values()))
_texts = st.lists(
    st.one_of(
        st.sampled_from(_WORDS),
        st.sampled_from(_WORDS).map(str.upper),
        st.sampled_from(
            [" ", "\n\t", "\x1c", "\xa0", "\u2003", ".", "İle", "\u212a", "Σ", "ΤΟΥΣ", "東京都", "\U0001f600", "\0"]
        ),
        st.text(max_size=8),
    ),
    max_size=40,
).flatmap(lambda found: st.sampled_from(["", " "]).map(lambda space: space.join(found)))


@needs_it
@given(_texts, st.sampled_from(["", *FREQUENT]))
@example("\0the the \0\0of a", "en")
@example("theofx the", "en")
@example("İ i", "ca")
def test_both_say_the_same(text: str, code: str) -> None:
    words = FREQUENT.get(code, frozenset())
    assert import_module("larm.processing.quick_words").Words(words).count(text) == count(words, text)


@needs_it
def test_every_character() -> None:
    """As one between words, and in lower case."""
    Words = import_module("larm.processing.quick_words").Words
    ours = Words(["x"])
    characters = [chr(number) for number in range(sys.maxunicode + 1)]
    assert [each for each in characters if ours.count(f"x{each}x") != count({"x"}, f"x{each}x")] == []
    for each in characters:
        low = each.lower()
        if low != each and len(low) == 1 and ord(low) < 1_500:
            assert Words([low]).count(each) == (1, 1), each


@needs_it
@pytest.mark.parametrize("words", [["seventh"], ["\u65e5"], [str(number) for number in range(33)]])
def test_words_that_are_no_numbers(words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"too many words|seventh|\u65e5"):
        import_module("larm.processing.quick_words").Words(words)


@needs_it
def test_it_is_used_and_is_what_its_source_says() -> None:
    quick = import_module("larm.processing.quick_words")
    assert frequent_words._quick is quick
    source = Path(__file__).parents[2] / "larm" / "processing" / "quick_words.pyx"
    if Path(frequent_words.__file__).parent == source.parent:  # built in place, so that has to be done again after a change
        assert Path(quick.__file__ or "").stat().st_mtime >= source.stat().st_mtime, "pip install -e ."


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequent_words, "_quick", None)
    assert frequent_words._counter(FREQUENT["en"])("The end of it") == (2, 4)


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [("", "en", 0.0), ("The end\nOF it", "en", 0.5), ("the", "ja", 0.0), ("И В x x", "ru", 0.5), ("dans", "fr", 1.0)],
)
def test_share(text: str, code: str, expected: float) -> None:
    words = text.lower().split()
    assert share(text, code) == (expected, len(words))
    assert share_of(words, code) == expected
