from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from larm.config import Search, SearchBonuses, SearchFields
from larm.errors import ConfigError
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.writer import IndexWriter
from larm.kit.clock import SystemClock
from larm.seams import FoundPage
from larm.search.own_score import OwnScore
from larm.search.query import parse_question
from larm.search.ranked import Ranker, Ranking
from larm.storage.graph import GraphStorage
from tests.storage.pages import link, page, url

PAGES = {
    "cats": ("Cats", "all about the cat: cats sleep. " * 3),
    "dogs": ("Dogs", "a dog and a cat, and dogs again"),
    "zoo": ("Animals", "here is a dog"),
    "copy": ("Animals, once more", "here is a dog"),
    "other": ("Cars", "nothing with legs"),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crawl")
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for name, (title, text) in PAGES.items():
        digest = 7 if text == "here is a dog" else 0
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", title, text, language="en", digest=digest))
    writer.commit()
    writer.close()
    return directory


def ranking(
    path: Path,
    text: str,
    number: int = 10,
    offset: int = 0,
    *,
    explain: bool = False,
    own: Sequence[OwnScore] = (),
    **settings: object,
) -> Ranking:
    values = Search(**settings)  # type: ignore[arg-type]
    ranker = Ranker(path, IndexReader(path / "index", values), values, own)
    return ranker.rank(parse_question(text).tree, number, offset, explain=explain)


def names(found: Ranking) -> list[str]:
    return [each.match.url.rpartition("/")[2] for each in found.results]


def test_of_pages_that_say_the_same_the_best_is_a_result(path: Path) -> None:
    found = ranking(path, "here")
    assert (len(found.results), found.alike, found.total) == (1, 1, 2)
    assert names(ranking(path, "here once more"))[0] == "copy"
    found = ranking(path, "here", grouped=False)
    assert (set(names(found)), found.alike) == ({"zoo", "copy"}, 0)
    assert ranking(path, "cat").alike == 0


def test_a_page_must_have_all_words(path: Path) -> None:
    found = ranking(path, "cat dog")
    assert (names(found), found.complete, found.total) == (["dogs"], 1, 1)
    assert ranking(path, "cat").complete == ranking(path, "cat").total == 2


def test_if_no_page_has_all_words_some_are_enough(path: Path) -> None:
    """The more the better. Of more than two words so also if few pages have all; the numbers say how many there are of both."""
    found = ranking(path, "cars cat")
    assert (set(names(found)), found.complete, found.total) == ({"other", "cats", "dogs"}, 0, 3)
    found = ranking(path, "cat dog again")
    assert names(found)[0] == "dogs"
    assert set(names(found)) == {"dogs", "cats", "zoo"}
    assert (found.complete, found.total) == (1, 4)
    found = ranking(path, "cat dog again", few=1)
    assert (names(found), found.total) == (["dogs"], 1)


def test_conditions_hold_for_all(path: Path) -> None:
    assert names(ranking(path, "cat dog again -legs -sleep")) == ["dogs", "zoo"]
    assert names(ranking(path, '"here is" cat')) == ["zoo"]
    assert names(ranking(path, '"about the" cat')) == ["cats"]
    assert names(ranking(path, "intitle:cats")) == ["cats"]
    assert names(ranking(path, "-dog")) == ["cats", "other"]


@pytest.mark.parametrize("text", ["cats intitle:dogs", 'cats "dogs again"', "cats (again OR legs)", "intitle:dogs cats"])
def test_a_word_is_needed_beside_what_operators_ask_for(path: Path, text: str) -> None:
    found = ranking(path, text)
    assert (names(found), found.complete, found.total) == (["dogs"], 1, 1)


def test_a_phrase_that_no_page_has(path: Path) -> None:
    """Nothing is found; only among many words it is one more that a page may lack, as parts of it."""
    assert names(ranking(path, '"dog again"')) == names(ranking(path, 'cat "dog again"')) == []
    found = ranking(path, 'which cat sleeps "dog again" here')
    assert "dogs" in names(found)
    assert found.complete == 0 < found.total
    assert names(ranking(path, 'which cat sleeps "dog again" here site:b.org')) == []


def test_a_word_that_no_page_has_beside_an_operator(path: Path) -> None:
    found = ranking(path, "unicorn intitle:dogs")
    assert (names(found), found.complete, found.total) == (["dogs"], 0, 1)


@pytest.mark.parametrize("text", ["", "!?", "unicorn", "-", '""'])
def test_nothing_found(path: Path, text: str) -> None:
    found = ranking(path, text)
    assert (found.complete, found.total, names(found)) == (0, 0, [])


def test_pages_with_one_text_are_one_result(path: Path) -> None:
    assert len(names(ranking(path, "animals"))) == 1


def test_function_words_are_not_needed(path: Path) -> None:
    """And count little; but who asks for nothing else gets them."""
    assert ranking(path, "the dog").complete == 3
    assert names(ranking(path, "the"))[0] == "cats"


def test_pages_of_results(path: Path) -> None:
    """One after the other they are the whole list, also where it goes on after the candidates."""
    whole = names(ranking(path, "cat dog nothing"))
    for candidates in (1, 2, 200):
        pages = [names(ranking(path, "cat dog nothing", 1, at, candidates=candidates)) for at in range(5)]
        assert sorted(name for page in pages for name in page if name != "copy") == sorted(set(whole) - {"copy"})
    assert names(ranking(path, "cat", 10, 10**12)) == []


def test_weights(path: Path) -> None:
    assert names(ranking(path, "sleep cars", fields=SearchFields(title=9.0)))[0] == "other"
    assert "cats" not in names(ranking(path, "sleep animals", fields=SearchFields(main=0.0)))


def test_the_parts_of_a_score(path: Path) -> None:
    """Their sum is the score, apart from what having all words is worth."""
    best = ranking(path, "cat dog", explain=True).results[0]
    told = json.loads(best.match.explanation)
    parts = {each["description"]: each["value"] for each in told["details"]}
    assert told["value"] == best.match.score == pytest.approx(sum(parts.values()), abs=2e-3)  # f32
    assert {"word cat", "word dog", "has cat"} <= set(parts)


def test_forms(path: Path) -> None:
    assert set(ranking(path, "cat").forms["cat"]) == {"cat", "cats"}


def test_linked_pages_are_better(tmp_path: Path) -> None:
    """Of two equal pages the one that more pages link to; `reload` sees what a crawl has written."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name in ("a", "b", "c"):
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", "equal text"))
    writer.commit()
    values = Search()
    ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", values), values)
    tree = parse_question("text").tree
    assert [each.match.url[-1] for each in ranker.rank(tree, 3).results] == ["a", "b", "c"]
    graph = GraphStorage(tmp_path, SystemClock())
    graph.open(None)
    for name in "xyz":
        graph.store([page(f"http://a.org/{name}", links=(link("http://a.org/b"),))])
    graph.commit()
    graph.close()
    writer.add(Page(url("http://a.org/d"), "text/html", "", "equal text"))
    writer.commit()
    writer.close()
    ranker.reload()
    for by in ("links", "pagerank", "place"):
        values = Search(link_rank_by=by)  # type: ignore[arg-type]
        ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", values), values)
        assert ranker.rank(tree, 9).results[0].match.url[-1] == "b", by


def test_names_are_also_looked_for_word_by_word(tmp_path: Path) -> None:
    """The page on which a name is explained may have its parts apart; where it is written as asked counts more."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in (
        ("apart", "Config: a record. Its inspect member"),
        ("whole", "see Config.inspect, a member"),
        ("no", "a member"),
    ):
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    assert names(ranking(tmp_path, "Config.inspect (C member)")) == ["whole", "apart", "no"]
    assert names(ranking(tmp_path, "Config.inspect")) == ["whole"]
    assert len(names(ranking(tmp_path, "Config.inspect", within_names=0.0))) == 1


def explained(path: Path, text: str, own: Sequence[OwnScore] = (), **settings: object) -> list[dict[str, float]]:
    """The parts of each result's score, whose sum it is."""
    found = ranking(path, text, explain=True, own=own, **settings)
    parts = [
        {each["description"]: each["value"] for each in json.loads(one.match.explanation)["details"]} for one in found.results
    ]
    for one, of_page in zip(found.results, parts, strict=True):
        assert one.match.score == pytest.approx(sum(of_page.values()), abs=2e-3)  # f32
    return parts


def test_other_formulas_can_be_chosen(path: Path) -> None:
    assert set(explained(path, "cat dog", relevance="dfr")[0]) == {"DFR relevance"}
    assert "spans" in explained(path, "cat dog", spans=5.0)[0]
    places = {"place by words": pytest.approx(10.169492 / 2), "place by links": pytest.approx(10.169492 / 2)}
    assert explained(path, "cat dog", fusion="reciprocal")[0] == places
    assert "all words" in explained(path, "cat dog again", relevance="bm25")[0]
    assert "DFR relevance" in explained(path, "cat dog again", relevance="dfr")[0]


def test_bonuses(path: Path) -> None:
    """The shares of title, host and path that were asked for; a start page."""
    bonuses = SearchBonuses(host_root=0.5, domain=2.0, host_words=1.0, title_words=1.0, path_words=1.0)
    (parts,) = explained(path, "cats sleep org", bonuses=bonuses, few=0)[:1]
    assert {name: parts[name] for name in ("words of the host", "words of the title", "words of the path")} == {
        "words of the host": 0.5,
        "words of the title": 1.0,
        "words of the path": 1.0,
    }
    writer = IndexWriter(path / "other" / "index", 15_000_000, 1)
    writer.open(None)
    for address in ("http://stanford.edu/", "http://www.stanford.edu/", "http://www.stanford.edu/x"):
        writer.add(Page(url(address), "text/html", "", "word"))
    writer.commit()
    writer.close()
    found = explained(path / "other", "word stanford", bonuses=bonuses)
    assert [part.get("root of a host", 0) for part in found] == [0.5, 0.5, 0]
    assert [part.get("registered domain", 0) for part in found] == [2, 0, 0]
    assert [part["words of the host"] for part in found] == pytest.approx([1 / 2, 1 / 3, 1 / 3])


class Likes:
    """A scorer of a user's."""

    def __init__(self, says: Callable[[FoundPage], float]) -> None:
        self.score = says


@pytest.mark.parametrize("settings", [{}, {"relevance": "dfr"}, {"bonuses": SearchBonuses(title_words=1.0)}])
def test_a_scorer_of_the_users_adds_to_the_score(path: Path, settings: dict[str, object]) -> None:
    """YIOOP-69; with its weight, which may also be less than nothing, and whatever formula counts the words."""
    likes = Likes(lambda page: float(page.title == "Dogs" and page.mime == "text/html" and "cat" in page.body))
    assert names(ranking(path, "cat", **settings)) == ["cats", "dogs"]
    liked = [OwnScore("mine:Likes", 10.0, likes), OwnScore("mine:All", 0.25, Likes(lambda _: 1))]
    assert names(ranking(path, "cat", own=liked, **settings)) == ["dogs", "cats"]
    assert [(parts.get("mine:Likes"), parts["mine:All"]) for parts in explained(path, "cat", own=liked, **settings)] == [
        (10.0, 0.25),
        (None, 0.25),
    ]
    assert names(ranking(path, "cat", own=[OwnScore("mine:Likes", -10.0, likes)], **settings)) == ["cats", "dogs"]


@pytest.mark.parametrize("score", ["no number", float("nan"), float("inf"), 1e308, None])
def test_a_scorer_that_fails_is_named(path: Path, score: object) -> None:
    with pytest.raises(ConfigError, match=r"^search\.own: mine:Likes .*http://a\.org/"):
        ranking(path, "cat", own=[OwnScore("mine:Likes", 1.0, Likes(lambda _: score))])  # type: ignore[arg-type,return-value]
