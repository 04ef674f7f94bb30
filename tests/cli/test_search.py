"""``larm search``, on a Searcher that answers what the test wants."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from larm.cli.terminal import columns
from larm.config import IndexSettings, SearchSettings
from larm.errors import StorageError
from larm.index.search.results import Results
from larm.index.search.suggesting import Suggestion
from larm.model.facets import Facet, FacetValue, Narrowed
from larm.model.findings import Asked
from larm.model.hit import Hit
from larm.store.graph import GraphStorage
from larm.store.index import IndexStorage
from larm.testing.clock import FakeClock
from tests.cli.conftest import Larm
from tests.graph.webs import page
from tests.store.stored_pages import page as stored

EXPLANATION = '{"value": 1.5, "description": "sum of:", "details": [{"value": 0.5, "description": "title\\u001b[2J"}]}'
HITS = (
    Hit(
        title="The \x1b]0;own\x07 title",
        url="http://a.org/\x9b31m",
        parts=(("about the ", False), ("tide", True), (" and", False)),
        mime="text/html",
        language="en",
        modified=1_714_521_600,
        size=2_000,
        score=1.5,
    ),
    Hit(title="Zweite größe", url="http://b.org/", mime="application/pdf", score=0.5),
)


class FakeSearcher:
    """Stands in for `larm.index.search.searcher.IndexSearcher`."""

    asked: tuple[Any, ...] = ()
    question: Asked | None = None
    answer = Results(query="tide causeway", total=12, complete=12, hits=HITS, took=0.0123)
    failure: Exception | None = None

    settings = SearchSettings()

    def __init__(self, directory: Path, settings: SearchSettings, own: Sequence[object] = (), failing: object = None) -> None:
        self.directory = directory
        type(self).settings = settings

    def results(self, asked: Asked) -> Results:
        if self.failure:
            raise self.failure
        type(self).asked = (self.directory, asked.query, asked.number, asked.page, asked.explain)
        type(self).question = asked
        return self.answer

    def suggest(self, typed: str) -> tuple[Suggestion, ...]:
        return (Suggestion(typed + "e", 3), Suggestion("The\x1b tide")) if typed == "tid" else ()


@pytest.fixture
def searcher(monkeypatch: pytest.MonkeyPatch) -> type[FakeSearcher]:
    class Fresh(FakeSearcher):
        pass

    monkeypatch.setattr("larm.building.searching.IndexSearcher", Fresh)
    return Fresh


def test_title_address_and_snippet_without_escape_sequences(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "causeway")
    assert said.status == 0
    assert said.out == (
        "1. The ]0;own title\n   http://a.org/ 31m   2024-05-01 · en\n   about the tide and\n\n"
        "2. Zweite größe\n   http://b.org/   pdf\n\n"
    )
    assert said.err == "larm: 1 to 2 of 12 pages, 0.012 s; --page 2 has more\n"
    assert searcher.asked == (Path(), "tide causeway", 10, 1, False)


@pytest.mark.parametrize(
    ("mime", "shown"),
    [
        ("application/vnd.oasis.opendocument.text", "odt"),
        ("application/atom+xml", "atom"),
        ("image/png", "png"),
        ("application/vnd.nobody.knows.this.one", "application/vnd.nobody.knows.this.one"),
    ],
)
def test_types_have_the_names_that_people_use(larm: Larm, searcher: type[FakeSearcher], mime: str, shown: str) -> None:
    searcher.answer = Results(query="x", total=1, complete=1, hits=(Hit(title="T", url="http://b.org/", mime=mime),), took=0.0)
    assert larm("search", "x").out == f"1. T\n   http://b.org/   {shown}\n\n"


def on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with colours, 40 columns wide."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_words_are_marked_on_a_terminal_only(larm: Larm, searcher: type[FakeSearcher], monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_screen(monkeypatch)
    assert "about the \x1b[1mtide\x1b[0m and" in larm("search", "tide").out
    assert "\x1b[32mhttp://a.org/ 31m\x1b[0m   \x1b[2m2024-05-01 · en\x1b[0m" in larm("search", "tide").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in larm("search", "tide").out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in larm("search", "tide").out


def test_hyperlinks_where_they_are_wanted(larm: Larm, searcher: type[FakeSearcher], monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_screen(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "2. \x1b]8;;http://b.org/\x1b\\Zweite größe\x1b]8;;\x1b\\\n" in larm("search", "x", "--hyperlinks").out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert "\x1b" not in larm("search", "x", "--hyperlinks").out


def test_lines_fit_the_terminal(larm: Larm, searcher: type[FakeSearcher], monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles and passages are wrapped; an address stays in one piece, what follows it goes to a line of its own."""
    on_a_screen(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    parts = (("word " * 9, False), ("tide", True), (" 漢字" * 30, False))
    hit = Hit(title="T " * 30, url="http://a.org/" + "x" * 50, parts=parts, language="ja", modified=1)
    searcher.answer = Results(query="", total=1, complete=1, hits=(hit,))
    lines = larm("search", "x").out.splitlines()
    assert lines[2:4] == ["   " + hit.url, "   1970-01-01 · ja"]
    assert [line for line in lines if columns(line) > 40] == ["   " + hit.url]
    assert lines[0] == "1. T T T T T T T T T T T T T T T T T T T"
    assert lines[1].startswith("   T T")


def test_a_title_that_is_a_whole_page_is_shown_in_part_and_told_whole(larm: Larm, searcher: type[FakeSearcher]) -> None:
    title = "word " * 20_000
    searcher.answer = Results(query="", total=1, complete=1, hits=(Hit(title=title, url="http://b.org/"),))
    assert larm("search", "x").out == f"1. {('word ' * 60).rstrip()}…\n   http://b.org/\n\n"
    assert json.loads(larm("search", "x", "--json").out)["hits"][0]["title"] == title


def test_pages_go_on_counting(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "-n", "2", "--page", "3", "--dir", ".")
    assert said.out.startswith("5. ")
    assert "5 to 6 of 12" in said.err
    assert searcher.asked == (Path(), "tide", 2, 3, False)


def test_json_for_programs(larm: Larm, searcher: type[FakeSearcher]) -> None:
    said = larm("search", "tide", "--json", "-n", "2", "--page", "2")
    assert said.err == ""
    assert "\x1b" not in said.out
    assert "\x9b" not in said.out
    answer = json.loads(said.out)
    assert list(answer) == [
        "query",
        "total",
        "complete",
        "exact",
        "alike",
        "page",
        "seconds",
        "notes",
        "unanswered",
        "suggestion",
        "instead",
        "hits",
    ]
    assert list(answer.values())[:-1] == ["tide causeway", 12, 12, True, 0, 2, 0.0123, [], [], None, None]
    assert answer["hits"][0] == {
        "rank": 3,
        "url": "http://a.org/\x9b31m",
        "title": "The \x1b]0;own\x07 title",
        "snippet": "about the tide and",
        "html": "about the <mark>tide</mark> and",
        "passage": None,
        "mime": "text/html",
        "language": "en",
        "modified": "2024-05-01T00:00:00Z",
        "fetched": None,
        "size": 2000,
        "cut": [],
        "complete": True,
        "score": 1.5,
    }
    assert answer["hits"][1]["title"] == "Zweite größe"


def test_explain_shows_the_factors_of_the_score(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.answer = Results(
        query="tide", total=1, complete=1, hits=(Hit(title="T", url="http://a.org/", score=1.5, explanation=EXPLANATION),)
    )
    said = larm("search", "tide", "--explain")
    assert said.out == "1. T\n   http://a.org/\n   score 1.5000\n   1.5000  sum of:\n     0.5000  title [2J\n\n"
    assert searcher.asked[-1] is True
    answer = json.loads(larm("search", "tide", "--explain", "--json").out)
    assert answer["hits"][0]["explanation"]["details"][0]["value"] == 0.5


def test_nothing_found_is_exit_status_1_as_with_grep(larm: Larm, searcher: type[FakeSearcher]) -> None:
    """And what to do then."""
    searcher.answer = Results(query="x y", total=0)
    said = larm("search", "x", "y")
    assert (said.status, said.out) == (1, "")
    assert said.err.splitlines()[0] == "larm: nothing found for x y"
    assert len(said.err.splitlines()) == 2
    searcher.answer = Results(query="x y", total=0, suggestion="z\x1b[1m", notes=("site: without a host was ignored",))
    assert larm("search", "x", "y").err.splitlines() == [
        "larm: nothing found for x y",
        "larm: site: without a host was ignored",
        "larm: did you mean: z [1m",
    ]
    searcher.answer = Results(query="x", total=7)
    assert larm("search", "x", "--page", "9") == (1, "", "larm: 7 pages found, none of them on page 9\n")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (("--", "-start"), "-start"),
        (("tide", "-causeway"), "tide -causeway"),
        (("-nest", "-x", "tide"), "-nest -x tide"),
        (("-site:a.org", "-n", "10", "tide"), "-site:a.org tide"),
        (("tide", "OR", "storm", "-n10"), "tide OR storm"),
        (("-vacuum", "--page=1", "--", "--json"), "-vacuum --json"),
        (('-"two words"', "a"), '-"two words" a'),
    ],
)
def test_words_may_begin_with_a_dash(larm: Larm, searcher: type[FakeSearcher], arguments: tuple[str, ...], query: str) -> None:
    assert larm("search", *arguments).status == 0
    assert searcher.asked == (Path(), query, 10, 1, False)


@pytest.mark.parametrize(
    ("argument", "meant"), [("--jsno", "--json"), ("-json", "--json"), ("-page", "--page"), ("--explain=", "")]
)
def test_misspelt_options(larm: Larm, searcher: type[FakeSearcher], argument: str, meant: str) -> None:
    said = larm("search", "tide", argument)
    assert (said.status, said.out) == (2, "")
    assert meant in said.err


def test_an_option_without_its_value(larm: Larm, searcher: type[FakeSearcher]) -> None:
    assert larm("search", "tide", "-n").status == 2
    assert larm("search", "-n", "5").status == 2


def test_pages_with_some_of_the_words(larm: Larm, searcher: type[FakeSearcher]) -> None:
    """It says which they are, and how many have all."""
    hits = [Hit(title=title, url=f"http://{title}.org/", complete=title < "C") for title in "ABCD"]
    searcher.answer = Results(query="x y", total=9, complete=2, hits=tuple(hits))
    said = larm("search", "x", "y")
    assert said.err == "larm: 1 to 4 of 9 pages, 2 of them with all the words, 0.000 s; --page 2 has more\n"
    assert "   http://B.org/\n\n3. C\n   http://C.org/   not all of the words\n" in said.out
    searcher.answer = Results(query="x y", total=2, hits=tuple(hits[2:]))
    said = larm("search", "x", "y")
    assert "none of them with all the words" in said.err


def test_pages_that_say_the_same_are_asked_for(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.answer = Results(query="x", total=3, alike=2, hits=(Hit(title="A", url="http://a.org/"),))
    said = larm("search", "x").err
    assert said.endswith("larm: left out: 2 pages that say nearly the same as one of these; --alike shows all\n")
    assert '"alike": 2' in larm("search", "--json", "x").out


def test_another_spelling_took_the_place_of_what_was_typed(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.answer = Results(query="tdie", total=1, instead="tide", hits=(Hit(title="A", url="http://a.org/"),))
    assert larm("search", "tdie").err.endswith("larm: --as-typed has the pages for tdie as it is\n")
    assert '"instead": "tide"' in larm("search", "--json", "tdie").out


def test_weights_from_the_configuration(larm: Larm, searcher: type[FakeSearcher]) -> None:
    Path("config.yaml").write_text("search: {anchors: 3}\n")
    assert larm("search", "x").status == 0
    assert searcher.settings.anchors == 3
    assert larm("search", "x", "-s", "search.anchors=0", "-s.x").status == 0
    assert (searcher.settings.anchors, searcher.asked[1]) == (0, "x -s.x")
    assert larm("search", "x", "-s", "search.anchor=0") == (
        2,
        "",
        "larm: -s: search.anchor: no such key; did you mean search.anchors?\n",
    )


def test_an_index_that_can_not_be_read(larm: Larm, searcher: type[FakeSearcher]) -> None:
    searcher.failure = StorageError("index: broken")
    assert larm("search", "x") == (3, "", "larm: index: broken\n")


def test_without_an_index_it_says_what_to_do(larm: Larm) -> None:
    said = larm("search", "x")
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert "larm crawl" in said.err


def test_a_link_graph_that_is_not_complete(larm: Larm, tmp_path: Path, searcher: type[FakeSearcher]) -> None:
    storage = GraphStorage(tmp_path, FakeClock())
    storage.open(None)
    storage.store([page("a", {"b": "of b"}), page("b")])
    storage.commit()
    sentence = (
        "the link graph and the texts of links are of 0 of 2 pages, so what matters most may not come first; "
        "'larm crawl' completes them, at its end"
    )
    assert f"larm: {sentence}\n" in larm("search", "tide").err
    assert json.loads(larm("search", "tide", "--json").out)["notes"] == [sentence]
    storage.close()
    assert json.loads(larm("search", "tide", "--json").out)["notes"] == []


def test_several_directories_are_one_search(larm: Larm, tmp_path: Path) -> None:
    """One that has no index is named; where none has, nothing was searched; each --dir may have its weight."""
    for name, word in (("one", "tide"), ("two", "tides")):
        storage = IndexStorage(tmp_path / name, IndexSettings())
        storage.open(None)
        storage.store([stored(f"http://{name}.org/", name, f"The {word} of {name}.")])
        storage.commit()
        storage.close()
    (tmp_path / "none").mkdir()
    said = larm("search", "tide", "--dir", "one", "--dir", "two", "--dir", "none")
    assert said.status == 0
    assert "http://one.org/   in one\n" in said.out
    assert "http://two.org/   in two\n" in said.out
    assert "larm: none did not answer: no index in none" in said.err
    answer = json.loads(larm("search", "tide", "--dir", "one", "--dir", "two", "--json", "--weight", "1", "--weight", "9").out)
    assert [(hit["url"], hit["source"]) for hit in answer["hits"]] == [("http://two.org/", "two"), ("http://one.org/", "one")]
    assert (answer["total"], answer["exact"], answer["unanswered"]) == (2, True, [])
    assert larm("search", "tide", "--dir", "none", "--dir", "none/../none").status == 3
    said = larm("search", "tide", "--dir", "one", "--dir", "two", "--weight", "1")
    assert (said.status, said.err) == (2, "larm: --weight: 1 for 2 directories; give one for each --dir, or none\n")
    assert larm("search", "tide", "--dir", "one", "--dir", "nowhere").status == 2


def test_more_results_than_a_page_can_have_are_refused(larm: Larm, searcher: type[FakeSearcher]) -> None:
    """Or the second page would begin after them."""
    said = larm("search", "x", "-n", "1001")
    assert (said.status, "1<=x<=1000" in said.err) == (2, True)


def test_facets_and_what_is_narrowed_down(larm: Larm, searcher: type[FakeSearcher]) -> None:
    sites = Facet("site", tuple(FacetValue(f"{letter}.org", 2_000) for letter in "abcdefghij"))
    facets = (sites, Facet("type"), Facet("language", (FacetValue("en\x1b[1m", 1),), whole=False))
    searcher.answer = Results(query="x", total=1, complete=1, hits=HITS[1:], facets=facets)
    said = larm("search", "x", "--facets", "--only", "site=a.org", "--only", "age=week", "--sort", "date")
    assert said.out.splitlines()[-2:] == [
        "   site: " + "".join(f"{letter}.org (2,000), " for letter in "abcdefgh") + "...",
        "   language: en [1m (1), ...",
    ]
    assert searcher.question == Asked(query="x", facets=True, sort="date", narrowed=Narrowed(site="a.org", age="week"))


@pytest.mark.parametrize("only", ["place=a.org", "site", "site=", "=a.org", "age=decade"])
def test_what_nothing_can_be_narrowed_down_to(larm: Larm, searcher: type[FakeSearcher], only: str) -> None:
    said = larm("search", "x", "--only", only)
    assert said.status == 2
    assert said.err.startswith("larm: --only")
    assert "week" in said.err
    assert searcher.question is None


def test_suggestions(larm: Larm, searcher: type[FakeSearcher]) -> None:
    """For a shell's completion, say; nothing is searched for."""
    assert larm("search", "tid", "--suggest").out == "tide\nThe tide\n"
    assert json.loads(larm("search", "tid", "--suggest", "--json").out)[0] == {"query": "tide", "pages": 3}
    assert larm("search", "zzz", "--suggest").status == 1
    assert searcher.question is None
