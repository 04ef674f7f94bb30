"""How long a search takes, in an index of many pages.

``python -m benchmarks.searches CRAWL ... [--pages 20000]``. The pages are those of finished crawls (directories with
``index/``, such as `benchmarks.ranking` keeps), repeated under other addresses until there are enough. Queries are pairs of
words that stand next to each other in some page, and pairs of words from anywhere; each is asked once, after some others to
warm up. Then the same from the shell.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import median, quantiles

from larm.config import Search
from larm.index.page import Page
from larm.index.reader import IndexReader, Match
from larm.index.tree import Not, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url
from larm.search.searcher import IndexSearcher

_WORD = re.compile(r"[^\W\d_]{3,}")
_WARM = 50
_FROM_SHELL = 7


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.searches", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("crawls", type=Path, nargs="+", metavar="CRAWL")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500, help="of each kind")
    options = parser.parse_args()
    matches = [match for crawl in options.crawls for match in pages_of(crawl)]
    with tempfile.TemporaryDirectory(prefix="larm-searches-") as folder:
        directory = Path(folder)
        _fill(directory, matches, options.pages)
        searcher = IndexSearcher(directory)
        print(f"{searcher.documents:,} pages, {_size(directory) / 1e6:.0f} MB")
        for kind, queries in queries_of(matches, options.queries).items():
            _measure(searcher, kind, queries)
        took = [_from_shell(directory, query) for query in queries_of(matches, _FROM_SHELL)["neighbours"]]
        print(f"{'larm search':40} median {median(took) * 1000:7.0f} ms")


def pages_of(crawl: Path) -> Iterator[Match]:
    """All that are in its index."""
    reader = IndexReader(crawl / "index", Search())
    found = reader.retrieve(Not(Word("wordthatnopagehas")), reader.documents)
    return (reader.read(each, 0.0) for each in found.candidates)


def _fill(directory: Path, matches: Sequence[Match], pages: int) -> None:
    writer = IndexWriter(directory / "index", 200_000_000, 1)
    writer.open(None)
    for number, match in enumerate(islice(cycle(matches), pages), 1):
        address = f"{match.url}?copy={number}"
        url = Url(address, address, "h", number)
        text = (match.title, match.body)
        writer.add(Page(url, match.mime, *text, description=match.description, language=match.language, digest=number))
        if number % 2_000 == 0:  # as a crawl does it
            writer.commit()
    writer.commit()
    writer.close()


def queries_of(matches: Sequence[Match], number: int) -> dict[str, list[str]]:
    """So many of each kind."""
    random, texts = Random(7), [words for match in matches if len(words := _WORD.findall(match.body)) > 20]
    neighbours = []
    for _ in range(number):
        words = random.choice(texts)
        at = random.randrange(len(words) - 1)
        neighbours.append(f"{words[at]} {words[at + 1]}")
    anywhere = [f"{random.choice(random.choice(texts))} {random.choice(random.choice(texts))}" for _ in range(number)]
    return {"neighbours": neighbours, "two words from anywhere": anywhere}


def _measure(searcher: IndexSearcher, kind: str, queries: Sequence[str]) -> None:
    for query in queries[:_WARM]:
        searcher.search(query[::-1])
    took, busy = [], []
    for query in queries:
        began, own = time.perf_counter(), time.thread_time()
        searcher.search(query)
        took.append((time.perf_counter() - began) * 1000)
        busy.append((time.thread_time() - own) * 1000)
    for what, times in (("", took), (", processor time", busy)):
        print(f"{kind + what:40} median {median(times):6.2f} ms, 99 % within {quantiles(times, n=100)[98]:6.2f} ms")


def _from_shell(directory: Path, query: str) -> float:
    command = [sys.executable, "-m", "larm", "search", "--dir", str(directory), *query.split()]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
