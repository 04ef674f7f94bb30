from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.index.symbols import symbols
from larm.index.units import Unit, units_of, with_names

analyzer = Analyzer()


def units(text: str) -> list[Unit]:
    return units_of(text, analyzer.spans(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("full-text search", [("full",), ("text",), ("search",)]),
        ("pg_dump os.path.join std::vector", [("pg", "dump"), ("os", "path", "join"), ("std", "vector")]),
        ("a2b_base64() (in module binascii)", [("a2b", "base64"), ("in",), ("module",), ("binascii",)]),
        ("网页 蜘蛛侠", [("网", "页"), ("蜘", "蛛"), ("蛛", "侠")]),
        ("使用Python编程 书", [("使", "用"), ("python",), ("编", "程"), ("书",)]),
        ("mail@a.org, x", [("mail", "a", "org"), ("x",)]),
        ("हिन्दी लड़की की", [("हिन", "दी"), ("लड", "की"), ("की",)]),  # signs within a word part it, for the analyzer
        ("Donau\u00addampfer", [("donau", "dampfer")]),
        ("... --", []),
    ],
)
def test_what_is_looked_for_as_one_thing(text: str, expected: list[tuple[str, ...]]) -> None:
    assert [unit.words for unit in units(text)] == expected


def test_names_that_are_written_as_one_word() -> None:
    """Both ways: typed as one, its words are known; typed as words, so is the whole."""
    (unit,) = units("NullPointerException")
    assert (unit.words, unit.parts) == (("nullpointerexception",), ("null", "pointer", "exception"))
    assert [unit.parts for unit in units("Hash HASH hash")] == [()]
    null, pointer, exception = with_names(units("null pointer exception"))
    assert null.names == ("nullpointer", "nullpointerexception")
    assert pointer.names == ("nullpointer", "nullpointerexception", "pointerexception")
    assert exception.names == ("nullpointerexception", "pointerexception")
    assert [unit.names for unit in with_names(units("a.b to do"))] == [(), (), ()]


@pytest.mark.parametrize(("text", "patterns"), [("vac* x", ["vac*"]), ("gath?r", ["gath?r"]), ("what? *args a* b", [])])
def test_patterns(text: str, patterns: list[str]) -> None:
    assert [unit.pattern for unit in units(text) if unit.pattern] == patterns


def test_symbols_take_the_place_of_their_letters() -> None:
    text = "C++ vs __init__ ->"
    found = units_of(text, analyzer.spans(text), symbols(text))
    assert [(unit.words, unit.symbol) for unit in found] == [
        ((), "c++"),  # a page called C is not about it
        (("vs",), ""),
        (("init",), "__init__"),
        ((), "->"),
    ]


def test_repeated_words_are_counted() -> None:
    assert units("Für alle, für ALLE für") == [Unit(("fur",), "für", 3), Unit(("alle",), "alle", 2)]


@settings(max_examples=200)
@given(st.text())
def test_each_word_is_in_a_unit(text: str) -> None:
    """But for those of patterns, which stand for other words."""
    found, words = units(text), set(analyzer.words(text))
    in_units = {word for unit in found for word in unit.words}
    assert in_units <= words if any(unit.pattern for unit in found) else in_units == words
