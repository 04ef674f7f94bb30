"""How well larm ranks, beside plain BM25 with stems (bm25s) and plain tantivy, and with each part of the ranking left out.

``python -m benchmarks.ranking [--only NAME] [--half 0] [--ablation] [-s tie=0.3]``. Sites are crawled by larm from nginx on
loopback, once; ``--cache`` keeps their directories. Of all questions, those of one half (``--half 0``, the default) are there
to find good settings; the others (``--half 1``) are reported, and looked at for nothing else. The first table has MAP for
Cranfield and CISI and MRR@10 for all others. The second says how much larm's figure is above the better of the two others, and
the standard error of that: of the mean of the differences, question by question.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from benchmarks.howto import HOW_TO, howto_sets
from benchmarks.judged import Question, Score, half, judged_collections, mean, measured, site_questions
from benchmarks.nginx import Nginx
from benchmarks.rivals import bm25s_ranking, tantivy_ranking, texts_of
from benchmarks.sites import CACHE, TESTDATA, Site, known_sites, run, unpack
from larm.config import Search, load
from larm.index.reader import IndexReader
from larm.index.search.query import parse_question
from larm.index.search.ranked import Ranker

ABLATIONS: dict[str, dict[str, Any]] = {
    "larm": {},
    "no texts of links": {"anchors": 0},
    "no number of links": {"link_rank": 0},
    "no nearness": {"proximity": 0},
    "no coverage": {"coverage": 0},
    "no feedback": {"feedback": 0},
    "no passages": {"passages": 0},
    "no other forms": {"other_forms": 0},
    "function words as others": {"function_words": 1},
    "rarity as in BM25": {"rarity": 0},
    "only main text and title": {"fields.url": 0, "fields.description": 0, "fields.other": 0},
    "title as main text": {"fields.title": 1},
    "fields add up": {"tie": 1},
    "BM25 of the main text alone": {
        **dict.fromkeys(("anchors", "link_rank", "proximity", "coverage", "feedback", "passages", "other_forms", "rarity"), 0),
        **dict.fromkeys(("fields.title", "fields.url", "fields.description", "fields.other"), 0),
        "function_words": 1,
    },
}
_DEPTH = 1_000


class _Collection(NamedTuple):
    name: str
    directory: Path
    """Of a crawl: with an index in it."""
    language: str
    measure: int
    """Which part of a score is told."""
    questions: Sequence[Question]


class _Measured(NamedTuple):
    scores: list[Score]
    took: float
    """Seconds of processor time for a question."""


def main() -> None:
    """What the command line asks for."""
    options = _options()
    scratch = Path(tempfile.mkdtemp(prefix="larm-ranking-"))
    try:
        collections = list(_collections(options, scratch))
        print(f"{'':32}" + "".join(f"{each.name:>14}" for each in collections))
        results: list[_Measured] = []
        for title, change in (ABLATIONS if options.ablation else {"larm": {}}).items():
            given = dict(pair.split("=", 1) for pair in options.set)
            settings = load(None, (), {f"search.{key}": _value(value) for key, value in {**change, **given}.items()}).search
            results = [measure(each.directory, each.questions, settings) for each in collections]
            _row(title, collections, [each.scores for each in results])
        if not options.ablation:
            rivals = _rivals(collections)
            for name, scores in rivals.items():
                _row(name, collections, scores)
            _advantage(collections, [each.scores for each in results], list(rivals.values()))
            _details(collections, results)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _row(title: str, collections: Sequence[_Collection], results: Sequence[Sequence[Score]]) -> None:
    cells = [f"{mean(scores)[each.measure]:14.4f}" for each, scores in zip(collections, results, strict=True)]
    print(f"{title:32}" + "".join(cells), flush=True)


def _rivals(collections: Sequence[_Collection]) -> dict[str, list[list[Score]]]:
    """Name, and for each collection what single questions score."""
    found: dict[str, list[list[Score]]] = {"bm25s with stems": [], "tantivy on title and body": []}
    for each in collections:
        pages = texts_of(each.directory)
        rankings = bm25s_ranking(pages, each.language, _DEPTH), tantivy_ranking(pages, _DEPTH)
        for scores, rank in zip(found.values(), rankings, strict=True):
            scores.append([measured(question, rank(question.text)) for question in each.questions])
    return found


def _advantage(
    collections: Sequence[_Collection], ours: Sequence[Sequence[Score]], theirs: Sequence[Sequence[Sequence[Score]]]
) -> None:
    """How much larm is above the better of the others, and the standard error."""
    print(f"\n{'':32}{'above the better':>18}{'standard error':>16}")
    for number, each in enumerate(collections):
        mine = [one[each.measure] for one in ours[number]]
        others = [[one[each.measure] for one in rival[number]] for rival in theirs]
        best = max(others, key=sum)
        scale = 100 * len(best) / (sum(best) or 1)
        differences = [one - other for one, other in zip(mine, best, strict=True)]
        error = stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else 0.0
        print(f"{each.name:32}{fmean(differences) * scale:+16.1f} %{error * scale:14.1f} %")


def _details(collections: Sequence[_Collection], results: Sequence[_Measured]) -> None:
    print(f"\n{'':16}{'MAP':>8}{'nDCG@10':>9}{'MRR@10':>8}{'first':>7}{'queries':>9}{'ms':>7}")
    for each, (scores, took) in zip(collections, results, strict=True):
        map_, ndcg, mrr, first, count = mean(scores)
        print(f"{each.name:16}{map_:8.4f}{ndcg:9.4f}{mrr:8.4f}{first:7.3f}{count:9}{took * 1000:7.1f}")


def _value(text: object) -> object:
    return json.loads(text) if isinstance(text, str) and re.fullmatch(r"[\d.]+", text) else text


def measure(directory: Path, questions: Sequence[Question], settings: Search) -> _Measured:
    """Of the index in a directory."""
    reader = IndexReader(directory / "index", settings)
    ranker = Ranker(directory, reader, settings)
    began = time.thread_time()
    rankings = [ranker.urls(parse_question(each.text).tree, _DEPTH) for each in questions]
    took = (time.thread_time() - began) / max(1, len(questions))
    return _Measured([measured(question, names) for question, names in zip(questions, rankings, strict=True)], took)


def _collections(options: argparse.Namespace, scratch: Path) -> Iterator[_Collection]:
    """Those that were asked for, with their indexes."""
    for name, judged in judged_collections(TESTDATA).items():
        if _wanted(name, options):
            judged.index(scratch / name)
            research = name in {"cranfield", "cisi"}
            questions = _chosen(judged.questions(), options)
            yield _Collection(name, scratch / name, "en" if research else name[-2:], 0 if research else 2, questions)
    sets = TESTDATA / "docweb-queries"
    for row in json.loads((sets / "SETS.json").read_text()) if sets.is_dir() else ():
        if _wanted(row["set"], options):
            site = unpack(known_sites()[row["package"]], options.cache, options.debs)
            directory, root = _crawled(site, row["exclude"], options)
            questions = _chosen(site_questions(sets / row["split"] / f"{row['set']}.jsonl", root), options)
            yield _Collection(row["set"][:13], directory, "de" if row["set"].endswith("-de") else "en", 2, questions)

    for name, each in howto_sets(options.cache) if any(_wanted(name, options) for name in HOW_TO) else ():
        if _wanted(name, options):
            directory, root = _crawled(each.site, each.exclude, options)
            yield _Collection(name, directory, "en", 2, _chosen(each.judged(root), options))


def _chosen(questions: Sequence[Question], options: argparse.Namespace) -> list[Question]:
    chosen = half((each for each in questions if any(each.gains.values())), options.half)
    Random(1).shuffle(chosen)
    return chosen[: options.limit]


def _wanted(name: str, options: argparse.Namespace) -> bool:
    return not options.only or any(word in name for word in options.only)


def _crawled(site: Site, exclude: str, options: argparse.Namespace) -> tuple[Path, str]:
    """The directory of a crawl without the pages that are the source of the questions; and the address of its root."""
    directory = options.cache / "ranking" / site.package
    if not (directory / "root").exists():
        shutil.rmtree(directory, ignore_errors=True)
        with Nginx([site]) as nginx:
            _crawl(nginx, site, directory, exclude)
    return directory, (directory / "root").read_text()


def _crawl(nginx: Nginx, site: Site, directory: Path, exclude: str) -> None:
    root = f"http://{nginx.name(site)}:{nginx.port}{site.prefix}"
    names = "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in re.findall(r"[\w*-]+\.html|\w+/", exclude))
    scope = re.escape(f"http://{nginx.name(site)}:{nginx.port}/") + (rf"(?!(.*/)?({names})).*" if names else ".*")
    command = [sys.executable, "-m", "larm", "crawl", "-start", *nginx.start_urls(site), "-restrictto", scope]
    run(*command, "--dir", directory, "--delay", "0", "--per-host", "16", "-q")
    (directory / "root").write_text(root)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ranking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="WORD", help="only collections with this in their name")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0, help="of the questions; default: 0, to be tuned on")
    parser.add_argument("--limit", type=int, default=1_000, metavar="N", help="of each collection")
    parser.add_argument("--ablation", action="store_true", help="the table with each part left out")
    parser.add_argument("-s", "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of `search:`")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    parser.add_argument("--debs", type=Path, action="append", default=[], metavar="DIR", help="folder with .deb files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
