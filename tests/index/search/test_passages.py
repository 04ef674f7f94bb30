from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.index.search.passages import passage_address
from larm.index.sections import section_at, sections

BODY = "The tide comes in.\nThe tide goes out at night, slowly - as ever.\nCafé: the tide, again and again."
URL = "http://a.org/x"


def address(*parts: tuple[str, bool], body: str = BODY, mime: str = "text/html", url: str = URL, sections: str = "") -> str:
    return passage_address(url, mime, body, parts, sections)


def test_as_few_words_as_there_is_one_place_of() -> None:
    """From the first marked word on that has one; signs that mean something there are written out."""
    assert address(("The ", False), ("tide", True), (" goes out at night", False)) == f"{URL}#:~:text=tide%20goes"
    assert address(("tide", True), (", again and", False)) == f"{URL}#:~:text=tide%2C%20again"
    assert address(("slowly", True), (" - as ever.", False)) == f"{URL}#:~:text=slowly%20%2D"
    assert address(("Café", True), (": the", False)) == f"{URL}#:~:text=Caf%C3%A9%3A%20the"
    assert address(("in.", True), (" … ", False), ("goes", True), (" out", False)) == f"{URL}#:~:text=goes%20out"


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (("tide goes out", False),),
        (("tide", True),),
        (("in.", True), (" The tide", False)),
        (("ide", True), (" goes", False)),
        (("nowhere", True), (" to be seen", False)),
    ],
)
def test_where_there_is_no_such_place(parts: tuple[tuple[str, bool], ...]) -> None:
    """Nothing is marked, one word alone, words of two blocks, half a word, a text that says something else."""
    assert address(*parts) == ""


def test_only_of_web_pages() -> None:
    parts = ("goes", True), (" out", False)
    assert address(*parts) != ""
    assert address(*parts, mime="application/pdf") == ""
    assert address(*parts, url="file:///x.html") == ""
    assert address(*parts, body="goes out, goes out") == ""


def test_headings_are_looked_for_as_the_index_writes_them() -> None:
    """Of full width; with letters and accents as one character."""
    for heading, written in (("ﾌｧｲﾙ", "ファイル"), ("Cafe\u0301", "Café")):
        body = f"\n{written}\nsome words"
        assert section_at(sections((heading,), ("place",)), body, len(body) - 1) == "place"


def test_it_leads_to_the_section_too() -> None:
    """Of the last heading before it that has an address; a list of contents at the top has the same lines."""
    body = "Contents\nEbb\nFlood\nEbb\nThe sea falls.\nFlood\nThe sea rises.\nNotes\nIt is salt."
    stored = sections(["Contents", "Ebb", "Flood", "Notes", "Gone"], ["", "low tide", "h\u00f6he", "", "e"])
    assert stored == "h\u00f6he\tFlood\ne\tGone"
    stored = f"low\tEbb\n{stored}"
    assert address(("sea", True), (" falls.", False), body=body, sections=stored) == f"{URL}#low:~:text=sea%20falls."
    assert address(("sea", True), (" rises.", False), body=body, sections=stored) == f"{URL}#h%C3%B6he:~:text=sea%20rises."
    assert address(("It", True), (" is salt.", False), body=body, sections=stored) == f"{URL}#h%C3%B6he:~:text=It%20is"
    assert section_at(stored, body, 0) == ""


@given(st.lists(st.tuples(st.text(alphabet="ab …-,&\n", max_size=8), st.booleans()), max_size=5), st.text("ab -,&\n"))
def test_what_it_names_is_there_once(parts: list[tuple[str, bool]], body: str) -> None:
    from urllib.parse import unquote

    found = passage_address(URL, "text/html", body, parts)
    if found:
        text = found.removeprefix(URL + "#:~:text=")
        assert not set(text) & set("-,& ")
        assert body.count(unquote(text)) == 1
