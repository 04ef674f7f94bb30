from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.index.search.spelling import did_you_mean, distance, neighbours, suggestions

ANALYZER = Analyzer()


class FakeVocabulary(dict[str, int]):
    """Words and their pages."""

    def pages(self, words: Iterable[str]) -> list[int]:
        return [self.get(word, 0) for word in words]

    def beginning(self, prefixes: Iterable[str]) -> list[list[tuple[str, int]]]:
        return [
            sorted([(word, pages) for word, pages in self.items() if word.startswith(prefix)], key=lambda row: -row[1])
            for prefix in prefixes
        ]


LATIN = (
    "vacuum 76 freeze 30 free 200 table 900 full 400 text 500 search 300 database 350 data 1000 base 300 tabel 1 receive 80 "
)
LATIN += "postgresql 1100 the 1600 dictionary 100 datenbank 70 grosse 40"
OTHERS = "база 90 данных 120 βιβλιο 30 2023 50"
BOOK = FakeVocabulary(
    (word, int(pages)) for text in (LATIN, OTHERS) for word, pages in zip(text.split()[::2], text.split()[1::2], strict=True)
)
TOGETHER = {frozenset({"vacuum", "freeze"}): 25, frozenset({"vacuum", "free"}): 40}


def alone(word: str) -> list[str]:
    return [word]


def total_of(text: str) -> int:
    words = set(ANALYZER.words(text))
    return TOGETHER.get(frozenset(words), min(BOOK.pages(words), default=0))


def meant(text: str) -> str:
    return did_you_mean(text, ANALYZER.words(text), ANALYZER.spans(text), BOOK, alone, total_of=total_of)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("postgrsql", "postgresql"),
        ("recieve", "receive"),
        ("Dictionery", "Dictionary"),
        ("VACUM", "VACUUM"),
        ("vacum freze", "vacuum freeze"),
        ("fulltext search", "full text search"),
        ("data base", "database"),
        ("tabel", "table"),
        ("ostgresql", "postgresql"),
        ("pstogresql", "postgresql"),
        ("база даных", "база данных"),
        ("datenbnak", "datenbank"),
        ("grose", "grosse"),
        ("βιβλο", "βιβλιο"),
    ],
)
def test_what_was_meant(typed: str, expected: str) -> None:
    assert meant(typed) == expected


@pytest.mark.parametrize("typed", ["", "vacuum freeze", "the", "teh", "2032", "xyzzyx", "+++", "数据库"])
def test_nothing_to_suggest(typed: str) -> None:
    """Right words, words too short or with figures in them, and words without a neighbour."""
    assert meant(typed) == ""


def test_a_word_that_is_there_is_only_doubted_for_a_much_commoner_one() -> None:
    assert [found.text for found in neighbours("tabel", 1, BOOK)] == ["table"]
    assert neighbours("tabel", 19, FakeVocabulary({"table": 19 * 20 - 1})) == []
    assert neighbours("receive", 80, BOOK) == []


def test_operators_stay_as_they_are() -> None:
    """Only words that count may be changed."""
    text = "vacum inurl:vacum site:vacum.org"
    spans = ANALYZER.spans(text)
    assert suggestions(text, [], spans, BOOK, alone) == []
    assert suggestions('site:a.org "vacum" -x', ["vacum"], ANALYZER.spans('site:a.org "vacum" -x'), BOOK, alone)[0].text == (
        'site:a.org "vacuum" -x'
    )


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [
        *(
            ("", "", 0),
            ("a", "a", 0),
            ("a", "", 1),
            ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("abc", "abcd", 1),
            ("abcd", "acbd", 1),
        ),
        *(("kitten", "sitten", 1), ("kitten", "sittin", 2), ("kitten", "sitting", 3), ("abcdef", "badcfe", 3), ("ab", "xy", 2)),
    ],
)
def test_distance(one: str, other: str, slips: int) -> None:
    assert distance(one, other, 3) == distance(other, one, 3) == slips
    assert distance(one, other, 2) == min(slips, 3)


def plain_distance(one: str, other: str) -> int:
    """The usual table, as a check."""
    rows = [[max(i, j) if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_distance_is_that_of_damerau(one: str, other: str) -> None:
    assert distance(one, other, 3) == min(plain_distance(one, other), 4)


@given(
    st.sampled_from(sorted(word for word in BOOK if len(word) > 6)),
    st.integers(0, 30),
    st.sampled_from("aeinst"),
    st.integers(0, 3),
)
def test_a_slip_in_a_longer_word_is_mended(word: str, place: int, letter: str, kind: int) -> None:
    """One letter too many, too few, wrong, or two swapped; not the first one, where fewer slips are made."""
    at = 1 + place % (len(word) - 2)
    wrong = (
        word[:at] + letter + word[at:],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[kind]
    if wrong not in BOOK:
        assert meant(wrong) == word


@pytest.mark.parametrize("found", [0, 4, 5])
def test_a_spelling_that_finds_no_more_is_not_suggested(found: int) -> None:
    def counted(text: str) -> int:
        return 5 if text == "recieve" else found

    assert did_you_mean("recieve", ["recieve"], ANALYZER.spans("recieve"), BOOK, alone, total_of=counted) == ""


@given(st.text())
def test_what_is_suggested_always_finds_more(text: str) -> None:
    better = meant(text)
    assert better == "" or total_of(better) > total_of(text)


@pytest.mark.parametrize("text", [".fulltext", "FullText", "full_fulltext"])
def test_a_name_is_not_broken(text: str) -> None:
    """Its words are found anyway, and nobody means them apart."""
    assert meant(text) == ""


def test_a_word_whose_forms_are_known_is_no_slip() -> None:
    """``losing`` on one page, where many have ``lose``, was not meant as ``long``."""
    book = FakeVocabulary({"losing": 1, "lose": 40, "long": 200})
    spans = ANALYZER.spans("losing")
    assert [each.text for each in suggestions("losing", ["losing"], spans, book, alone)] == ["long"]
    assert suggestions("losing", ["losing"], spans, book, lambda word: [word, "lose"]) == []


@pytest.mark.parametrize("typed", ["postgersql", "pstgresql", "poostgresql", "pastgresql", "ostgresql", "xpostgresql"])
def test_not_all_words_with_a_letter_are_looked_at(typed: str) -> None:
    """In a large index these are a hundred thousand."""
    asked: list[str] = []

    class Noted(FakeVocabulary):
        def beginning(self, prefixes: Iterable[str]) -> list[list[tuple[str, int]]]:
            asked.extend(prefixes)
            return super().beginning(prefixes)

    assert [each.text for each in neighbours(typed, 0, Noted(BOOK))] == ["postgresql"]
    assert min(map(len, asked)) == 2
    found = [prefix for prefix in asked if "postgresql".startswith(prefix)]
    assert len(found) <= 1, "no word twice"


def test_a_word_is_one_neighbour_however_it_was_found() -> None:
    book = FakeVocabulary({"aabcd": 60, "abcde": 20, "acbd": 30})
    assert [each.text for each in neighbours("abcd", 0, book)] == ["aabcd", "acbd", "abcde"]
