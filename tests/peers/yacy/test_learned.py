"""Documents that searches have fetched rank answers, and are found again until they are over or their author is denied."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.config import SearchSettings
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.yacy import learned as module
from larm.peers.yacy.item import LIFE, squeeze
from larm.peers.yacy.learned import Learned
from larm.peers.yacy.page import BadPageError, Page, read_page
from larm.peers.yacy.trust import Trust, Vote
from tests.peers.yacy.keys import FakeKey

NOW = 1_700_000_000.0
ONE, TWO = FakeKey(1).key, FakeKey(2).key
WORDS = [
    f"{first}{second}" for first in ("bel", "cam", "dor", "fen", "gol") for second in ("ta", "ri", "mo", "su", "ke", "lin")
]


def page(number: int, text: str = "the pelican flies", **fields: object) -> Page:
    return Page(url=f"http://h{number}.example/", title=f"Page {number}", text=text, language="en", **fields)  # type: ignore[arg-type]


def made(folder: Path, trust: Trust, most: int = 10) -> Learned:
    folder.mkdir(exist_ok=True)
    return Learned(folder / "learned", SearchSettings(), most, trust, shows=lambda key: key not in trust)


def found(learned: Learned, words: str = "pelican") -> set[str]:
    (part,) = learned.searcher.search(Asked(query=words, number=50))
    assert not part.failure
    assert not part.notes
    return {hit.url for hit in part.hits}


def ranked(learned: Learned, asked: Asked, pages: Sequence[Page]) -> Findings:
    return learned.find(asked, [*learned.fresh([each.hash for each in pages], NOW).values()])


@pytest.fixture
def trust() -> Trust:
    return Trust(None)


def test_pages_are_there_after_a_restart(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    assert found(learned) == set()
    learned.add([(ONE, page(1)), (TWO, page(2, "an otter swims"))], NOW)
    assert found(learned) == {page(1).url}
    learned.close()
    again = made(tmp_path, trust)
    assert (again.pages, found(again, "otter")) == (2, {page(2).url})
    again.add([(ONE, page(1, "the pelican sleeps"))], NOW + 60)
    assert (again.pages, found(again, "sleeps"), found(again, "flies")) == (2, {page(1).url}, set())


def test_pages_that_the_table_does_not_know_are_undone(tmp_path: Path, trust: Trust) -> None:
    """A kill between the index and the table."""
    learned = made(tmp_path, trust)
    learned.add([(ONE, page(1))], NOW)
    generation = learned._base.generation
    learned.add([(ONE, page(2))], NOW + 60)
    learned._base.write("DELETE FROM page WHERE normalised LIKE '%h2%'")
    learned._base.generation = generation
    learned.close()
    again = made(tmp_path, trust)
    again.add([(ONE, page(3))], NOW + 120)
    assert found(again) == {page(1).url, page(3).url}
    assert again.pages == 2


def test_a_damaged_index_begins_empty(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.add([(ONE, page(1))], NOW)
    learned.close()
    (tmp_path / "learned" / "index" / "meta.json").write_bytes(b"{")
    again = made(tmp_path, trust)
    again.add([(ONE, page(2))], NOW)
    assert found(again) == {page(2).url}


def test_oldest_pages_make_room(tmp_path: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAST", 3)
    learned = made(tmp_path, trust, most=3)
    for number in range(5):
        learned.add([(ONE, page(number))], NOW + number)
    assert found(learned) == {page(number).url for number in (2, 3, 4)}
    learned.add([(ONE, page(7, "the pelican " * 6_000))], NOW + 9)
    assert found(learned) == {page(7).url}, "a long page counts as several"


def test_pages_are_over_after_a_life(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.add([(ONE, page(1))], NOW)
    learned.tick(NOW + LIFE / 2)
    assert found(learned) == {page(1).url}
    learned.tick(NOW + LIFE)
    assert (learned.pages, found(learned)) == (0, set())


def test_pages_are_dropped_after_an_hour_where_none_are_kept(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust, most=0)
    learned.add([(ONE, page(1))], NOW)
    learned.tick(NOW + 3_600)
    assert learned.pages == 0
    learned.add([(ONE, page(1))], NOW)
    learned.close()
    assert made(tmp_path, trust, most=0).pages == 0


def test_denied_authors_and_sites_are_forgotten(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.add([(ONE, page(1)), (TWO, page(2)), (ONE, page(3))], NOW)
    trust.vote(TWO, Vote.DENIED)
    trust.deny_site("h3.example", denied=True)
    learned.tick(NOW + 1)
    assert found(learned) == {page(1).url}
    learned.forget()
    learned.tick(NOW + 2)
    assert (learned.pages, found(learned)) == (0, set())


def test_documents_are_fresh_for_an_hour_and_until_a_vote(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.add([(ONE, page(1))], NOW)
    names = [page(1).hash, page(2).hash]
    assert learned.fresh(names, NOW + 3_599) == {page(1).hash: page(1).url}
    assert not learned.fresh(names, NOW + 3_600)
    trust.vote(TWO, Vote.TRUSTED)
    assert not learned.fresh(names, NOW), "another author may be believed now"


@settings(max_examples=15, deadline=None)
@given(st.integers(-(1 << 63), (1 << 64) - 1), st.text(max_size=9), st.sampled_from(["", ":0", ":99999", "/\x00", "/%zz"]))
def test_no_page_of_a_stranger_stops_the_others(number: int, text: str, end: str) -> None:
    """Whatever a document says that its author has signed."""
    numbers = dict.fromkeys(("modified", "fetched", "size", "linked"), number)
    strange = Page(url="http://x.example" + end, title=text, text=text, language=text, mime=text, other=text, **numbers)
    strange = msgspec.structs.replace(strange, links=(text, text), description=text)
    try:
        body = squeeze(strange)
        pages = [read_page(body)]
    except (UnicodeEncodeError, OverflowError, BadPageError):
        pages = []
    with TemporaryDirectory() as folder:
        learned = made(Path(folder), Trust(None))
        learned.add([(ONE, each) for each in (*pages, page(1))], NOW, length=number)
        assert page(1).url in found(learned)
        learned.close()


@pytest.fixture(scope="module")
def many() -> list[Page]:
    random = Random(5)
    weights = [1 / (1 + n) for n in range(len(WORDS))]
    found = []
    for number in range(400):
        words = random.choices(WORDS, weights, k=random.randint(30, 200))
        title = " ".join(random.choices(WORDS, weights, k=random.randint(2, 9)))
        text = " ".join(f"{each} the" for each in words)
        found.append(Page(url=f"http://h.example/{number}", title=title, text=text, language="en"))
    return found


def test_candidates_are_ranked_as_all_pages(many: list[Page], tmp_path: Path, trust: Trust) -> None:
    whole, sample = made(tmp_path, trust, 1_000), made(tmp_path / "x", trust, 1_000)
    whole.add([(ONE, each) for each in many], NOW)
    for query in ("belta", "camri dormo", "belta camri dormo fensu golke bellin"):
        asked = Asked(query=query, number=100)
        expected = [hit.url for hit in ranked(whole, asked, many).hits]
        chosen = [each for each in many if each.url in expected[:60]]
        new = [(ONE, each) for each in chosen if not sample.fresh([each.hash], NOW)]
        sample.add(new, NOW, sum(len(each.text) for each in many) / len(many))
        words = {word: sum(word in each.text.split() for each in many) for word in query.split()}
        titles = {word: sum(word in each.title.split() for each in many) for word in query.split()}
        statistics = WordStatistics(len(many), texts=words, titles=titles, sample=sample.pages)
        hits = ranked(sample, Asked(query=query, number=100, statistics=statistics), chosen).hits
        assert {hit.url for hit in hits} <= {each.url for each in chosen}, "no others, though they are there"
        assert len({hit.url for hit in hits[:20]} & set(expected[:20])) >= 18, query


def test_link_texts_and_numbers_of_links_count(tmp_path: Path, trust: Trust) -> None:
    trust.vote(ONE, Vote.TRUSTED)
    learned = made(tmp_path, trust, 100)
    pages = [page(n, linked=n, links=("heron",) if n == 3 else ()) for n in range(6)]
    learned.add([(ONE, each) for each in pages], NOW)
    hits = ranked(learned, Asked(query="pelican"), pages).hits
    assert [hit.url for hit in hits] == [page(n).url for n in (5, 4, 3, 2, 1, 0)]
    assert found(learned, "heron") == {page(3).url}
    learned.add([(ONE, page(3))], NOW)
    assert found(learned, "heron") == set()
