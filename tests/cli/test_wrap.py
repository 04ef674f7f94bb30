from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.cli.terminal import Piece, columns, wrapped


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


@pytest.mark.parametrize("width", [30, 60, 200])
def test_a_message_is_wrapped_at_words_on_a_terminal_and_nowhere_else(width: int) -> None:
    text = "http://www.example.org/a/long/address/that/stays/whole: no such page, and more words than fit into sixty columns"
    code = f"from larm.cli.terminal import say; say({text!r})"
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    subprocess.run([sys.executable, "-P", "-c", code], stderr=slave, check=True)
    os.close(slave)
    lines = os.read(master, 4096).decode().splitlines()
    os.close(master)
    assert " ".join(line.strip() for line in lines) == f"larm: {text}"
    assert all(len(line) <= width or len(line.split()[-1]) > width - 6 for line in lines)
    assert all(line.startswith("larm: " if place == 0 else "      ") for place, line in enumerate(lines))
    piped = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True, text=True)
    assert piped.stderr == f"larm: {text}\n"
