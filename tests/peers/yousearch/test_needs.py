"""No peer that has an answer is left out (YOUS-16): real indexes, and queries with every operator."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from larm.config import SearchSettings
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.search.searcher import IndexSearcher
from larm.model.findings import Asked
from larm.peers.yousearch.needs import Needs, Term, needs_of
from larm.peers.yousearch.summary import Summary, marked, summary_of
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import has

WORDS = [
    "crawler",
    "crawlers",
    "crawling",
    "tide",
    "tides",
    "harbour",
    "harbours",
    "house",
    "houses",
    "häuser",
    "haus",
    "laufen",
    "läuft",
    "gelaufen",
    "hash",
    "map",
    "hashmap",
    "HashMap",
    "node",
    "js",
    "pg",
    "dump",
    "pg_dump",
    "node.js",
    "os.path",
    "init",
    "__init__",
    "c++",
    "--no-index",
    "東京",
    "大学",
    "東京大学",
    "maison",
    "maisons",
    "café",
    "the",
    "of",
    "and",
    "die",
    "der",
    "la",
    "et",
    "in",
    "who",
    "is",
    "2024",
    "v2",
    "naïve",
    "full-text",
    "x",
]
SHAPES = (
    "{0}",
    "{0} {1}",
    "{0} {1} {2}",
    '"{0} {1}"',
    '"{0} {1}" {2}',
    "{0} -{1}",
    "-{0}",
    "{0} OR {1}",
    "({0} OR {1}) {2}",
    "({0} {1}) OR {2}",
    "intitle:{0}",
    "intitle:({0} OR {1}) {2}",
    "inurl:{0} {1}",
    "site:a.org {0}",
    "filetype:html",
    "{0} lang:en",
    "hous* {0}",
    "the {0}",
    "{0} | {1} | {2}",
    "NOT {0} {1}",
    "http://a.org/3",
    "{0} before:2030",
)


def asked_for(needs: Needs, summary: Summary) -> bool:
    """As the registrar has it, for one peer."""

    def there(term: Term) -> bool:
        known = [(language, stem) for language, stem in term.stems if language in summary.languages]
        if known:
            return any(has(summary, marked(language, stem)) for language, stem in known)
        return has(summary, term.word)

    return all(any(all(map(there, way)) for way in clause) for clause in needs)


def peers(root: Path, number: int, chance: random.Random) -> list[tuple[IndexSearcher, Summary]]:
    found = []
    for at in range(number):
        words = chance.sample(WORDS, 14)
        pages = {f"http://a.org/{n}": " ".join(chance.choices(words, k=6)) for n in range(5)}
        directory = index(root / str(at), pages)
        reader = IndexReader(directory / "index")
        summary = summary_of(reader.all_words(), reader.statistics.languages)
        found.append((IndexSearcher(directory, SearchSettings()), summary))
    return found


def queries(number: int, chance: random.Random) -> Sequence[str]:
    return [chance.choice(SHAPES).format(*chance.choices(WORDS, k=3)) for _ in range(number)]


def left_out(root: Path, number: int, asked: int, seed: int) -> tuple[list[str], int, int]:
    """Those who have an answer and are not asked; how many had one; how many were spared."""
    chance = random.Random(seed)
    simulated = peers(root, number, chance)
    wrong, answered, spared = [], 0, 0
    for query in queries(asked, chance):
        needs = needs_of(parse_question(query).tree)
        for at, (searcher, summary) in enumerate(simulated):
            has_it = searcher.find(Asked(query=query)).complete > 0
            asks = asked_for(needs, summary)
            answered, spared = answered + has_it, spared + (not asks)
            if has_it and not asks:
                wrong.append(f"{query!r} of {at}: {needs}")
    return wrong, answered, spared


def test_nobody_with_an_answer_is_left_out(tmp_path: Path) -> None:
    wrong, answered, spared = left_out(tmp_path, 5, 90, seed=11)
    assert wrong == []
    assert answered > 75
    assert spared > 100


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_of_fifty_peers_nobody_with_an_answer_is_left_out(tmp_path: Path) -> None:
    wrong, answered, spared = left_out(tmp_path, 50, 1_000, seed=12)
    assert wrong == []
    assert min(answered, spared) > 10_000


@pytest.mark.parametrize("query", ["-tide", "hous*", "filetype:pdf", "site:a.org", "", "c++", "tide OR -eels", "+++"])
def test_where_nothing_is_needed_for_certain_all_are_asked(query: str) -> None:
    assert needs_of(parse_question(query).tree) == ()


def test_what_is_needed() -> None:
    def words(query: str) -> list[list[list[str]]]:
        return [[[term.word for term in way] for way in clause] for clause in needs_of(parse_question(query).tree)]

    assert words("the tide") == [[["tide"], ["thetide"]]]
    assert words("is the") == [[["is"], ["the"]]]
    assert words('"tide house" -x') == [[["tide"]], [["house"]]]
    assert words("hash map") == [[["hash"], ["hashmap"]], [["map"], ["hashmap"]]]
    assert words("HashMap") == [[["hashmap"], ["hash", "map"]]]
    assert words("tide OR (pond eel)") == [[["tide"], ["pond", "eel"]]]
    assert words("pg_dump") == [[["pg", "dump"]]]


@pytest.mark.parametrize(
    "query",
    [
        '"' + " ".join(f"w{n}" for n in range(60)) + '"',
        f"({'aa bb ' * 30}) OR ({'aa bb ' * 30})",
        "-".join(f"w{n}" for n in range(60)),
        " ".join(f"tides{n}" for n in range(60)),
    ],
)
def test_a_registrar_takes_what_is_needed_of_a_long_query(query: str) -> None:
    needs = needs_of(parse_question(query).tree)
    assert msgspec.convert(msgspec.to_builtins(needs), Needs) == needs


def test_a_word_is_asked_for_in_all_its_forms() -> None:
    ((way,),) = needs_of(parse_question("crawlers").tree)
    assert dict(way[0].stems)["en"] == "crawler"
    assert len(way[0].stems) == 18
