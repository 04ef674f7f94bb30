"""How well larm ranks: collections with judgements, with one setting for all, and with each part of the ranking left out.

``python -m benchmarks.ranking [--only NAME] [--half 1] [--ablation] [-s tie=0.3]``. Sites are crawled by larm from nginx on
loopback, once; ``--cache`` keeps their directories. Of the questions about a site, those of one half (``--half 0``) were there
to find good settings, the others are reported. The first table has MAP for Cranfield and CISI and MRR@10 for all others.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.judged import Question, Score, half, judged_collections, score, site_questions
from benchmarks.nginx import Nginx
from benchmarks.sites import CACHE, TESTDATA, Site, known_sites, run, unpack
from larm.config import Search, load
from larm.index.reader import IndexReader
from larm.search.query import parse_question
from larm.search.ranked import Ranker

ABLATIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no texts of links": {"anchors": 0},
    "no number of links": {"link_rank": 0},
    "PageRank": {"link_rank_by": "pagerank"},
    "place by PageRank (YIOOP-34)": {"link_rank_by": "place"},
    "no nearness": {"proximity": 0},
    "no coverage": {"coverage": 0},
    "all words, or any": {"all_words": 0, "all_words_first": 0, "few": 1_000_000},
    "all words first, always": {"all_words_first": 1_000, "few": 1},
    "no other forms": {"other_forms": 0},
    "function words as others": {"function_words": 1},
    "rarity as in BM25": {"rarity": 0},
    "only main text and title": {"fields.url": 0, "fields.description": 0, "fields.other": 0},
    "title as main text": {"fields.title": 1},
    "fields add up": {"tie": 1},
    "DFR relevance (YIOOP-59)": {"relevance": "dfr"},
    "spans (YIOOP-62) for nearness": {"spans": 20, "proximity": 0},
    "bonuses (YIOOP-64)": {f"bonuses.{name}": 1 for name in ("host_words", "title_words", "path_words")},
    "reciprocal fusion (YIOOP-65)": {"fusion": "reciprocal"},
    "BM25 of the main text alone": {
        **dict.fromkeys(("anchors", "link_rank", "proximity", "coverage", "other_forms", "rarity", "all_words"), 0),
        **dict.fromkeys(("fields.title", "fields.url", "fields.description", "fields.other", "all_words_first"), 0),
        "few": 1_000_000,
        "function_words": 1,
    },
}
_DEPTH = 1_000


def main() -> None:
    """What the command line asks for."""
    options = _options()
    scratch = Path(tempfile.mkdtemp(prefix="larm-ranking-"))
    try:
        collections = list(_collections(options, scratch))
        changes = ABLATIONS if options.ablation else {"as it is": {}}
        print(f"{'':32}" + "".join(f"{name:>14}" for name, _, _ in collections))
        for title, change in changes.items():
            given = dict(pair.split("=", 1) for pair in options.set)
            settings = load(None, (), {f"search.{key}": _value(value) for key, value in {**change, **given}.items()}).search
            cells, details = [], []
            for name, directory, questions in collections:
                result, took = measure(directory, questions, settings)
                main_figure = result.average_precision if name in {"cranfield", "cisi"} else result.reciprocal_rank
                cells.append(f"{main_figure:14.4f}")
                details.append((name, result, took))
            print(f"{title:32}" + "".join(cells), flush=True)
        if not options.ablation:
            print(f"\n{'':16}{'MAP':>8}{'nDCG@10':>9}{'MRR@10':>8}{'first':>7}{'queries':>9}{'ms':>7}")
            for name, result, took in details:
                map_, ndcg, mrr, first, count = result
                print(f"{name:16}{map_:8.4f}{ndcg:9.4f}{mrr:8.4f}{first:7.3f}{count:9}{took * 1000:7.1f}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _value(text: object) -> object:
    return json.loads(text) if isinstance(text, str) and re.fullmatch(r"[\d.]+", text) else text


def measure(directory: Path, questions: Sequence[Question], settings: Search) -> tuple[Score, float]:
    """The score of the index in a directory, and seconds for a query."""
    reader = IndexReader(directory / "index", settings)
    ranker = Ranker(directory, reader, settings)
    began = time.perf_counter()
    rankings = [(each, ranker.urls(parse_question(each.text).tree, _DEPTH)) for each in questions]
    took = (time.perf_counter() - began) / max(1, len(questions))
    return score(rankings), took


def _collections(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, Path, list[Question]]]:
    """(name, directory with an index, questions)."""
    for name, judged in judged_collections(TESTDATA).items():
        if _wanted(name, options):
            judged.index(scratch / name)
            yield name, scratch / name, judged.questions()
    sets = TESTDATA / "docweb-queries"
    for row in json.loads((sets / "SETS.json").read_text()) if sets.is_dir() else ():
        if _wanted(row["set"], options):
            directory, root = _crawled(row, options)
            questions = site_questions(sets / row["split"] / f"{row['set']}.jsonl", root)
            chosen = questions if options.half is None else half(questions, options.half)
            Random(1).shuffle(chosen)
            yield row["set"][:12], directory, chosen[: options.limit]


def _wanted(name: str, options: argparse.Namespace) -> bool:
    return not options.only or any(word in name for word in options.only)


def _crawled(row: Mapping[str, str], options: argparse.Namespace) -> tuple[Path, str]:
    """The directory of a crawl without the pages that are the source of the questions; and the address of its root."""
    site = unpack(known_sites()[row["package"]], options.cache, options.debs)
    directory = options.cache / "ranking" / row["package"]
    if not (directory / "root").exists():
        shutil.rmtree(directory, ignore_errors=True)
        with Nginx([site]) as nginx:
            _crawl(nginx, site, directory, row["exclude"])
    return directory, (directory / "root").read_text()


def _crawl(nginx: Nginx, site: Site, directory: Path, exclude: str) -> None:
    root = f"http://{nginx.name(site)}:{nginx.port}{site.prefix}"
    names = "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in re.findall(r"[\w*-]+\.html", exclude))
    scope = re.escape(f"http://{nginx.name(site)}:{nginx.port}/") + (rf"(?!(.*/)?({names})$).*" if names else ".*")
    command = [sys.executable, "-m", "larm", "crawl", "-start", *nginx.start_urls(site), "-restrictto", scope]
    run(*command, "--dir", directory, "--delay", "0", "--per-host", "16", "-q")
    (directory / "root").write_text(root)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ranking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="WORD", help="only collections with this in their name")
    parser.add_argument("--half", type=int, choices=(0, 1), default=1, help="questions about sites; default: 1")
    parser.add_argument("--limit", type=int, default=1_000, metavar="N", help="questions about a site")
    parser.add_argument("--ablation", action="store_true", help="the table with each part left out")
    parser.add_argument("-s", "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of `search:`")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    parser.add_argument("--debs", type=Path, action="append", default=[], metavar="DIR", help="folder with .deb files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
