"""Words with accents: they are found without them, and count more as they were typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.config import SearchSettings
from larm.index.accents import accented
from larm.index.anchors import write_anchors
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.search.ranked import Ranker
from larm.index.statistics import QueryContext
from larm.index.writer import IndexWriter
from larm.model.findings import WordStatistics
from tests.store.stored_pages import url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("con ma \u0111i \u0111\u00e2u, M\u00c1 \u01a1i!", "\u0111i \u0111\u00e2u m\u00e1 \u01a1i"),
        ("(Stra\u00dfe) na\u00efve-Caf\u00e9, \u00abd\u00e9j\u00e0\u00bb", "stra\u00dfe na\u00efve caf\u00e9 d\u00e9j\u00e0"),
        ("\u0434\u043e\u043c \u6c34 3\u00d74 plain", ""),
        ("\u00e9" * 65, ""),
        ("", ""),
    ],
)
def test_which_words_have_accents(text: str, expected: str) -> None:
    """Those that the index folds: of other scripts it keeps all that they have."""
    assert list(accented(text)) == expected.split()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages about five words of Vietnamese that are one without accents."""
    directory = tmp_path_factory.mktemp("accents")
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for name, word in {"ghost": "ma", "mother": "m\u00e1", "but": "m\u00e0", "tomb": "m\u1ea3", "horse": "m\u00e3"}.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", f"Trang nay noi ve {word}.", language="vi"))
    for number in range(20):
        writer.add(Page(url(f"http://a.org/{number}"), "text/html", "", "Trang nay noi ve viec khac.", language="vi"))
    writer.commit()
    writer.close()
    return directory


@pytest.mark.parametrize(("typed", "first"), [("m\u00e1", "mother"), ("M\u1ea3", "tomb"), ("ma\u0303", "horse")])
def test_as_it_was_typed_comes_first_and_the_others_are_found(words: Path, typed: str, first: str) -> None:
    """Also where the accent was typed as a character of its own."""
    values = SearchSettings()
    ranker = Ranker(words, IndexReader(words / "index", values), values)
    names = [address.rpartition("/")[2] for address in ranker.urls(parse_question(typed).tree, 50)]
    assert names[0] == first
    assert set(names) == {"ghost", "mother", "but", "tomb", "horse"}


def test_neighbours_and_texts_of_links_count_less_where_nobody_knows_their_accents(tmp_path: Path) -> None:
    """mã hoá is to encrypt; a page that is called ma hoa is about something else, more often."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, text in {"typed": "mã x x x x x x hoá", "other": "mà hoa", "called": "none of it"}.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", text, language="vi"))
    writer.commit()
    writer.close()
    texts = [(url("http://a.org/called").fingerprint, ["mà hoa"])]
    write_anchors(tmp_path / "anchors", lambda after: [each for each in texts if each[0] > after])
    ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", SearchSettings()), SearchSettings())
    scores = {
        typed: {each.match.url[13:]: each.match.score for each in ranker.rank(parse_question(typed).tree, 9).results}
        for typed in ("ma hoa", "mã hoá")
    }
    assert scores["ma hoa"]["other"] > scores["ma hoa"]["typed"]
    assert scores["mã hoá"]["typed"] > scores["mã hoá"]["other"] > scores["mã hoá"]["called"]
    typed, folded = (found["called"] / found["typed"] for found in (scores["m\u00e3 ho\u00e1"], scores["ma hoa"]))
    assert typed < 0.5 * folded


def test_german_gross_is_a_form_of_groesse_and_comes_behind_it(tmp_path: Path) -> None:
    """Snowball's German stems are one, as of ``grosse``; in quotes a word has no other form."""
    writer = IndexWriter(tmp_path / "index", 15_000_000, 1)
    writer.open(None)
    for name, word in {"size": "Gr\u00f6\u00dfe", "tall": "gross", "large": "gro\u00df"}.items():
        writer.add(Page(url(f"http://a.org/{name}"), "text/html", "", f"Was ist das: {word}.", language="de"))
    for number in range(20):
        writer.add(Page(url(f"http://a.org/{number}"), "text/html", "", "Was ist das: etwas anderes.", language="de"))
    writer.commit()
    writer.close()
    ranker = Ranker(tmp_path, IndexReader(tmp_path / "index", SearchSettings()), SearchSettings())
    found = {
        typed: [address.rpartition("/")[2] for address in ranker.urls(parse_question(typed).tree, 50)]
        for typed in ("gr\u00f6\u00dfe", '"gr\u00f6\u00dfe"')
    }
    assert found["gr\u00f6\u00dfe"][0] == "size"
    assert set(found["gr\u00f6\u00dfe"]) == {"size", "tall", "large"}
    assert found['"gr\u00f6\u00dfe"'] == ["size"]


def test_of_several_indexes_accents_do_not_count(words: Path) -> None:
    """Their scores are compared, and not all may have the word as it was typed."""
    reader = IndexReader(words / "index", SearchSettings())
    tree = parse_question("m\u00e1").tree
    assert reader.word_statistics(tree).words == {"ma": 5, "= ma": 5, "main:ma": 5}
    reader.begin(QueryContext(everywhere=WordStatistics(100, {"ma": 10})))
    assert len({round(each.score, 5) for each in reader.retrieve(tree, 50).candidates}) == 1
