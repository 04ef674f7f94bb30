"""What searches have brought is found again, here and after a restart, until it is over or its author is denied."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.model.findings import Asked
from larm.peers.yacy.item import LIFE
from larm.peers.yacy.learned import Learned
from larm.peers.yacy.page import Page
from larm.peers.yacy.trust import Trust, Vote
from tests.peers.yacy.keys import FakeKey

NOW = 1_700_000_000.0
ONE, TWO = FakeKey(1).key, FakeKey(2).key


def page(number: int, text: str = "the pelican flies") -> Page:
    return Page(url=f"http://h{number}.example/", title=f"Page {number}", text=text, language="en")


def made(folder: Path, trust: Trust, most: int = 10) -> Learned:
    return Learned(folder, "test", SearchSettings(), most, trust)


def found(learned: Learned, words: str = "pelican") -> set[str]:
    (part,) = learned.searcher.search(Asked(query=words, number=50))
    assert not part.failure
    assert not part.notes
    return {hit.url for hit in part.hits}


@pytest.fixture
def trust() -> Trust:
    return Trust(None)


def test_it_begins_empty(tmp_path: Path, trust: Trust) -> None:
    assert found(made(tmp_path, trust)) == set()


def test_it_is_there_after_a_restart(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.note([(ONE, page(1)), (TWO, page(2, "an otter swims"))])
    assert found(learned) == set(), "not before it is written"
    learned.tick(NOW)
    assert found(learned) == {page(1).url}
    learned.close()
    again = made(tmp_path, trust)
    assert (again.pages, found(again, "otter")) == (2, {page(2).url})
    again.note([(ONE, page(1, "the pelican sleeps"))])
    again.tick(NOW + 60)
    assert (again.pages, found(again, "sleeps")) == (2, {page(1).url})


def test_what_the_table_does_not_know_is_undone(tmp_path: Path, trust: Trust) -> None:
    """A kill between the index and the table."""
    learned = made(tmp_path, trust)
    learned.note([(ONE, page(1))])
    learned.tick(NOW)
    generation = learned._base.generation
    learned.note([(ONE, page(2))])
    learned.tick(NOW + 60)
    learned._base.write("DELETE FROM page WHERE normalised LIKE '%h2%'")
    learned._base.generation = generation
    learned.close()
    again = made(tmp_path, trust)
    again.note([(ONE, page(3))])
    again.tick(NOW + 120)
    assert found(again) == {page(1).url, page(3).url}
    assert again.pages == 2


def test_there_is_an_end_and_it_is_counted(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust, most=3)
    learned.note([(ONE, page(n)) for n in range(5)])
    learned.tick(NOW)
    learned.note([(ONE, page(9))])
    learned.tick(NOW + 60)
    assert (learned.pages, learned.passed_over) == (3, 3)


def test_it_is_over_after_a_life(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.note([(ONE, page(1))])
    learned.tick(NOW)
    learned.tick(NOW + LIFE / 2)
    assert found(learned) == {page(1).url}
    learned.tick(NOW + LIFE)
    assert (learned.pages, found(learned)) == (0, set())


def test_who_is_denied_is_forgotten(tmp_path: Path, trust: Trust) -> None:
    learned = made(tmp_path, trust)
    learned.note([(ONE, page(1)), (TWO, page(2)), (ONE, page(3))])
    learned.tick(NOW)
    trust.vote(TWO, Vote.DENIED)
    trust.deny_site("h3.example", denied=True)
    learned.tick(NOW + 1)
    assert found(learned) == {page(1).url}
    learned.forget()
    learned.tick(NOW + 2)
    assert (learned.pages, found(learned)) == (0, set())
