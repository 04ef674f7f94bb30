from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from larm.config import SearchSettings
from larm.errors import ConfigError
from larm.index import fixed_weights, retrieval
from larm.index.anchors import ANCHORS, write_anchors
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.search.own_score import OwnScore
from larm.index.search.query import parse_question
from larm.index.search.ranked import Ranker, Ranking
from larm.index.writer import IndexWriter
from larm.kit.clock import SystemClock
from larm.model.url import Url
from larm.seams import FoundPage
from larm.store.graph import GraphStorage
from tests.store.stored_pages import link, page, url

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
    alike: bool = False,
    own: Sequence[OwnScore] = (),
) -> Ranking:
    values = SearchSettings()
    ranker = Ranker(path, IndexReader(path / "index", values), values, own)
    return ranker.rank(parse_question(text).tree, number, offset, explain=explain, alike=alike)


def names(found: Ranking) -> list[str]:
    return [each.match.url.rpartition("/")[2] for each in found.results]


def test_of_pages_that_say_the_same_the_best_is_a_result(path: Path) -> None:
    found = ranking(path, "here")
    assert (len(found.results), found.alike, found.total) == (1, 1, 2)
    assert names(ranking(path, "here once more"))[0] == "copy"
    found = ranking(path, "here", alike=True)
    assert (set(names(found)), found.alike) == ({"zoo", "copy"}, 0)
    assert ranking(path, "cat").alike == 0


def test_which_pages_have_all_words_is_known_beyond_the_candidates(path: Path) -> None:
    reader = IndexReader(path / "index", SearchSettings())
    found = reader.retrieve(parse_question("here dog").tree, 1)
    assert (len(found.candidates), found.complete, len(found.having_all)) == (1, 2, 2)


def test_by_date_all_pages_can_be_looked_at_though_some_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number in range(20):  # every second one is the same
        digest = 7 if number % 2 else 0
        writer.add(Page(url(f"http://a.org/{number}"), "text/html", "", "a dog", digest=digest, modified=99 - number))
    writer.commit()
    writer.close()
    monkeypatch.setattr(fixed_weights, "CANDIDATES", 3)
    ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", SearchSettings()), SearchSettings())
    found = [ranker.rank(parse_question("dog").tree, 2, offset, sort="date") for offset in range(0, 14, 2)]
    assert [name for each in found for name in names(each)] == ["0", "1", *map(str, range(2, 20, 2))]
    assert not found[-1].results
    assert not ranker.rank(parse_question("dog").tree, 2, 10**11, sort="date").results  # no room is made for so many


def test_a_page_need_not_have_all_words(path: Path) -> None:
    """But the more the better; the numbers say how many there are of both kinds."""
    found = ranking(path, "cat dog")
    assert names(found) == ["dogs", "cats", "zoo"]
    assert [each.complete for each in found.results] == [True, False, False]
    assert (found.complete, found.total) == (1, 4)
    assert ranking(path, "cat").complete == ranking(path, "cat").total == 2
    found = ranking(path, "cars cat")
    assert (set(names(found)), found.complete, found.total) == ({"other", "cats", "dogs"}, 0, 3)
    assert not any(each.complete for each in found.results)


def test_a_page_that_has_the_only_word_has_all_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the candidates that are weighed are fewer than the results."""
    monkeypatch.setattr(fixed_weights, "CANDIDATES", 1)
    found = ranking(path, "dog", alike=True)
    assert [each.complete for each in found.results] == [True] * 3
    assert found.complete == found.total == 3


def test_all_words_by_accident_are_not_better_than_the_page_about_it(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    filler = [f"word{number} other{number}" for number in range(300)]
    writer.add(Page(url("http://a.org/about"), "text/html", "Vacuum", "vacuum reclaims storage. " * 20, language="en"))
    writer.add(Page(url("http://a.org/accident"), "text/html", "Notes", " ".join([*filler, "vacuum", *filler, "explained"])))
    for number in range(20):
        writer.add(Page(url(f"http://a.org/{number}"), "text/html", "", f"something else {number}", language="en"))
    writer.commit()
    writer.close()
    assert names(ranking(tmp_path, "vacuum explained")) == ["about", "accident"]


def test_all_words_count_the_less_the_longer_a_page_is(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, more in (("short", 10), ("long", 2_000)):
        text = "vacuum explained " + " ".join(f"word{number}" for number in range(more))
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    parts = explained(tmp_path, "vacuum explained")
    assert 2 * parts[1]["all words"] < parts[0]["all words"]


def test_forms_of_a_word_are_one_word(tmp_path: Path) -> None:
    """Several count more than one, but not twice; what was typed more."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in {
        "both": "a crawler, and crawlers of this kind",
        "one": "a crawler, and parsers of this kind",
        "other": "a lexer, and crawlers of this kind",
        **{str(number): "a text of this kind" for number in range(9)},
    }.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    found = ranking(tmp_path, "crawler").results
    assert [each.match.url[13:] for each in found] == ["both", "one", "other"]
    assert found[0].match.score < 1.5 * found[1].match.score


def test_words_that_are_made_of_others(tmp_path: Path) -> None:
    """Who asks for one word gets its own forms, however much a page is about the other one; of several words, both count."""
    text = """multiplication multiple operator operation importance import department depart experience experiment author
    authority ignore ignorant relative relativity numeric numerous conservation conserve object objective process procession
    iteration iterate secure securities customs customer inform informal designate design execution executive university
    universe organization organ general generate policy police news new international internal probable probe nature native
    generic generous past paste station state arm army commune communication"""
    words = text.split()
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for word in words:
        about, once = f"The {word}: all of {word}. " * 3, f"Here is one {word}, beside sheep. {'They eat grass all day. ' * 9}"
        writer.add(Page(url(f"http://a.org/{word}"), "text/html", word.title(), about, language="en"))
        writer.add(Page(url(f"http://a.org/once-{word}"), "text/html", "", once, language="en"))
    writer.commit()
    writer.close()
    for word in words:
        found = ranking(tmp_path, word)
        assert [each.match.url[13:] for each in found.results] == [word, f"once-{word}"]
        assert found.complete == 2
    several = ranking(tmp_path, "multiplication sheep grass").results
    exact, other = (each for each in several if each.match.url.startswith("http://a.org/once-mul"))
    assert exact.match.url.endswith("multiplication")
    assert exact.match.score > 1.1 * other.match.score
    assert ranking(tmp_path, "objectives").results[0].match.url == "http://a.org/objective"
    assert {each.match.url[13:] for each in ranking(tmp_path, "multiplicity").results} == {  # which no page has
        *("multiplication", "once-multiplication", "multiple", "once-multiple")
    }


def test_words_that_are_made_of_others_beside_pages_in_german(tmp_path: Path) -> None:
    """Where no two words are told apart: but those have no German stem in common."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number, (language, text) in enumerate([("en", "multiplication"), ("en", "multiple"), ("de", "Haus"), ("de", "Hauses")]):
        writer.add(Page(url(f"http://a.org/{number}"), "text/html", "", f"Here is {text}.", language=language))
    writer.commit()
    writer.close()
    assert names(ranking(tmp_path, "multiplication")) == ["0"]
    assert names(ranking(tmp_path, "Haus")) == ["2", "3"]


def test_names_are_found_by_their_words(tmp_path: Path) -> None:
    """And their words by the names."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    texts = {
        "name": "throws NullPointerException if",
        "words": "a null pointer exception is",
        "c": "in C",
        "c++": "in C++",
        "c#": "C#",
    }
    for name, text in {**texts, **{str(number): f"null and pointer and exception {number}" for number in range(5)}}.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="en"))
    writer.commit()
    writer.close()
    assert set(names(ranking(tmp_path, "null pointer exception"))[:2]) == {"name", "words"}
    assert set(names(ranking(tmp_path, "NullPointerException"))) == {"name", "words"}
    assert names(ranking(tmp_path, "c++")) == ["c++"]
    assert names(ranking(tmp_path, "C#")) == ["c#"]
    assert names(ranking(tmp_path, "nullpo*")) == names(ranking(tmp_path, "nullpointer?xception")) == ["name"]
    assert (names(ranking(tmp_path, "->")), ranking(tmp_path, "->").unknown) == ([], ["->"])


def test_a_page_that_mentions_a_name_is_not_called_so(tmp_path: Path) -> None:
    """``ONETOMANY`` in a text says little of it for who asks for one to many; in a title it does."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    texts = {
        "constants": ("", f"its direction is ONETOMANY, which {'is a number ' * 60}"),
        "about": ("", f"One to many: one parent has many children, which {'is a table ' * 60}"),
        "called": ("OneToMany", "a class"),
    }
    rest = {str(number): ("", f"{'one or many' if number % 4 else 'none'} to be named {number}") for number in range(40)}
    for name, (title, text) in {**texts, **rest}.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", title, text, language="en"))
    writer.commit()
    writer.close()
    scores = {each.match.url[13:]: each.match.score for each in ranking(tmp_path, "one to many", 50).results}
    assert scores["constants"] < 2 * scores["about"]
    assert scores["called"] > scores["about"]


def test_the_less_of_a_question_a_link_says_the_less_it_counts(tmp_path: Path) -> None:
    """Programs are called by verbs; that others call a page ``import`` is all for who asks for it, and little for a task."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    texts = {"a": "it can import pictures", "b": "to import a picture from a camera"}
    rest = {str(number): f"of other things {number}" for number in range(20)}
    for number, text in enumerate({**texts, **rest}.values()):
        writer.add(Page(Url(f"http://a.org/{number}", f"http://a.org/{number}", "a.org", number), "text/html", "", text))
    writer.commit()
    writer.close()
    write_anchors(tmp_path / ANCHORS, lambda after: [each for each in [(0, ["import"])] if each[0] > after])
    shares = []
    for query in ("import", "import picture camera", "import picture camera other things"):
        told = [json.loads(each.match.explanation)["details"] for each in ranking(tmp_path, query, explain=True).results]
        shares += [part["value"] for parts in told for part in parts if part["description"] == "links"]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 1.4 * shares[2]


def test_a_host_finds_its_home_page_first(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for place in ("x", "", "y/z"):
        address = url(f"http://www.example.org/{place}")
        text = "home" if not place else "example.org and example.org again"
        writer.add(Page(address, "text/html", text, text, meta=meta_words(address, "text/html")))
    writer.commit()
    writer.close()
    for text in ("example.org", "www.example.org", "http://www.example.org/"):
        assert names(ranking(tmp_path, text))[0] == "", text


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
    """Its words count as words without quotes; so they do among many, of which a page may lack some."""
    found = ranking(path, '"dog again"')
    assert ("dogs" in names(found), found.complete, found.found.loosened) == (True, 0, True)
    assert not ranking(path, '"dog again" -dog -dogs').total
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


def test_pages_of_results(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other they are the whole list, also where it goes on after the candidates."""
    whole = names(ranking(path, "cat dog nothing"))
    for candidates in (1, 2, 200):
        monkeypatch.setattr(fixed_weights, "CANDIDATES", candidates)
        pages = [names(ranking(path, "cat dog nothing", 1, at)) for at in range(5)]
        assert sorted(name for page in pages for name in page if name != "copy") == sorted(set(whole) - {"copy"})
    assert names(ranking(path, "cat", 10, 10**12)) == []


def test_weights(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed_weights, "TITLE", 9.0)
    assert names(ranking(path, "sleep cars"))[0] == "other"
    monkeypatch.setattr(fixed_weights, "MAIN", 0.0)
    assert "cats" not in names(ranking(path, "sleep animals"))


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
    values = SearchSettings()
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
    assert ranker.rank(tree, 9).results[0].match.url[-1] == "b"


def test_names_are_also_looked_for_word_by_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert names(ranking(tmp_path, "Config.inspect")) == ["whole", "apart"]
    there, nowhere = (
        sum(part for parts in explained(tmp_path, name) for label, part in parts.items() if label.startswith("within"))
        for name in ("Config.inspect", "inspect:config")
    )
    assert nowhere * fixed_weights.WITHIN_NAMES == pytest.approx(there), "a name that no page has is its words"
    monkeypatch.setattr(fixed_weights, "WITHIN_NAMES", 0.0)
    assert len(names(ranking(tmp_path, "Config.inspect"))) == 1


def explained(path: Path, text: str, own: Sequence[OwnScore] = ()) -> list[dict[str, float]]:
    """The parts of each result's score, whose sum it is."""
    found = ranking(path, text, explain=True, own=own)
    parts = [
        {each["description"]: each["value"] for each in json.loads(one.match.explanation)["details"]} for one in found.results
    ]
    for one, of_page in zip(found.results, parts, strict=True):
        assert one.match.score == pytest.approx(sum(of_page.values()), abs=2e-3)  # f32
    return parts


class Likes:
    """A scorer of a user's."""

    def __init__(self, says: Callable[[FoundPage], float]) -> None:
        self.score = says


def test_a_scorer_of_the_users_adds_to_the_score(path: Path) -> None:
    """YIOOP-69; with its weight, which may also be less than nothing."""
    likes = Likes(lambda page: float(page.title == "Dogs" and page.mime == "text/html" and "cat" in page.body))
    assert names(ranking(path, "cat")) == ["cats", "dogs"]
    liked = [OwnScore("mine:Likes", 10.0, likes), OwnScore("mine:All", 0.25, Likes(lambda _: 1))]
    assert names(ranking(path, "cat", own=liked)) == ["dogs", "cats"]
    assert [(parts.get("mine:Likes"), parts["mine:All"]) for parts in explained(path, "cat", own=liked)] == [
        (10.0, 0.25),
        (None, 0.25),
    ]
    assert names(ranking(path, "cat", own=[OwnScore("mine:Likes", -10.0, likes)])) == ["cats", "dogs"]


@pytest.mark.parametrize("score", ["no number", float("nan"), float("inf"), 1e308, None])
def test_a_scorer_that_fails_is_named(path: Path, score: object) -> None:
    with pytest.raises(ConfigError, match=r"^search\.own: mine:Likes .*http://a\.org/"):
        ranking(path, "cat", own=[OwnScore("mine:Likes", 1.0, Likes(lambda _: score))])  # type: ignore[arg-type,return-value]


def test_of_long_pages_the_one_with_the_best_passage_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = "lorem ipsum dolor sit amet consetetur. " * 30
    pages = {
        "apart": "".join(f"{word} {filler}" for word in ("discard", "file", "changes") * 4),
        "together": f"{filler * 6} to discard what the other changes do to that file {filler * 6}",
    }
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in pages.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "Manual", text, language="en"))
    writer.commit()
    writer.close()
    query = "how to discard a changed file"
    assert names(ranking(tmp_path, query)) == ["together", "apart"]
    first = ranking(tmp_path, query, explain=True).results[0].match
    parts = json.loads(first.explanation)
    assert parts["value"] == pytest.approx(first.score)
    assert "best passage" in {each["description"] for each in parts["details"]}
    monkeypatch.setattr(fixed_weights, "PASSAGES", 0.0)
    assert names(ranking(tmp_path, query)) == ["apart", "together"]


def test_of_many_pages_the_best_are_found_by_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have both words, and those that have one, are looked for by themselves: what is found is the same."""
    chance = Random(4)
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for number in range(300):
        words = chance.choices(("red", "car", "cars", "wheel", "road", "sky"), k=chance.randrange(1, 12))
        host = chance.choice(("a.org", "b.org"))
        where = Url(f"http://{host}/{number}", f"http://{host}/{number}", host, number)
        title = chance.choice(("red", "car", "a red car", "road", "wheel")) if number % 5 else "sky"
        words = words if number % 5 else ["sky"]
        meta = meta_words(where, "text/html", language="en")
        writer.add(Page(where, "text/html", title, " ".join(words), language="en", meta=meta))
    writer.commit()
    writer.close()
    texts = [(number, [chance.choice(("car", "red car", "boat", "red"))]) for number in sorted(chance.sample(range(300), 40))]
    write_anchors(tmp_path / ANCHORS, lambda after: [each for each in texts if each[0] > after])
    reader = IndexReader(tmp_path / "index")
    for text in ("red car", "wheel road", "red car site:a.org", "red car -sky", "red red", "the car", "boat car"):
        found = []
        for many in (1, 1_000_000):
            monkeypatch.setattr(retrieval, "_MANY", many)
            found.append(reader.retrieve(parse_question(text).tree, 300))
        assert [each.page for each in found[0].candidates] == [each.page for each in found[1].candidates], text
        scores = [[each.score for each in one.candidates] for one in found]
        assert scores[0] == pytest.approx(scores[1])
        assert (found[0].total, found[0].complete) == (found[1].total, found[1].complete)
