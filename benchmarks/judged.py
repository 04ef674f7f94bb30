"""Collections with judgements: pages, questions, and which pages answer them; and how a ranking of them is scored.

The judged collections of research (Cranfield, CISI, XQuAD) are files of the shared test data; their documents go into an index
as they are. The questions about real sites are back-of-book indexes and the like; those sites are crawled by larm itself.
"""

from __future__ import annotations

import json
import lzma
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from larm.index.page import Page
from larm.index.writer import IndexWriter
from larm.model.url import Url

_DEPTH = 1_000
"""Places of a ranking that average precision looks at."""
_ABOUT = "http://judged/"


class Question(NamedTuple):
    """One query."""

    text: str
    gains: Mapping[str, int]
    """Names of the pages that answer it, and how well."""


class Score(NamedTuple):
    """Means over all questions that have an answer."""

    average_precision: float
    ndcg: float
    """Of the first ten."""
    reciprocal_rank: float
    """The same."""
    first: float
    """Share of questions with an answer in the first place."""
    questions: int


def measured(question: Question, names: Sequence[str]) -> Score:
    """One question; ``names``: the pages that were found, best first."""
    good = {name: gain for name, gain in question.gains.items() if gain > 0}
    places = [place for place, name in enumerate(names[:_DEPTH], 1) if name in good]
    ideal = _discounted(sorted(good.values(), reverse=True)[:10])
    return Score(
        sum(found / place for found, place in enumerate(places, 1)) / len(good),
        _discounted([good.get(name, 0) for name in names[:10]]) / ideal,
        1 / places[0] if places and places[0] <= 10 else 0.0,
        float(bool(places) and places[0] == 1),
        1,
    )


def score(rankings: Iterable[tuple[Question, Sequence[str]]]) -> Score:
    """``rankings``: each question with the names of the pages that were found, best first."""
    return mean([measured(question, names) for question, names in rankings if any(question.gains.values())])


def mean(scores: Sequence[Score]) -> Score:
    """Of single questions."""
    count = max(len(scores), 1)
    precision, ndcg, reciprocal, first = (sum(each[n] for each in scores) / count for n in range(4))
    return Score(precision, ndcg, reciprocal, first, count)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


class Judged:
    """A collection of files: ``corpus.jsonl.xz``, ``queries.jsonl``, ``qrels.tsv``."""

    def __init__(self, folder: Path, language: str) -> None:
        """``language``: empty where the documents do not say it, as those of research."""
        self.folder = folder
        self._language = language

    def index(self, directory: Path) -> None:
        """Put the documents into ``directory/index``."""
        writer = IndexWriter(directory / "index", 50_000_000, 1)
        writer.open(None)
        with lzma.open(self.folder / "corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
            for number, row in enumerate(map(json.loads, lines), 1):
                url = _ABOUT + row["id"]
                title, text = row.get("title", ""), row.get("text", "")
                writer.add(Page(Url(url, url, "judged", number), "text/plain", title, text, language=self._language))
        writer.commit()
        writer.close()

    def questions(self) -> list[Question]:
        """All that are judged."""
        gains: dict[str, dict[str, int]] = {}
        for line in (self.folder / "qrels.tsv").read_text().splitlines()[1:]:
            query, document, gain = line.split("\t")[:3]
            gains.setdefault(query, {})[_ABOUT + document] = int(gain)
        rows = map(json.loads, (self.folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
        return [Question(row["text"], gains[row["id"]]) for row in rows if row["id"] in gains]


def judged_collections(testdata: Path) -> dict[str, Judged]:
    """All that are there, by name; no documents of research say in which language they are, those of XQuAD do."""
    found = {name: Judged(testdata / f"ir-{name}" / "given", "") for name in ("cranfield", "cisi")}
    found |= {f"xquad {path.name}": Judged(path, path.name) for path in sorted((testdata / "ir-xquad" / "given").glob("*"))}
    return {name: each for name, each in found.items() if each.folder.is_dir()}


def site_questions(file: Path, root: str) -> list[Question]:
    """Questions about a site whose pages have addresses that begin with ``root``."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Question(row["query"], {root + path: 1 for path in row["relevant"]}) for row in rows]


def half(questions: Iterable[Question], which: int) -> list[Question]:
    """By a hash of the question. 0: the half that settings may be tuned on; 1: the other, to be reported."""
    return [each for each in questions if zlib.crc32(each.text.encode()) % 2 == which]
