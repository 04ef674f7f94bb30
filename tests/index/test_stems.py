from __future__ import annotations

from pathlib import Path

import pytest

from larm.index import fields
from larm.index.analysis import Analyzer
from larm.index.forms import Forms
from larm.index.page import Page
from larm.index.schema import open_index
from larm.index.statistics import Statistics
from larm.index.stems import LANGUAGES, Stemmer
from larm.index.writer import IndexWriter
from larm.model.url import Url


def forms_of(path: Path, language: str, *texts: str) -> Forms:
    writer = IndexWriter(path / "index", 15_000_000, 1)
    writer.open(None)
    for number, text in enumerate(texts):
        url = f"http://a.org/{number}"
        writer.add(Page(Url(url, url, "a.org", number), "text/plain", "", text, language=language))
    writer.commit()
    writer.close()
    index = open_index(path / "index")
    index.reload()
    searcher = index.searcher()
    return Forms(searcher, fields.MAIN, Statistics(searcher).languages)


@pytest.mark.parametrize(
    ("language", "asked", "text", "found"),
    [
        ("en", "crawling", "crawled crawls craw", {"crawling", "crawled", "crawls"}),
        ("en", "happy", "happiness happen", {"happy", "happiness"}),
        ("de", "haus", "Häuser Hauses Hausbau", {"haus", "hauser", "hauses"}),
        ("ru", "книга", "книги книгу книжный", {"книга", "книги", "книгу"}),
        ("ar", "كتاب", "الكتاب بالكتاب كاتب", {"كتاب", "الكتاب", "بالكتاب"}),
        ("ar", "كِتَاب", "الكتاب كتابٌ", {"كِتَاب", "الكتاب", "كتابٌ"}),  # with signs for vowels
        ("el", "βαση", "βάση βάσης βάθος", {"βαση", "βάση", "βάσης"}),  # typed without its accent
        ("tr", "kitap", "kitaplar kitaplık", {"kitap", "kitaplar"}),
        ("", "crawlers", "crawler", {"crawlers", "crawler"}),  # no language known: English
        ("zh", "网", "网 页", {"网"}),
        ("en", "3.11", "3", {"3.11"}),
        ("en", "be", "been", {"be"}),  # too short to guess
    ],
)
def test_forms_of_a_word(tmp_path: Path, language: str, asked: str, text: str, found: set[str]) -> None:
    """All words of the index with its stem; itself always, and first."""
    forms = forms_of(tmp_path, language, text).of(asked)
    assert forms[0].word == asked
    assert {form.word for form in forms} == found


def test_languages_that_few_pages_have_do_not_count(tmp_path: Path) -> None:
    """English ``happiness`` is a form of ``happy``, but this index is German."""
    assert {form.word for form in forms_of(tmp_path, "de", "happiness").of("happy")} == {"happy"}


def test_function_words(tmp_path: Path) -> None:
    forms = forms_of(tmp_path, "de", "und")
    assert forms.is_function_word("und")
    assert forms.is_function_word("für")
    assert not forms.is_function_word("haus")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_all_languages_can_be_stemmed(language: str) -> None:
    stemmer = Stemmer(language)
    assert stemmer.stems(["abc", "\ud800".encode("utf-8", "replace").decode()]) == [stemmer.stem("abc"), "?"]
    assert stemmer.stem("two words") == "two words"
    assert stemmer.beginning("word").startswith("wo")
    stemmer.is_function_word("the")


@pytest.mark.parametrize(
    ("language", "word", "other"),
    [("ar", "في", "كتاب"), ("el", "είναι", "βιβλίο"), ("ro", "și", "carte"), ("tr", "için", "kitap"), ("en", "How", "book")],
)
def test_function_words_are_known_as_the_index_writes_them(language: str, word: str, other: str) -> None:
    stemmer = Stemmer(language)
    [written] = Analyzer().words(word)
    assert stemmer.is_function_word(written)
    assert not stemmer.is_function_word(other)


@pytest.mark.parametrize(
    ("word", "forms", "others"),
    [
        ("create", "creates created creating", "creation creative"),
        ("run", "runs running", "runner"),
        ("policy", "policies", "police"),
        ("control", "controls controlled controlling", "controller"),
        ("tie", "ties tied", ""),
        ("class", "classes", "classic"),
        ("string", "strings stringed", ""),
        ("install", "installs installed", "installation"),
        ("need", "needs needed needing", ""),
        ("exceed", "exceeds exceeded exceeding", ""),
        ("free", "freeing freed", "freely"),
    ],
)
def test_inflections_of_english(word: str, forms: str, others: str) -> None:
    stemmer = Stemmer("en")
    assert [form for form in forms.split() if not stemmer.is_inflection(word, form)] == []
    assert [other for other in others.split() if stemmer.is_inflection(word, other)] == []
    assert Stemmer("de").is_inflection("haus", "hauses")
