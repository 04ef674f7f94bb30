import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from larm.index import text_scan
from larm.index.accents import accented
from larm.index.defined import defined
from larm.index.symbols import symbols
from larm.index.terms import composed

_SIGNS = "-+*=<>!&|^~:@#$%_?"
_CHARACTERS = (
    3 * _SIGNS + "  \n\t(((),,;/.\"'`[]aAzZ09cC bB\u00e9\u0130\u00b6\u00b6\u2019\u00a0\u4e2d\u212a\u1e9e\u03a3\u0660.._::--()"
)
_RULES: tuple[Callable[[str], Any], ...] = (
    text_scan.sign_places,
    text_scan.name_spans,
    text_scan.accented_words,
    symbols,
    accented,
    defined,
)


def _results(texts: list[str]) -> list[list[Any]]:
    return [[rule(text) for rule in _RULES] for text in texts]


@pytest.mark.parametrize("characters", [_CHARACTERS, "ab.:_-1 \t(\u00b6)\n", "-+ \na"])
def test_compiled_scan_finds_what_the_expressions_find(characters: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("larm.index.compiled")
    chance = random.Random(7)
    texts = [composed("".join(chance.choices(characters, k=chance.randrange(24)))) for _ in range(4_000)]
    compiled = _results(texts)
    monkeypatch.setattr(text_scan, "_compiled", None)
    assert _results(texts) == compiled


def test_accented_words_has_each_letter_that_is_accented_in_lower_case() -> None:
    accents = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
    found = re.compile(f"[{accents}]")
    letters = [each for each in map(chr, range(0x110000)) if found.search(each.lower())]
    assert text_scan.accented_words(" ".join(letters)) == letters


@pytest.mark.parametrize("sign", _SIGNS)
def test_sign_within_a_word_a_sentence_or_a_ruler_is_no_place(sign: str) -> None:
    assert text_scan.sign_places(f"a{sign}b 1{sign} 2") == []
    assert text_scan.sign_places(f"({sign})") == []
    if sign not in "#$_":
        assert text_scan.sign_places(f"({5 * sign})") == [1]


def test_sign_that_may_begin_a_symbol_is_a_place() -> None:
    assert text_scan.sign_places("c# c++ -i @x a->b x := 1 = 2") == [1, 4, 7, 10, 14, 20, 25]
