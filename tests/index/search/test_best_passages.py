"""Which page has the passage that answers best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.index.search.best_passages import best_passages

FILLER = "lorem ipsum dolor sit amet " * 40
BOTH = {"discard": "discard", "change": "change", "changes": "change"}


def test_words_that_stand_together_are_better_than_the_same_words_apart() -> None:
    together, apart = f"{FILLER} discard changes {FILLER}", f"discard {FILLER} {FILLER} change"
    assert best_passages([apart, together], BOTH)[1] == 1.0
    assert 0.0 < best_passages([apart, together], BOTH)[0] < 1.0


def test_a_word_that_all_pages_have_counts_by_the_passages_that_have_it() -> None:
    commit = "commit " * 3
    scores = best_passages(
        [f"commit {FILLER * 3} commit rebase", f"{commit} {FILLER * 3} rebase"], {"commit": "a", "rebase": "b"}
    )
    assert scores[0] == 1.0 > scores[1] > 0.3


def test_forms_of_a_word_are_one_word() -> None:
    assert best_passages(["discard change", "discard changes"], BOTH) == [1.0, 1.0]


def test_accents_case_and_punctuation_part_no_words() -> None:
    forms = {"hauser": "haus", "rote": "rot"}
    assert best_passages(["“Häuser” – ROTE.", "(rote) HÄUSER!", "hauserrote"], forms) == [1.0, 1.0, 0.0]


def test_what_stands_across_the_end_of_a_passage_is_found_together() -> None:
    for before in range(25, 65):
        text = "x " * before + "discard change " + FILLER
        assert best_passages([text, f"discard {FILLER} {FILLER} change"], BOTH)[0] == 1.0


def test_of_equal_passages_the_one_of_a_page_that_begins_with_the_words_is_better() -> None:
    """It is about them; a list of all there is has them among others."""
    scores = best_passages([f"{FILLER} discard changes {FILLER}", f"discard {FILLER} discard changes {FILLER}"], BOTH)
    assert scores[1] == 1.0 > scores[0] > 0.6


@given(st.lists(st.text(alphabet="ab c\u00e4\ud800-\u4e00"), max_size=5))
def test_any_text_has_a_score(texts: list[str]) -> None:
    scores = best_passages(texts, {"a": "a", "\u00e4": "a"})
    assert len(scores) == len(texts)
    assert all(0.0 <= score <= 1.0 for score in scores)
