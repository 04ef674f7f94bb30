from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.index.analysis import Analyzer
from larm.index.search.marks import Marks
from larm.index.search.snippets import WIDTH, make_snippet, shortened
from larm.index.tree import Phrase, Word
from larm.model.hit import Part, as_html

words_of = Analyzer().words
FILLER = "lorem ipsum dolor sit amet " * 40


def snippet(text: str, query: str, description: str = "") -> str:
    marks = Marks([Word(word) for word in query.split()], words_of)
    return plain(make_snippet(text, marks, description))


def plain(parts: tuple[Part, ...]) -> str:
    return "".join(f"[{text}]" if marked else text for text, marked in parts)


def test_words_are_marked_as_they_stand_in_the_text() -> None:
    assert snippet("The Café is\n  RED.", "cafe red") == "The [Café] is [RED]."


def test_the_passage_with_the_most_different_words_is_chosen() -> None:
    """Not the first word, not the one that is there ten times."""
    text = FILLER + "red " * 10 + FILLER + "a red house here " + FILLER + "house" + FILLER
    found = snippet(text, "red house")
    assert "a [red] [house] here" in found
    assert found.startswith("… ")
    assert found.endswith(" …")


def test_two_passages_where_one_has_not_all_the_words() -> None:
    found = snippet(f"{FILLER} the red one {FILLER} the house too {FILLER}", "red house")
    first, second = found.strip(" …").split(" … ")
    assert "the [red] one" in first
    assert "the [house] too" in second
    assert len(found) <= WIDTH + 20


def test_passages_that_touch_are_one() -> None:
    found = snippet(f"{FILLER} red {'x' * 90} {'y' * 90} house {FILLER}", "red house")
    assert found.count("…") <= 3


def test_of_equal_passages_the_first_is_chosen() -> None:
    text = "first red thing " + FILLER + "second red thing " + FILLER
    assert snippet(text, "red").startswith("first [red] thing")


def test_a_passage_begins_with_a_sentence_where_it_can() -> None:
    assert snippet(f"{FILLER}. It is a red thing. {FILLER}", "red").startswith("… It is a [red] thing.")


def test_without_a_match_it_is_what_the_page_says_of_itself() -> None:
    assert snippet(FILLER, "red", "All about red.") == "All about [red]."
    assert snippet(FILLER, "absent", "All about red.") == "All about red."
    assert snippet("", "absent", "All about red.") == "All about red."
    assert snippet("Red text", "red", "All about red.") == "[Red] text"


def test_without_a_match_or_description_it_is_the_beginning() -> None:
    found = snippet("Start. " + FILLER, "absent")
    assert found.startswith("Start. lorem")
    assert found.endswith(" …")
    assert snippet("", "x") == ""
    assert snippet("short", "") == "short"


def test_whole_words() -> None:
    found = snippet(FILLER + "needle " + FILLER, "needle").strip("… ")
    assert set(found.split()) <= {*FILLER.split(), "[needle]"}


def test_names_are_not_cut() -> None:
    text = f"{FILLER}autovacuum_vacuum_cost_limit (integer) {FILLER}"
    found = snippet(text, "vacuum limit")
    assert " autovacuum_[vacuum]_cost_[limit] (integer) " in found


def test_a_word_by_itself_is_better_than_a_part_of_a_name() -> None:
    text = f"{FILLER} x_red_y red_z {FILLER} a red one {FILLER}"
    assert "a [red] one" in snippet(text, "red")
    assert "x_[red]_y" in snippet(f"{FILLER} x_red_y {FILLER}", "red")


def test_scripts_without_spaces() -> None:
    """Shorter, for their characters are wide; the pieces of a word are marked as one."""
    found = snippet("这是一个测试的句子。" * 50 + "关系数据库管理系统。" + "这是一个测试的句子。" * 50, "数据库")
    assert "关系[数据库]管理系统。" in found
    assert 60 < len(found) < 140


def test_no_control_characters() -> None:
    """A page must not steer the terminal, nor turn the line round."""
    assert snippet("a\x1b[2Jb\u202ered\u2066 c\x07\x9b\ud800", "red") == "a [2Jb [red] c"


def test_a_page_may_ask_for_less() -> None:
    parts = (("about ", False), ("red", True), (" things", False))
    assert [plain(shortened(parts, most)) for most in (None, 99, 8, 6, 0)] == ["about [red] things"] * 2 + [
        "about [re]",
        "about ",
        "",
    ]


def test_html() -> None:
    """Whatever a page says, nothing but our own marks is an element."""
    parts = make_snippet("a <script>alert('red')</script> & \"b\"", Marks([Word("red")], words_of))
    assert as_html(parts) == "a &lt;script&gt;alert(&#x27;<mark>red</mark>&#x27;)&lt;/script&gt; &amp; &quot;b&quot;"


texts = st.text(st.sampled_from("ab \n\t\x1bäé.漢-") | st.characters(), max_size=600)


@given(texts, st.lists(st.sampled_from([Word("a"), Word("b"), Phrase("a b"), Word("ae"), Word("漢")])), texts)
def test_any_text(text: str, items: list[Word | Phrase], description: str) -> None:
    """Never raises; about the right length; one line; as HTML without any element but ours."""
    parts = make_snippet(text, Marks(items, words_of), description)
    whole = "".join(part for part, _ in parts)
    assert len(whole) <= WIDTH + 10
    assert not set(whole) & set("\n\t\x1b")
    assert whole == whole.strip()
    assert all(part for part, _ in parts)
    assert as_html(parts).replace("<mark>", "").replace("</mark>", "").count("<") == 0


@given(texts)
def test_a_word_that_is_there_is_shown(text: str) -> None:
    found = Analyzer().spans(text)
    if found:
        span = found[len(found) // 2]
        marks = Marks([Word(text[span.start : span.end])], words_of)
        assert any(marked for _, marked in make_snippet(text, marks))


def test_what_leads_to_other_pages_is_not_shown() -> None:
    marks = Marks([Word("vacuum")], words_of)
    text = "Next: Vacuum B, Previous: A, Up: Top\nVacuum¶\nAll about it."
    assert plain(make_snippet(text, marks)) == "[Vacuum] All about it."
    assert plain(make_snippet("Up: and down. Vacuum", marks)) == "Up: and down. [Vacuum]"
    assert plain(make_snippet("[ << ]\n[ Up ]\n[ > ]\nVacuum\nAll about it.", marks)) == "[Vacuum] All about it."
    assert plain(make_snippet("[ FULL ]\nVacuum", marks)) == "[ FULL ] [Vacuum]"


def test_a_name_is_shown_where_it_stands_whole() -> None:
    """However far down, and though its words stand near each other before."""
    text = "hist_beep, hist_expire_dups_first, ignore_eof " + FILLER * 20 + "HIST_IGNORE_DUPS: of two lines, one. " + FILLER
    assert "[HIST_IGNORE_DUPS]: of two lines" in snippet(text, "hist_ignore_dups")


def test_the_title_is_not_shown_again() -> None:
    """Unless nothing else has its words."""
    marks = Marks([Word("red"), Word("house")], words_of)
    found = plain(make_snippet(f"Red House {FILLER} a house that is red {FILLER}", marks, title="Red House"))
    assert "a [house] that is [red]" in found
    assert plain(make_snippet(f"Red House {FILLER} a house", marks, title="Red House")).startswith("[Red] [House] lorem")


def test_words_far_down_a_long_page_are_shown() -> None:
    text = FILLER * 120 + "the red house at the end. " + FILLER
    assert len(text) > 100_000
    assert "the [red] [house] at the end" in snippet(text, "red house")


def test_a_list_of_what_is_on_the_page_is_not_shown_for_what_it_lists() -> None:
    page = (
        "Grommets\nOn this page\nInstalling grommets\nPainting grommets\nSelling grommets\nIt is a craft. "
        + "More of it. " * 30
    )
    page += "\nInstalling grommets\nPress it into the hole.\nPainting grommets\nTake two coats of varnish."
    page += "\nSelling grommets\nBy the dozen."
    assert "two coats" in snippet(page, "painting grommets")
    assert "On this page" not in snippet(page, "painting")
    assert snippet(page[:300], "painting").startswith("Grommets On this page")  # it is nowhere else


def test_a_list_of_headings_is_not_shown_where_they_have_permalinks() -> None:
    """As in all manuals made by Sphinx: each heading ends with a pilcrow."""
    marks = Marks([Word("rate"), Word("limit")], words_of)
    below = "Rate limit\u00b6\nSo many are let through.\nFlow control\u00b6\nMore."
    text = f"Socket\u00b6\nRate limit\nFlow control\nAbout\u00b6\n{FILLER}\n{below}"
    assert "[Rate] [limit] So many are let through." in plain(make_snippet(text, marks))
