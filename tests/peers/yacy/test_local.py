"""A few pages are ranked as one index over all pages would rank them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from larm.config import SearchSettings
from larm.index import fields
from larm.index.analysis import Analyzer
from larm.kit.disk.files import is_there
from larm.model.findings import Asked, Findings, WordStatistics
from larm.peers.yacy.averages import Averages, averages_of
from larm.peers.yacy.local import Local, LocalIndex, local_search
from larm.peers.yacy.page import Page

WORDS = [
    f"{first}{second}" for first in ("bel", "cam", "dor", "fen", "gol") for second in ("ta", "ri", "mo", "su", "ke", "lin")
]
ASKED = ("belta", "camri dormo", "belta camri dormo fensu golke bellin")


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    random = Random(5)
    weights = [1 / (1 + n) for n in range(len(WORDS))]
    found = []
    for number in range(400):
        words = random.choices(WORDS, weights, k=random.randint(30, 200))
        title = " ".join(random.choices(WORDS, weights, k=random.randint(2, 9)))
        text = " ".join(f"{each} the" for each in words)
        found.append(Page(url=f"http://h.example/{number}", title=title, text=text, language="en"))
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    return local_search(SearchSettings(), tmp_path_factory.mktemp("peer") / "searches")


@pytest.fixture(scope="module")
def whole(pages: list[Page], local: Local) -> Iterator[LocalIndex]:
    with local(pages, Averages()) as index:
        yield index


def sampled(local: Local, pages: list[Page], chosen: list[Page], asked: Asked, terms: dict[str, dict[str, int]]) -> Findings:
    statistics = WordStatistics(len(pages), sample=len(chosen), terms=terms)
    with local(chosen, averages_of(pages, len(pages))) as index:
        return index.find(msgspec.structs.replace(asked, statistics=statistics))


def counted(pages: list[Page]) -> dict[str, dict[str, int]]:
    """As the network counts: all but function words."""
    analyzer = Analyzer()
    found: dict[str, dict[str, int]] = {fields.MAIN: {}, fields.TITLE: {}}
    for page in pages:
        for field, text in ((fields.MAIN, page.text), (fields.TITLE, page.title)):
            for word in set(analyzer.words(text)) - {"the"}:
                found[field][word] = found[field].get(word, 0) + 1
    return found


@pytest.mark.parametrize("query", ASKED)
def test_as_all_pages(pages: list[Page], whole: LocalIndex, local: Local, query: str) -> None:
    asked = Asked(query=query, number=100)
    expected = [hit.url for hit in whole.find(asked).hits]
    chosen = [page for page in pages if page.url in expected[:60]]
    found = [hit.url for hit in sampled(local, pages, chosen, asked, counted(pages)).hits]
    assert len(set(found[:20]) & set(expected[:20])) >= 19
    assert sum(one == other for one, other in zip(found[:10], expected[:10], strict=True)) >= 8


def test_without_what_is_known_of_all_pages_it_would_be_another_order(
    pages: list[Page], whole: LocalIndex, local: Local
) -> None:
    asked = Asked(query=ASKED[2], number=100)
    expected = [hit.url for hit in whole.find(asked).hits]
    chosen = [page for page in pages if page.url in expected[:60]]
    with local(chosen, Averages()) as index:
        assert [hit.url for hit in index.find(asked).hits][:20] != expected[:20]


def test_what_decides_is_known_before(pages: list[Page], local: Local) -> None:
    with local(pages[:50], Averages()) as index:
        statistics = WordStatistics(400, sample=50)
        assert index.decisive_words(Asked(query="belta camri", statistics=statistics)) == ["belta", "camri"]
        long = " ".join(dict.fromkeys([*ASKED[2].split(), *WORDS[10:14]]))
        many = index.decisive_words(Asked(query=long, statistics=statistics))
        assert len(long.split()) >= 9
        assert set(long.split()) < set(many), "and what may be added"
        quoted = index.decisive_words(Asked(query='belta "camri dormo" title:fensu', statistics=statistics))
        assert {"belta", "camri", "dormo", "fensu"} <= set(quoted), "also in quotes"


def test_a_query_is_read_in_the_languages_of_the_network(local: Local) -> None:
    """German takes "header" for a form of "head"; how many of the candidates are German is chance."""
    pages = [
        Page(url=f"http://h.example/{n}", text=f"The {word} of it is number{n} and what there is of that.", language=language)
        for n, (word, language) in enumerate((("header", "en"), ("head", "en"), ("other", "en"), ("other", "de")))
    ]
    found = {}
    for german in (0.0, 0.3):
        with local(pages, Averages((10.0, 0.0, 0.0, 0.0), 4, {"en": 1.0 - german, "de": german})) as index:
            found[german] = {hit.url[-1] for hit in index.find(Asked(query="header")).hits}
    assert found == {0.0: {"0"}, 0.3: {"0", "1"}}


def test_what_fills_it_is_never_found(pages: list[Page], local: Local) -> None:
    with local(pages[:5], Averages((800.0, 150.0, 20.0, 9.0), 5)) as index:
        for query in ("the", "belta OR -camri", "site:h.example", "lang:en"):
            assert all(hit.url.startswith("http://h.example/") for hit in index.find(Asked(query=query, number=50)).hits)


_KILLED = """
import sys
from pathlib import Path
from larm.config import SearchSettings
from larm.peers.yacy.local import local_search
from larm.peers.yacy.page import Page
from larm.peers.yacy.averages import Averages
with local_search(SearchSettings(), Path(sys.argv[1]))([Page(url="http://h.example/", text="belta")], Averages()):
    print("searching", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_has_left_goes_at_the_next_start(tmp_path: Path) -> None:
    notes = tmp_path / "searches"
    for _ in range(2):
        command = [sys.executable, "-c", _KILLED, str(notes)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"searching\n"
            process.kill()
        (note,) = notes.iterdir()
        folder = note.resolve()
        assert is_there(folder / "index" / "meta.json"), "its memory is lost as yet"
        with local_search(SearchSettings(), notes)([Page(url="http://h.example/", text="belta")], Averages()) as index:
            assert index.find(Asked(query="belta")).total == 1
            assert not is_there(folder)
        assert os.listdir(notes) == []


def test_only_its_own_folders_go_at_the_next_start(tmp_path: Path) -> None:
    notes, other = tmp_path / "searches", tmp_path / "other"
    notes.mkdir()
    (other / "below").mkdir(parents=True)
    (notes / "larm-0123").symlink_to(other)
    (notes / "link").symlink_to(other)
    local_search(SearchSettings(), notes)
    assert is_there(other / "below")
    assert os.listdir(notes) == []


def test_lengths_that_are_next_to_nothing_are_no_trouble(pages: list[Page], local: Local) -> None:
    """One peer alone may say so."""
    with local(pages[:3], Averages((1e-320,) * 4, 5)) as index:
        assert len(index.find(Asked(query="belta camri dormo", number=10)).hits) == 3
