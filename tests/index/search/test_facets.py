"""Facets, sorting by date, narrowing down; of one index and of several."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.search.results import Results
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.index.search.shared import SharedSearcher
from larm.index.writer import IndexWriter
from larm.model.facets import Facet, FacetValue, Narrowed, summed_facets
from larm.model.findings import Asked
from larm.model.url import URLNormalizer
from larm.testing.clock import FakeClock

DAY = 86_400
NOW = 1_000 * DAY
"""As all searchers here have it."""
HOSTS = [f"h{number}.org" for number in range(60)]
Row = tuple[str, str, str, int, str]
"""Address, MIME type, language, days since it was changed (-1: not known), text."""
TWO: list[Row] = [
    ("http://a.org/new", "text/html", "en", 0, "The heron stands in the reeds."),
    ("http://a.org/old", "text/html", "en", 800, "A heron and a stork stand in the reeds."),
    ("http://b.org:8080/paper", "application/pdf", "de", 20, "Heron, stork and crane."),
    ("http://b.org:8080/when", "text/html", "", -1, "No heron here but a stork."),
]


def index(directory: Path, rows: list[Row]) -> Path:
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for address, mime, language, days, text in rows:
        url = URLNormalizer().parse(address)
        changed = 0 if days < 0 else NOW - days * DAY - 60
        meta = meta_words(url, mime, language=language, modified=changed)
        writer.add(Page(url, mime, "", text, language=language, modified=changed, meta=meta))
    writer.commit()
    writer.close()
    return directory


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index(tmp_path_factory.mktemp("birds"), TWO)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty hosts, of which all but the last have two pages."""
    rows: list[Row] = [(f"http://{host}/{n}", "text/html", "en", 5, f"Wren {n}.") for host in HOSTS[:-1] for n in range(2)]
    return index(tmp_path_factory.mktemp("many"), [*rows, (f"http://{HOSTS[-1]}/", "text/html", "en", 0, "Wren, heron, kite.")])


def ask(directory: Path, query: str, **asked: object) -> Results:
    return IndexSearcher(directory, clock=FakeClock(NOW)).results(Asked(query=query, **asked))  # type: ignore[arg-type]


def counted(results: Results) -> dict[str, dict[str, int]]:
    return {facet.name: {each.value: each.pages for each in facet.values} for facet in results.facets}


def paths(results: Results) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in results]


def test_all_pages_that_match_are_counted(birds: Path) -> None:
    """Not only those that are shown; a host with a port once."""
    assert counted(ask(birds, "heron stork", number=1, facets=True)) == {
        "site": {"a.org": 2, "b.org": 2},
        "type": {"text/html": 3, "application/pdf": 1},
        "language": {"en": 2, "de": 1},
        "age": {"day": 1, "week": 1, "month": 2, "year": 2},
    }
    assert counted(ask(birds, "crane", facets=True))["site"] == {"b.org": 1}
    assert ask(birds, "crane").facets == ()
    assert ask(birds, "", facets=True).facets == ()


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        (Narrowed(site="a.org"), {"new", "old"}),
        (Narrowed(site="B.org"), {"paper", "when"}),
        (Narrowed(type="text/html", language="en"), {"new", "old"}),
        (Narrowed(age="month"), {"new", "paper"}),
        (Narrowed(age="day"), {"new"}),
        (Narrowed(site="c.org"), set()),
        (Narrowed(site='" OR *'), set()),
    ],
)
def test_each_value_finds_what_was_counted(birds: Path, narrowed: Narrowed, found: set[str]) -> None:
    results = ask(birds, "heron stork", narrowed=narrowed, facets=True)
    assert set(paths(results)) == found
    assert results.total == len(found)


def test_a_site_of_few_pages_is_counted_where_a_result_is_of_it(many: Path) -> None:
    """Only the fifty commonest hosts of an index are looked for, and those of the results."""
    results = ask(many, "wren", facets=True)
    (sites,) = (facet for facet in results.facets if facet.name == "site")
    assert not sites.whole
    assert len(sites.values) >= 50
    assert HOSTS[-1] not in {each.value for each in sites.values[:50]}
    assert counted(ask(many, "kite", facets=True))["site"] == {HOSTS[-1]: 1}


def test_by_date(birds: Path) -> None:
    """What has all words, the newest first; what has no date last. Where no page has all of them, what has some."""
    assert paths(ask(birds, "heron", sort="date")) == ["new", "paper", "old", "when"]
    results = ask(birds, "heron stork", sort="date")
    assert (paths(results), results.total) == (["paper", "old", "when"], 3)
    assert paths(ask(birds, "heron stork", sort="date", number=1, page=2)) == ["old"]
    assert paths(ask(birds, "heron stork", sort="date", number=10, page=9)) == []
    assert paths(ask(birds, "heron reeds crane", sort="date")) == ["new", "paper", "old", "when"]
    assert ask(birds, "nothing", sort="date").total == 0


def test_several_indexes_are_one(birds: Path, many: Path) -> None:
    both = SeveralSearchers(
        [
            SharedSearcher(path.name, lambda path=path: IndexSearcher(path, SearchSettings(), FakeClock(NOW)))  # type: ignore[misc]
            for path in (birds, many)
        ]
    )
    results = both.results(Asked(query="heron", facets=True))
    assert counted(results)["type"] == {"text/html": 4, "application/pdf": 1}
    assert counted(results)["age"]["day"] == 2
    assert paths(both.results(Asked(query="heron", sort="date"))) in (
        ["new", "", "paper", "old", "when"],
        ["", "new", "paper", "old", "when"],
    )
    assert [hit.source for hit in both.results(Asked(query="heron", narrowed=Narrowed(site=HOSTS[-1])))] == [many.name]


def test_sums() -> None:
    one = Facet("site", (FacetValue("a", 2), FacetValue("b", 1)))
    other = Facet("site", (FacetValue("b", 4),), whole=False)
    assert summed_facets([one, other]) == (Facet("site", (FacetValue("b", 5), FacetValue("a", 2)), whole=False),)
    ages = [Facet("age", (FacetValue("year", 1),)), Facet("age", (FacetValue("day", 1), FacetValue("year", 9)))]
    assert summed_facets(ages) == (Facet("age", (FacetValue("day", 1), FacetValue("year", 10))),)
