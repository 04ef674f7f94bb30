from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.cli.wrap import Piece, columns, wrapped


def shown(pieces: list[Piece], width: int) -> list[str]:
    return ["".join(f"[{text}]" if marked else text for text, marked in line) for line in wrapped(pieces, width)]


def test_columns() -> None:
    assert [columns(text) for text in ("abc", "é", "e\u0301", "漢字", "ｱ", "한", "😀", "ไทย", "")] == [
        3,
        1,
        1,
        4,
        1,
        2,
        2,
        3,
        0,
    ]


def test_words_are_parted_at_spaces() -> None:
    assert shown([("one two three", False)], 7) == ["one two", "three"]
    assert shown([("one  ", False), ("two", True), (" three", False)], 8) == ["one  [two]", "three"]


def test_a_word_with_a_mark_within_stays_whole() -> None:
    assert shown([("a re", False), ("cognis", True), ("able word", False)], 12) == ["a", "re[cognis]able", "word"]


def test_a_long_word_stands_alone() -> None:
    assert shown([("a " + "x" * 20 + " b", False)], 10) == ["a", "x" * 20, "b"]


def test_wide_characters_are_parted_anywhere() -> None:
    assert shown([("漢字", True), ("漢字漢字 a", False)], 6) == ["[漢字]漢", "字漢字", "a"]
    assert shown([("漢字漢", False)], 1) == ["漢", "字", "漢"]


texts = st.text(st.sampled_from("ab  漢é\u0301😀") | st.characters())


@given(st.lists(st.tuples(texts, st.booleans())), st.integers(1, 30))
def test_any_text(pieces: list[Piece], width: int) -> None:
    """Nothing is lost but spaces; a line is too long only for one long word."""
    lines = list(wrapped(pieces, width))
    joined = ["".join(text for text, _ in line) for line in lines]
    assert "".join("".join(joined).split()) == "".join("".join(text for text, _ in pieces).split())
    for line in joined:
        assert line
        assert columns(line) <= width or not any(map(str.isspace, line.strip()))
