from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.search.snippets import WIDTH, make_snippet

spans = Analyzer().spans
FILLER = "lorem ipsum dolor sit amet " * 40


def plain(parts: tuple[tuple[str, bool], ...]) -> str:
    return "".join(f"[{text}]" if marked else text for text, marked in parts)


def test_words_are_marked_as_they_stand_in_the_text() -> None:
    assert plain(make_snippet("The Café is\n  RED.", {"cafe", "red"}, spans)) == "The [Café] is [RED]."


def test_the_passage_with_the_most_different_words_is_chosen() -> None:
    """Not the first word, not the one that is there ten times."""
    text = FILLER + "red " * 10 + FILLER + "a red house here " + FILLER + "house" + FILLER
    snippet = plain(make_snippet(text, {"red", "house"}, spans))
    assert "a [red] [house] here" in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")


def test_of_equal_passages_the_first_is_chosen() -> None:
    text = "first red thing " + FILLER + "second red thing " + FILLER
    assert plain(make_snippet(text, {"red"}, spans)).startswith("first [red] thing")


def test_without_a_match_it_is_the_beginning() -> None:
    snippet = plain(make_snippet("Start. " + FILLER, {"absent"}, spans))
    assert snippet.startswith("Start. lorem")
    assert snippet.endswith(" …")
    assert make_snippet("", {"x"}, spans) == ()
    assert plain(make_snippet("short", set(), spans)) == "short"


def test_whole_words() -> None:
    snippet = plain(make_snippet(FILLER + "needle " + FILLER, {"needle"}, spans)).strip("… ")
    assert set(snippet.split()) <= {*FILLER.split(), "[needle]"}


def test_no_control_characters() -> None:
    """A page must not steer the terminal, nor turn the line round."""
    snippet = plain(make_snippet("a\x1b[2Jb\u202ered\u2066 c\x07\x9b\ud800", {"red"}, spans))
    assert snippet == "a [2Jb [red] c"


texts = st.text(st.sampled_from("ab \n\t\x1bäé.漢-") | st.characters(), max_size=600)


@given(texts, st.sets(st.sampled_from(["a", "b", "ab", "ae", "漢"])))
def test_any_text(text: str, words: set[str]) -> None:
    """Never raises; about the right length; marked parts are words of the query; one line."""
    parts = make_snippet(text, words, spans)
    whole = "".join(part for part, _ in parts)
    assert len(whole) <= WIDTH + 4
    assert not set(whole) & set("\n\t\x1b")
    assert whole == whole.strip()
    for part, marked in parts:
        assert part
        if marked:
            assert {span.word for span in spans(part)} <= words


@given(texts)
def test_a_word_that_is_there_is_shown(text: str) -> None:
    found = spans(text)
    if found:
        word = found[len(found) // 2].word
        assert any(marked for _, marked in make_snippet(text, {word}, spans))
