from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larm import config
from larm.index.search.searcher import IndexSearcher
from larm.index.search.suggesting import MOST_SUGGESTED, Suggestion, merged
from larm.store.index import IndexStorage
from tests.store.stored_pages import page

PAGES = [
    page("http://a.org/1", "Rebasing a branch", "To rebase a branch, rebase it. The repository is not touched."),
    page("http://a.org/2", "Repositories", "A repository has branches. The rebase of one is the rebuilding of it."),
    page("http://a.org/3", "The\x1b remote", "A remote is a repository elsewhere, and there are the refs."),
    page("http://a.org/4", "东京塔", "东京塔是一座塔。"),
    page("http://a.org/5", "Zoé", "Zoé was here."),
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> IndexSearcher:
    directory = tmp_path_factory.mktemp("crawl")
    storage = IndexStorage(directory, config.IndexSettings())
    storage.open(None)
    storage.store(PAGES)
    storage.commit()
    storage.close()
    return IndexSearcher(directory)


def queries(searcher: IndexSearcher, typed: str) -> list[str]:
    return [each.query for each in searcher.suggest(typed)]


def test_the_last_word_is_completed(searcher: IndexSearcher) -> None:
    """Words of most pages first, one form of each; then titles."""
    found = searcher.suggest("re")
    assert [(each.query, each.pages) for each in found[:2]] == [("repository", 3), ("rebase", 2)]
    assert {"Rebasing a branch", "Repositories", "The remote"} <= {each.query for each in found}
    assert "rebase" not in queries(searcher, "rebase"), "it is typed already"


def test_beside_what_was_typed_before(searcher: IndexSearcher) -> None:
    assert set(queries(searcher, "elsewhere re")) == {"elsewhere repository", "elsewhere remote", "elsewhere refs"}
    assert "elsewhere rebase" not in queries(searcher, "elsewhere re"), "no page has both"
    assert queries(searcher, "site:b.org re") == []
    assert queries(searcher, "branch reb") == ["branch rebase", "branch rebuilding", "Rebasing a branch"]


def test_accents_may_be_characters_of_their_own(searcher: IndexSearcher) -> None:
    assert queries(searcher, "zoe\u0301") == queries(searcher, "zo\u00e9 ")
    assert queries(searcher, "zoe\u0301 her") == ["zo\u00e9 here"]


def test_what_suggests_nothing(searcher: IndexSearcher) -> None:
    """One letter, function words, nothing."""
    assert queries(searcher, "r") == []
    assert "there" not in queries(searcher, "th")
    assert "the" not in queries(searcher, "th")
    assert queries(searcher, "") == queries(searcher, "  ") == queries(searcher, "->") == []


def test_a_word_that_is_done_leads_to_titles(searcher: IndexSearcher) -> None:
    assert queries(searcher, "branch ") == ["Rebasing a branch"]


def test_scripts_without_spaces(searcher: IndexSearcher) -> None:
    assert queries(searcher, "东京") == ["东京塔"]


@example("\x1fON")
@given(st.text(max_size=30))
@settings(max_examples=50)
def test_anything_may_be_typed(searcher: IndexSearcher, typed: str) -> None:
    found = searcher.suggest(typed)
    assert len(found) <= MOST_SUGGESTED
    assert all(each.query.isprintable() for each in found)


def test_several_indexes_are_one() -> None:
    one = (Suggestion("repository", 3), Suggestion("rebase", 2), Suggestion("Repositories"))
    other = (Suggestion("rebase", 9), Suggestion("repositories"), Suggestion("Rebasing"))
    assert merged([one, other]) == (
        Suggestion("rebase", 11),
        Suggestion("repository", 3),
        Suggestion("Repositories"),
        Suggestion("Rebasing"),
    )
    many = [Suggestion(f"w{n}", 9 - n) for n in range(9)]
    assert merged([many]) == tuple(many[:MOST_SUGGESTED])
    assert [each.pages > 0 for each in merged([many, [Suggestion(f"Title {n}") for n in range(9)]])] == [True] * 4 + [False] * 4
