from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import larm
from larm import config
from larm.errors import ConfigError, StorageError, UsageError
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.index.search.shared import SharedSearcher
from larm.model.findings import Asked
from larm.store.index import IndexStorage
from tests.store.stored_pages import page

PAGES = [
    page(
        "http://a.org/",
        "Home \x1b[1m",
        "All about crawlers. " + "Words and more words. " * 30 + "A crawler called larm is fast.",
    ),
    page("http://a.org/larm", "The crawler larm", "Its manual."),
    page("http://a.org/manual.pdf", "", "", mime="application/pdf"),
]


class FakeClock:
    """Each question takes a quarter of a second."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 0.25
        return self.now

    def wall(self) -> float:
        return 0.0


def new_storage(directory: Path) -> IndexStorage:
    storage = IndexStorage(directory, config.IndexSettings())
    storage.open(None)
    return storage


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crawl")
    storage = new_storage(directory)
    storage.store(PAGES)
    storage.commit()
    storage.close()
    return directory


def test_an_empty_index_says_that_it_is(tmp_path: Path) -> None:
    """A crawl may have just begun; the words are not to blame."""
    storage = new_storage(tmp_path)
    storage.commit()
    storage.close()
    [said] = IndexSearcher(tmp_path).search("crawler").notes
    assert said.startswith("the index has no page yet")


def test_a_search(crawl: Path) -> None:
    """The best page first, the words of the query marked, nothing that steers a terminal."""
    searcher = IndexSearcher(crawl, clock=FakeClock())
    assert searcher.documents == 3
    results = searcher.search("LARM Crawler")
    assert (results.total, results.took) == (2, 0.25)
    assert [(hit.title, hit.url, hit.mime) for hit in results.hits] == [
        ("The crawler larm", "http://a.org/larm", "text/html"),
        ("Home [1m", "http://a.org/", "text/html"),
    ]
    assert results.hits[0].score > results.hits[1].score > 0
    second = results.hits[1]
    assert second.parts[-4:] == (("crawler", True), (" called ", False), ("larm", True), (" is fast.", False))
    assert second.snippet.endswith("A crawler called larm is fast.")
    assert second.html.endswith("A <mark>crawler</mark> called <mark>larm</mark> is fast.")
    assert [hit.url for hit in results] == [hit.url for hit in results.hits]
    assert (len(results), results.query, results.notes, results.suggestion) == (2, "LARM Crawler", (), "")


def test_the_words_around_a_question_are_not_marked(crawl: Path) -> None:
    hits = larm.open_index(crawl).search("is a crawler called").hits
    (shown,) = (hit.parts for hit in hits if hit.url == "http://a.org/")
    assert [text for text, mark in shown if mark] == ["crawler", "called"]


def test_a_page_without_text_is_found_by_its_url(crawl: Path) -> None:
    """Its title is its URL, its snippet is empty."""
    (hit,) = (hit for hit in IndexSearcher(crawl).search("manual pdf").hits if hit.complete)
    assert (hit.title, hit.snippet, hit.mime) == ("http://a.org/manual.pdf", "", "application/pdf")


def test_pages_and_limits(crawl: Path) -> None:
    searcher = IndexSearcher(crawl)
    everything = [hit.url for hit in searcher.search("org").hits]
    assert len(everything) == 3
    for number, url in enumerate(everything, 1):
        results = searcher.search("org", 1, number)
        assert ([hit.url for hit in results.hits], results.total) == ([url], 3)
    assert searcher.search("org", 10, 2).hits == ()
    assert len(searcher.search("org", 0, -5).hits) == 1
    assert searcher.search("org", 10, 10**12).total == 3


def test_words_that_a_pattern_stands_for_are_marked(crawl: Path) -> None:
    for pattern in ("craw*", "crawl?r*"):
        assert any("<mark>crawler" in hit.html for hit in IndexSearcher(crawl).search(pattern).hits), pattern


def test_explain(crawl: Path) -> None:
    searcher = IndexSearcher(crawl)
    assert searcher.search("larm").hits[0].explanation == ""
    assert '"value"' in searcher.search("larm", explain=True).hits[0].explanation


PIECES = [
    "larm",
    '"',
    "crawler",
    ":",
    "-",
    "(",
    ")",
    "OR",
    "|",
    "AND",
    "\\",
    "😀",
    "漢字",
    "site:",
    "a.org",
    "intitle:",
    "link:",
]
PIECES += [
    "info:http://a.org/",
    "before:2024",
    "after:x",
    "filetype:pdf",
    "craweler",
    "\x00",
    "\ud800",
    " ",
    "path:/",
    "cld:all",
]


@settings(max_examples=300)
@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join), st.integers(), st.integers())
def test_anything_may_be_typed(crawl: Path, text: str, n: int, number: int) -> None:
    """Never raises; never more than asked for; what is suggested finds more."""
    searcher = IndexSearcher(crawl)
    results = searcher.search(text, n, number, explain=True)
    assert len(results) <= max(1, n)
    assert len(results) <= results.total <= 3
    assert all(len(note) < 250 for note in results.notes)
    assert not results.suggestion or searcher.search(results.suggestion).complete > results.complete


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("crawler -manual", ["/"]),
        ("crawler OR manual", ["/larm", "/", "/manual.pdf"]),
        ("intitle:home", ["/"]),
        ("inurl:manual", ["/manual.pdf"]),
        ("site:a.org filetype:pdf", ["/manual.pdf"]),
        ("type:pdf", ["/manual.pdf"]),
        ("type:html", ["/", "/larm"]),
        ("crawler -type:html", []),
        ("site:b.org", []),
        ("-crawler", ["/manual.pdf"]),
        ("info:a.org/larm", ["/larm"]),
        ("http://a.org/larm", ["/larm"]),
        ("http://a.org/larm/", ["/larm"]),
        ('"crawler called larm"', ["/"]),
        ("date:all host:all", ["/"]),
    ],
)
def test_operators(crawl: Path, query: str, urls: list[str]) -> None:
    found = [hit.url.removeprefix("http://a.org") for hit in IndexSearcher(crawl).search(query)]
    assert sorted(found) == sorted(urls)


def test_which_pages_have_all_the_words(crawl: Path) -> None:
    results = IndexSearcher(crawl).search("crawler manual nowhere")
    assert results.complete == 0 < results.total
    assert results.notes == ('no page has "nowhere"',)
    assert not any(hit.complete for hit in results)
    assert all(hit.complete for hit in IndexSearcher(crawl).search("site:a.org"))
    assert IndexSearcher(crawl).search("crawler manual").hits[0].complete


def test_a_bad_query_is_answered_and_explained(crawl: Path) -> None:
    results = IndexSearcher(crawl).search("site: crawler link:http://[ link:a.org")
    assert results.total == 2
    assert results.notes == (
        "site: was taken for a word: not followed by a host",
        "link:http://[ was ignored: not a URL: its host or port is malformed",
        "link: was ignored: there is no link graph; a crawl makes one unless it runs with --no-index",
        'no page has "site:"',
    )


def test_another_spelling(crawl: Path) -> None:
    """Where nothing was found, its pages are shown at once."""
    results = IndexSearcher(crawl).search("site:a.org Craweler fsat")
    assert (results.total, results.suggestion, results.query) == (2, "", "site:a.org Craweler fsat")
    assert results.notes[0] == "nothing found for site:a.org Craweler fsat; these pages are for site:a.org Crawler fast"
    results = IndexSearcher(crawl).search("Craweler manual")  # the second word is there, and the first can't be lost
    assert next((hit.url, hit.complete) for hit in results) == ("http://a.org/larm", True)
    assert (results.query, results.complete, results.suggestion) == ("Craweler manual", 1, "")
    assert results.notes == ("no page has all of Craweler manual; these pages are for Crawler manual",)
    assert results.instead == "Crawler manual"
    typed = IndexSearcher(crawl).search("Craweler manual", as_typed=True)
    assert (typed.instead, typed.suggestion, typed.complete) == ("", "Crawler manual", 0)
    assert not IndexSearcher(crawl).search("Craweler fsat", as_typed=True).total


def test_words_in_quotes_that_no_page_has(crawl: Path) -> None:
    results = IndexSearcher(crawl).search('"manual crawler"')
    assert (results.complete, results.total > 0) == (0, True)
    note = "no page has what is in quotes, and the rest; these pages have words of it"
    assert results.notes == (note, 'no page has "manual crawler"')
    assert IndexSearcher(crawl).search("fast words -manual").suggestion == ""
    several = SeveralSearchers([SharedSearcher("a", lambda: IndexSearcher(crawl))])
    assert several.results(Asked(query="Craweler")).total == 2
    assert IndexSearcher(crawl).search("crawler").suggestion == ""


def test_words_that_are_made_of_one_that_is_nowhere(tmp_path: Path) -> None:
    storage = new_storage(tmp_path)
    storage.store([page("http://a.org/", "", "A relation of things, and others. " * 9)])
    storage.commit()
    searcher = IndexSearcher(tmp_path)
    assert searcher.search("relativity").notes == ('no text has "relativity"; these have relation',)
    assert searcher.search("relations").notes == searcher.search("relation").notes == ()


def test_a_page_that_asks_not_to_be_quoted(tmp_path: Path) -> None:
    storage = new_storage(tmp_path)
    visit = page("http://a.org/", "Secret", "a secret word")
    assert visit.document
    storage.store([msgspec.structs.replace(visit, document=msgspec.structs.replace(visit.document, snippet=0))])
    storage.commit()
    storage.close()
    (hit,) = IndexSearcher(tmp_path).search("secret")
    assert (hit.title, hit.snippet) == ("Secret", "")


def test_searching_while_a_crawl_writes(tmp_path: Path) -> None:
    """Each search sees the latest commit."""
    storage = new_storage(tmp_path)
    searcher = IndexSearcher(tmp_path)
    assert searcher.search("larm").total == 0
    for number in range(1, 4):
        storage.store([page(f"http://a.org/{number}", "larm")])
        assert searcher.search("larm").total == number - 1
        storage.commit()
        assert searcher.search("larm").total == number
    storage.close()


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("text", "word", "marked"),
    [("Le résumé est là.", "résumé", "résumé"), ("İstanbul büyük", "istanbul", "İstanbul"), ("एक लड़की थी", "लड़की", "लड़की")],
)
def test_accents_apart_from_their_letters(
    tmp_path: Path, stored: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"], text: str, word: str, marked: str
) -> None:
    """A page and a query may have them so or so."""
    storage = new_storage(tmp_path)
    storage.store([page("http://a.org/", "title", normalize(stored, text)), page("http://a.org/2", "title", "re sume la ki")])
    storage.commit()
    storage.close()
    (hit,) = IndexSearcher(tmp_path).search(normalize(asked, word))
    assert [part for part, mark in hit.parts if mark] == [normalize("NFC", marked)]


def test_no_index_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no index in .*: 'larm crawl URL' makes one, .*; --dir names another"):
        IndexSearcher(tmp_path)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "meta.json").write_text("{}")
    with pytest.raises(StorageError, match="index"):
        IndexSearcher(tmp_path)


def test_the_api(crawl: Path) -> None:
    results = larm.open_index(str(crawl)).search("crawler")
    assert [hit.title for hit in results] == ["The crawler larm", "Home [1m"]
    assert larm.open_index(crawl).documents == 3


def test_the_api_takes_its_settings_from_the_directory(tmp_path: Path) -> None:
    storage = new_storage(tmp_path)
    storage.store([page("http://a.org/1", "tide", "x")])
    storage.commit()
    storage.close()
    (tmp_path / "words").write_text("tide, flood\n")
    assert larm.open_index(tmp_path).search("flood").hits == ()
    (tmp_path / "config.yaml").write_text("search: {synonyms: words}")
    assert [hit.url for hit in larm.open_index(tmp_path).search("flood").hits] == ["http://a.org/1"]
    (tmp_path / "config.yaml").write_text("search: {synonym: 1}")
    with pytest.raises(ConfigError, match=r"did you mean search\.synonyms"):
        larm.open_index(tmp_path)


def test_importing_the_package_is_cheap() -> None:
    """tantivy is loaded by whoever opens an index, not by the command line or the pure modules."""
    code = "import sys; from larm.index.search import query, snippets, results; sys.exit('tantivy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
