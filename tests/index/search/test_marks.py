from __future__ import annotations

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.index.search.marks import Marks, Words
from larm.index.tree import Phrase, Word

plain = Analyzer().words


def stemmer(language: str) -> Words:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold(), tantivy.Filter.stemmer(language)):
        builder = builder.filter(step)
    analyzer = builder.build()
    return lambda text: list(analyzer.analyze(text.encode("utf-8", "replace").decode()))


def marked(text: str, *items: Word | Phrase, words_of: Words = plain) -> list[str]:
    return [text[place.start : place.end] for place in Marks(items, words_of).places(text)]


@pytest.mark.parametrize(
    ("language", "query", "text", "found"),
    [
        ("english", "freezing", "Freeze! It freezes; frozen, unfreeze.", ["Freeze", "freezes"]),
        ("english", "happy", "Happiness of the happier, unhappy", ["Happiness"]),
        ("german", "haus", "Häuser und Hausboot, HAUS", ["Häuser", "HAUS"]),
        ("german", "straße", "Die Strasse, viele Straßen", ["Strasse", "Straßen"]),
        ("french", "café", "Cafes et CAFÉ, cafetière", ["Cafes", "CAFÉ"]),
        ("russian", "книга", "Книги и книжка, о книгах", ["Книги", "книгах"]),
        ("arabic", "كتاب", "هذا الكتاب جديد", ["الكتاب"]),
    ],
)
def test_a_word_is_found_in_all_its_forms(language: str, query: str, text: str, found: list[str]) -> None:
    assert marked(text, Word(query), words_of=stemmer(language)) == found


def test_forms_that_are_asked_for() -> None:
    """Of words, not of words in quotes; they count as one piece."""
    forms = {"mouse": ["mice"]}

    def forms_of(word: str) -> list[str]:
        return forms.get(word, [])

    text = "Mice and a mouse"
    assert [place.piece for place in Marks([Word("mouse")], plain, forms_of).places(text)] == ["mouse", "mouse"]
    assert [place.start for place in Marks([Phrase("mouse")], plain, forms_of).places(text)] == [11]


def test_words_that_say_little_are_not_looked_for() -> None:
    worth = {"how": 0.1, "the": 0.01, "tide": 0.8, "moon": 0.3}
    text = "how the moon makes the tide"
    query = [Word("how"), Word("the"), Word("tide"), Word("moon")]
    found = Marks(query, plain, worth_of=worth.__getitem__).places(text)
    assert [place.piece for place in found] == ["moon", "tide"]
    assert [place.piece for place in Marks(query[:2], plain, worth_of=worth.__getitem__).places(text)] == ["how"]
    assert [place.piece for place in Marks([query[1]], plain, worth_of=worth.__getitem__).places(text)] == ["the", "the"]


def test_words_with_marks_that_python_takes_for_no_letters() -> None:
    assert marked("हिन्दी भाषा", Word("हिन्दी")) == ["हिन्दी"]


def test_greek_letters_that_have_a_capital_for_titles_alone() -> None:
    assert marked("x ᾨ y", Word("ᾨ")) == marked("x ᾨ y", Word("ᾠ")) == ["ᾨ"]


def test_scripts_without_spaces_are_found_by_pairs_of_characters() -> None:
    assert marked("关系数据库与SQL", Word("数据库SQL")) == ["数据", "据库", "SQL"]
    assert marked("ข้อมูลไทย", Word("ไทย")) == ["ไท", "ทย"]
    assert marked("水と火", Word("水")) == ["水"]


def test_a_phrase_counts_where_it_is_whole() -> None:
    text = "full text search, text of a full search, Full-Text Search"
    assert marked(text, Phrase("full text search")) == ["full text search", "Full-Text Search"]
    assert marked(text, Phrase("full text search"), Word("text")) == ["full text search", "text", "Full-Text Search"]
    assert marked("search the text", Phrase("text search")) == ["search", "text"], "else each of its words counts"
    worth = {"one": 0.4, "to": 0.01, "many": 0.5}
    found = Marks([Phrase("one to many")], plain, worth_of=worth.__getitem__).places("to one and many: one-to-many, one many")
    assert [(place.start, place.end) for place in found] == [(17, 28)], "also with a word that says little"


def test_words_that_only_begin_like_it_are_not_marked() -> None:
    assert marked("vacation vacuum evacuum vacuum_freeze", Word("vacuum")) == ["vacuum", "vacuum"]


def test_nothing_to_find() -> None:
    assert not Marks([], plain)
    assert not Marks([Word("+++"), Phrase("😀")], plain)
    assert Marks([], plain).places("text") == []


letters = st.text(st.sampled_from("ab cDéß.漢字ไทي-_'") | st.characters(codec="utf-8"), max_size=80)


@given(letters, st.lists(st.builds(Word, letters) | st.builds(Phrase, letters), max_size=4))
def test_any_text(text: str, items: list[Word | Phrase]) -> None:
    """Places are in order, within the text, and never empty."""
    places = Marks(items, plain).places(text)
    assert places == sorted(places)
    assert all(0 <= place.start < place.end <= len(text) and place.piece for place in places)


@given(letters)
def test_a_word_is_found_where_it_stands(text: str) -> None:
    """Whatever the index takes for a word of the text is found in it, by its own spelling."""
    for span in Analyzer().spans(text)[:3]:
        spelling = text[span.start : span.end]
        assert marked(f"x {spelling} y", Word(spelling)) != []


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("->", "x --> y, a -> b, view->obj", ["->", "->"]),
        ("c++", "C and C++ and cc++", ["C++"]),
        ("%s", "it\u2019s %s, not %%s or %sum", ["%s"]),
        ("--no-index", "with --no-index, or no index", ["--no-index", "no", "index", "no", "index"]),
        ("__init__", "def __init__(self)", ["__init__", "init"]),
        ("os.path", "os.path.join, os.pathsep", ["os", "os.path", "path", "os"]),
    ],
)
def test_symbols_are_marked_as_they_stand(query: str, text: str, found: list[str]) -> None:
    assert marked(text, Word(query)) == found
