"""Several indexes as one: on real indexes, and on searchers that answer what and when the test wants."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from larm import config
from larm.building.searching import several
from larm.config import SearchSettings
from larm.index.search.gathering import Gathering
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.kit.clock import SystemClock
from larm.kit.deadline import Deadline, OutOfTimeError
from larm.kit.threads.workers import Workers
from larm.model.findings import Asked, Findings, WordStatistics, summed
from larm.model.hit import Hit
from larm.seams import Searcher
from larm.store.index import IndexStorage
from larm.testing.clock import FakeClock
from larm.testing.fakes import FakeSearcher
from tests.store.stored_pages import page

TIDES = "The tide comes in over the causeway. " * 3
FILLER = [f"Page number {number} speaks of the causeway and of carts." for number in range(30)]


def index(directory: Path, pages: dict[str, str]) -> Path:
    storage = IndexStorage(directory, config.IndexSettings())
    storage.open(None)
    storage.store([page(url, url.rpartition("/")[2], text) for url, text in pages.items()])
    storage.commit()
    storage.close()
    return directory


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """In the first, nearly every page has "causeway"; in the second, nearly every page has "carts"."""
    root = tmp_path_factory.mktemp("several")
    first = {f"http://a.org/{n}": text.replace(" and of carts", "") for n, text in enumerate(FILLER)}
    second = {f"http://b.org/{n}": text.replace("causeway", "wheel") for n, text in enumerate(FILLER)}
    return [
        index(root / "a", {**first, "http://a.org/tides": TIDES, "http://c.org/both": "A text about eels in ponds."}),
        index(root / "b", {**second, "http://b.org/old/tides": TIDES, "http://c.org/both": "A text about eels in rivers."}),
    ]


def hit(name: str, score: float, digest: int = 0) -> Hit:
    return Hit(title=name, url=f"http://{name}/", score=score, digest=digest)


def test_words_are_as_rare_as_in_all_together(two: list[Path]) -> None:
    """A page scores the same as in one index that has all of them, as far as words go."""
    asked = Asked(query="causeway carts", number=100)
    both = several(two, SearchSettings())
    statistics = both.statistics(asked)
    assert statistics is not None
    assert statistics.pages == 64
    assert {word: pages for word, pages in statistics.words.items() if ":" not in word} == {"causeway": 32, "carts": 30}
    together = both.results(asked)
    alone = IndexSearcher(two[1]).search("causeway carts", 100)
    best = {found.url: found.score for found in alone}
    shared = {found.url: found.score for found in together}
    assert best["http://b.org/old/tides"] > best["http://b.org/1"] * 1.5, "alone, causeway is rare"
    assert shared["http://b.org/old/tides"] < best["http://b.org/old/tides"] / 1.5, "in both it is as common as carts"


def test_a_word_that_is_in_another_index_is_known(tmp_path: Path) -> None:
    """One that has only words that are made of it has nothing to say."""
    texts = {"a": "The multiplication of two things.", "b": "There are multiple things."}
    apart = [index(tmp_path / name, {f"http://{name}.org/": text}) for name, text in texts.items()]
    results = several(apart, SearchSettings()).results(Asked(query="multiplication"))
    assert ([found.url for found in results], results.total, results.notes) == (["http://a.org/"], 1, ())


def test_what_one_index_lacks_is_not_said_to_be_nowhere(tmp_path: Path) -> None:
    """A symbol that another one has is no letter, either."""
    texts = {"a": "A language is C#, with a tide. 数据库", "b": "A language is C, with a causeway."}
    both = several([index(tmp_path / name, {f"http://{name}.org/": text}) for name, text in texts.items()], SearchSettings())
    results = both.results(Asked(query="C#"))
    assert ([found.url for found in results], results.total, results.notes) == (["http://a.org/"], 1, ())
    assert both.results(Asked(query="tide causeway")).notes == both.results(Asked(query="数据库 causeway")).notes == ()
    assert both.results(Asked(query="tide causeway ship")).notes == ('no page has "ship"',)


def test_the_same_page_and_the_same_text_are_shown_once(two: list[Path]) -> None:
    results = several(two, SearchSettings()).results(Asked(query="tide"))
    assert (len(results), results.total, results.exact) == (1, 1, True), "one text at two addresses"
    assert results.alike == 1, "which is said"
    results = several(two, SearchSettings()).results(Asked(query="tide", alike=True))
    assert sorted(found.url for found in results) == ["http://a.org/tides", "http://b.org/old/tides"]
    assert results.alike == 0
    results = several(two, SearchSettings()).results(Asked(query="eels"))
    assert ([found.url for found in results], results.alike) == (["http://c.org/both"], 0)
    assert results.hits[0].source in {str(two[0]), str(two[1])}


def test_the_same_text_under_another_title_is_another_page(tmp_path: Path) -> None:
    """As in one index of both."""
    apart = [index(tmp_path / name, {f"http://{name}.org/{name}": TIDES}) for name in "ab"]
    assert len(several(apart, SearchSettings()).results(Asked(query="tide"))) == 2


def test_pages_follow_each_other_and_numbers_are_lower_bounds(two: list[Path]) -> None:
    both = several(two, SearchSettings())
    seen = [found.url for number in range(1, 5) for found in both.results(Asked(query="page", number=10, page=number))]
    assert len(seen) == len(set(seen)) == 40
    results = both.results(Asked(query="page", number=10))
    assert (results.total, results.exact) == (30, False), "both have thirty; nobody knows whether the same"
    assert both.results(Asked(query="page", number=100)).total == 60, "all were seen"
    assert "the first 1,000" in both.results(Asked(query="page", number=100, page=11)).notes[0]


def test_weights(two: list[Path]) -> None:
    """YIOOP-75."""
    for weights, best in (([5.0, 1.0], "a.org"), ([1.0, 5.0], "b.org")):
        assert best in several(two, SearchSettings(), weights).results(Asked(query="number")).hits[0].url


def test_parts_come_as_they_are_done() -> None:
    slow, quick = FakeSearcher("slow", hit("s", 2.0)), FakeSearcher("quick", hit("q", 1.0))
    slow.may.clear()
    parts = SeveralSearchers([slow, quick]).search(Asked(query="x"))
    assert next(parts).searcher == "quick"
    slow.may.set()
    assert [part.searcher for part in parts] == ["slow"]


def test_who_does_not_answer_in_time_is_named() -> None:
    slow, quick = FakeSearcher("slow", hit("s", 2.0)), FakeSearcher("quick", hit("q", 1.0))
    slow.may.clear()
    results = SeveralSearchers([slow, quick]).results(Asked(query="x", seconds=0.2))
    assert [found.url for found in results] == ["http://q/"]
    assert results.unanswered == ("slow did not answer within 0.2 s",)
    assert not results.exact
    assert 0 < (slow.asked[0].seconds or 0) <= 0.2, "it knows how long it may work"
    slow.may.set()


def test_an_index_that_is_not_there_does_not_silence_the_others(two: list[Path], tmp_path: Path) -> None:
    results = several([two[0], tmp_path], SearchSettings()).results(Asked(query="tide"))
    assert len(results) == 1
    (sentence,) = results.unanswered
    assert sentence.startswith(f"{tmp_path} did not answer: no index in")


def test_one_searcher_is_asked_as_if_alone() -> None:
    only = FakeSearcher("only", hit("s", 2.0), total=77)
    results = SeveralSearchers([only]).results(Asked(query="x", number=1, page=7))
    assert (results.total, results.exact, results.hits[0].source) == (77, True, "")
    assert only.asked == [Asked(query="x", number=1, page=7)]


def test_several_of_several() -> None:
    """It is a searcher itself."""
    made = [FakeSearcher(name, hit(name, score), statistics=WordStatistics(1, {"x": 1})) for score, name in enumerate("abc", 1)]
    inner: Searcher = SeveralSearchers(made[:2])
    outer = SeveralSearchers([inner, made[2]])
    results = outer.results(Asked(query="x", number=2))
    assert [found.title for found in results] == ["c", "b"]
    assert outer.statistics(Asked(query="x")) == WordStatistics(3, {"x": 3})


def test_a_mistake_of_ours_is_loud() -> None:
    class Broken(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        SeveralSearchers([Broken("a"), FakeSearcher("b")]).results(Asked(query="x"))


def test_many_threads(two: list[Path]) -> None:
    both = several(two, SearchSettings())
    expected = [found.url for found in both.results(Asked(query="page tide"))]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [each.url for each in both.results(Asked(query="page tide"))], range(32)))
    assert all(each == expected for each in found)


class Steps(FakeClock):
    """Each look at the clock is a step."""

    looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return float(self.looks)


def test_the_work_itself_stops(two: list[Path]) -> None:
    """Wherever in the search its time is over; where only other spellings are missing, what was found is told."""
    query = "causway " + " ".join(f"carts{n} wheel" for n in range(3))
    needed = 0
    for seconds in range(1, 400):
        clock = Steps()
        searcher = IndexSearcher(two[1], clock=clock)
        try:
            found = searcher.find(Asked(query=query, seconds=seconds + 0.5))
        except OutOfTimeError:
            assert clock.looks <= seconds + 3, "it went on after its time"
            continue
        if not needed:
            needed = seconds
            assert "no time to look for other spellings" in " ".join(found.notes)
        if "no time" not in " ".join(found.notes):
            return
    pytest.fail("it never came to an end")


def test_a_search_that_is_stopped_says_so(two: list[Path]) -> None:
    results = several(two[:1], SearchSettings()).results(Asked(query="page", seconds=1e-9))
    assert results.unanswered == (f"{two[0]} did not answer: it took longer than 1e-09 s and was stopped",)
    assert several(two[:1], SearchSettings()).results(Asked(query="page", seconds=60)).total == 30


def test_questions_and_answers_can_be_sent(two: list[Path]) -> None:
    asked = Asked(query="tide", statistics=WordStatistics(3, {"tide": 2}))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(asked), type=Asked) == asked
    found = IndexSearcher(two[0]).find(asked)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Findings) == found
    assert msgspec.json.decode(msgspec.json.encode(found), type=Findings) == found


def test_statistics_add_up() -> None:
    assert summed([]) == WordStatistics()
    one, other = WordStatistics(2, {"a": 1, "b": 2}), WordStatistics(3, {"b": 1})
    assert summed([one, other]) == WordStatistics(5, {"a": 1, "b": 3})


def test_deadlines() -> None:
    clock = FakeClock()
    deadline = Deadline(clock, 2.0)
    assert deadline.left() == 2.0
    deadline.check()
    clock.advance(2.0)
    assert deadline.left() == 0.0
    with pytest.raises(OutOfTimeError):
        deadline.check()
    Deadline(SystemClock()).check()
    assert Deadline().left() is None


class InTwoSteps(FakeSearcher):
    """Says first what came quickly."""

    def __init__(self, then: Findings) -> None:
        super().__init__("network")
        self.then = then

    def search(self, asked: Asked) -> Iterator[Findings]:
        yield Findings(searcher=self.name, hits=(hit("early", 9.0),), total=1, preliminary=True)
        self.may.wait(asked.seconds)
        if self.may.is_set():
            yield self.then


def test_what_is_preliminary_gives_way_to_what_comes_later() -> None:
    searcher = InTwoSteps(Findings(searcher="network", hits=(hit("late", 1.0),), total=1))
    both = SeveralSearchers([searcher, FakeSearcher("other")])
    assert [found.title for found in both.results(Asked(query="x"))] == ["late"]
    searcher.may.clear()
    results = both.results(Asked(query="x", seconds=0.2))
    assert [found.title for found in results] == ["early"], "where nothing comes any more, it is better than nothing"
    assert results.unanswered == ("network did not answer within 0.2 s",)
    searcher.may.set()
    searcher.then = Findings(searcher="network", failure="there was no time")
    assert [found.title for found in both.results(Asked(query="x"))] == ["early"]


def test_a_page_grows_by_what_comes_later() -> None:
    searcher = InTwoSteps(Findings(searcher="network", hits=(hit("late", 1.0), hit("early", 0.5)), total=2))
    searcher.may.clear()
    gathering = Gathering(Asked(query="x"), [searcher], SystemClock())
    workers = Workers(lambda _, error: pytest.fail(str(error)))
    workers.start("larm-gather", gathering.run)
    gathering.wait_for_some(0.0)
    assert [found.title for found in gathering.results().hits] == ["early"]
    searcher.may.set()
    workers.join(10.0)
    assert [found.title for found in gathering.results().hits] == ["early", "late"], "what was seen does not move"
    assert gathering.order() == [1, 0], "but who wants it by rank has it"
    assert gathering.complete


def test_what_a_network_knows_is_ranked_by_it() -> None:
    """One of its peers has an index, too, in which words are as rare as there alone."""

    class Network(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            yield Findings(searcher=self.name, hits=(hit("a", 4.0), hit("b", 3.0), hit("c", 2.0)), total=3, overall=True)

    class Here(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            for found in super().search(asked):
                yield msgspec.structs.replace(found, notes=('no page has "x"',), suggestion="y")

    here = Here("here", hit("c", 20.0), hit("own", 18.0), hit("b", 15.0))
    results = SeveralSearchers([here, Network("network")]).results(Asked(query="x"))
    assert [found.title for found in results] == ["a", "b", "c", "own"]
    assert results.notes == (), "what no page has only the network knows"
    assert not results.suggestion


def test_who_has_pages_with_all_words_knows_how_they_are_spelt() -> None:
    class Elsewhere(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            yield Findings(searcher=self.name, hits=(hit("some", 1.0),), total=1, suggestion="risk queue")

    class Here(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            yield Findings(searcher=self.name, hits=(hit("all", 2.0),), total=1, complete=1)

    assert not SeveralSearchers([Elsewhere("elsewhere"), Here("here")]).results(Asked(query="disk queue")).suggestion
    assert SeveralSearchers([Elsewhere("elsewhere"), Elsewhere("other")]).results(Asked(query="disk queue")).suggestion


def test_what_was_borrowed_of_a_network_comes_after_what_it_has_shown() -> None:
    """It knows these pages, and they are not among its best."""

    class Network(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            yield Findings(searcher=self.name, hits=(hit("a", 4.0), hit("b", 3.0)), total=9, overall=True)

    class Learned(FakeSearcher):
        def search(self, asked: Asked) -> Iterator[Findings]:
            yield Findings(searcher=self.name, hits=(hit("x", 20.0), hit("a", 19.0), hit("y", 18.0)), total=3, borrowed=True)

    for both in ([Learned("kept"), Network("network")], [Network("network"), Learned("kept")]):
        results = SeveralSearchers(both).results(Asked(query="x"))
        assert [found.title for found in results] == ["a", "b", "x", "y"]
