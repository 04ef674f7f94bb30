"""Where a text explains what was asked for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from larm.index.page import Page
from larm.index.search.entries import entry_at, names_of
from larm.index.search.searcher import IndexSearcher
from larm.index.tree import Phrase, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url

FILLER = "Lorem ipsum dolor sit amet, and so on, about what is set by the other one. " * 20
EXPLAINED = "The clients that are trusted by this server, and may relay mail through it."


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (f"networks\n{EXPLAINED}", True),
        (f"networks (default: empty)\n{EXPLAINED}", True),
        (f"networks\n(default: see the output)\n{EXPLAINED}", True),
        (f"networks(first, second=None)\u00b6\n{EXPLAINED}", True),
        (f"networks:\n{EXPLAINED}", True),
        ("networks\nrelays\nclients\nservers", False),  # a table of contents
        (f"networks = 10.0.0.0/8\n{EXPLAINED}", False),
        (f"networks() and relays() are\n{EXPLAINED}", False),
        (f"networks_style\n{EXPLAINED}", False),
        (f"my networks\n{EXPLAINED}", False),
    ],
)
def test_an_entry_begins_its_line(entry: str, found: bool) -> None:
    text = f"networks\nof this page\n{entry}"
    assert text[entry_at(text, ["networks"]) :] == (entry if found else text)


def test_no_entry_of_nothing() -> None:
    assert entry_at("\n\nx", []) == entry_at("", ["x"]) == 0


def test_the_name_is_all_that_was_asked_for() -> None:
    names = partial(names_of, is_explained=lambda _: True)
    assert names([Word("a.b")]) == names([Phrase("a.b")]) == ["a.b"]
    assert names([Word("a"), Word("b")]) == ["a_b", "a.b"]
    assert names([]) == names([Word("a" * 101)]) == names([Word("a"), Word("b.c")]) == []
    assert names([Word(each) for each in ("how", "do", "i", "do", "it")]) == []
    assert names_of([Word("a"), Word("b")], is_explained=lambda name: "_" in name) == ["a_b"]


@pytest.mark.parametrize("name", ["select_for_update", "select.for.update"])
def test_words_lead_to_the_entry_of_the_name_that_they_make(name: str, tmp_path: Path) -> None:
    """Also with a function word among them."""
    others = "".join(f"select_related_{number}(*fields)\u00b6\n{FILLER}\n" for number in range(20))
    texts = {
        "api": f"Reference\n{others}{name}(nowait=False)\u00b6\nReturns rows that stay locked until the end.\n{others}",
        "notes": f"Notes\nSelect the rows for the next update, and update what was selected. {FILLER}",
        **{f"other{number}": FILLER for number in range(20)},
    }
    _index(tmp_path, texts)
    found = IndexSearcher(tmp_path).search("select for update").hits
    assert [each.url.rpartition("/")[2] for each in found] == ["api", "notes"]
    assert found[0].snippet.startswith(f"{name}(nowait=False) Returns rows")


def test_a_long_manual_is_found_and_shown_by_its_entry(tmp_path: Path) -> None:
    """Beyond what is looked through of a page, behind other entries that mention the name."""
    others = "".join(f"relay_{number} (default: $my_networks)\n{FILLER}\n" for number in range(120))
    texts = {
        "manual": f"All settings\n{others}my_networks (default: empty)\n{EXPLAINED}\n{others}",
        "readme": f"How to set my_networks, for networks of my own. {FILLER}" * 3,
        "howto": f"{FILLER} my_networks, my networks {FILLER}",
    }
    _index(tmp_path, texts)
    assert texts["manual"].index(EXPLAINED) > 100_000
    first = IndexSearcher(tmp_path).search("my_networks").hits[0]
    assert first.url.endswith("manual")
    assert first.snippet.startswith("my_networks (default: empty) The clients that are trusted")


def _index(directory: Path, texts: dict[str, str]) -> None:
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for number, (name, text) in enumerate(texts.items()):
        address = f"http://a.org/{name}"
        writer.add(Page(Url(address, address, "a.org", number), "text/html", name, text, language="en"))
    writer.commit()
    writer.close()


def test_an_entry_begins_with_its_signature() -> None:
    """As gtk-doc has them; the list above has the same lines, each followed by another name."""
    listed = "int\ncrt_verify\u00a0()\nvoid\ncrt_free\u00a0()\nAbout.\n"
    text = f"{listed}crt_verify\u00a0()\nint\ncrt_verify (crt_t cert,\n  int flags);\n"
    assert text[entry_at(text, ["crt_verify"]) :].startswith("crt_verify\u00a0()\nint\ncrt_verify (")
