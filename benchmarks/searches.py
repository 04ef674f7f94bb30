"""How fast larm answers, on an index of 20,000 pages: in one process that is warm, and as a command of the shell.

``python -m benchmarks.searches DIRECTORY [--pages 20000] [--queries 1000]``. The pages are mixed of sentences of the pages
that were crawled to DIRECTORY, as long as those; the queries are two words of one page, words of any rarity. Answers have ten
results with their passages; where few pages are found, another spelling is looked for. Wall time, so the machine should be
quiet.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter

from benchmarks.measure import run
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.tree import All, Meta
from larm.index.writer import IndexWriter
from larm.model.url import URLNormalizer
from larm.search.searcher import Searcher

_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMANDS = 11
_LIMIT = 60.0  # seconds for a command


def main() -> None:
    """What the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("directory", type=Path, help="of a crawl")
    options.add_argument("--pages", type=int, default=20_000)
    options.add_argument("--queries", type=int, default=1_000)
    given = options.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="larm-searches-"))
    try:
        texts = _texts(given.directory)
        began = perf_counter()
        _fill(scratch, texts, given.pages)
        print(f"{given.pages:,} pages from {len(texts):,}, indexed in {perf_counter() - began:.0f} s")
        random = Random(2)
        queries = list(islice(_queries(texts, random), given.queries))
        searcher = Searcher(scratch)
        for query in queries[:50]:
            searcher.search(query)
        print(_row("two words, warm", [_timed(searcher, query) for query in queries]))
        typos = [_misspelt(query, random) for query in queries[:200]]
        print(_row("one misspelt", [_timed(searcher, query) for query in typos]))
        wall = []
        for query in queries[:_COMMANDS]:
            command = [sys.executable, "-m", "larm", "search", "--dir", str(scratch), "--", *query.split()]
            wall.append(run([command], Path(), {}, _LIMIT).wall)
        print(_row("from the shell", wall))
    finally:
        shutil.rmtree(scratch)


def _texts(directory: Path) -> list[tuple[str, str]]:
    """Title and main text of every page of the crawl."""
    reader = IndexReader(directory / "index")
    found = reader.retrieve(All((Meta("site", "all"),)), reader.documents) if reader.documents else None
    candidates = found.candidates if found else []
    pages = [reader.read(candidate, 0.0) for candidate in candidates]
    texts = [(page.title, page.body) for page in pages if len(page.body) > 200]
    if not texts:
        sys.exit(f"{directory}: no pages with text; crawl something first")
    return texts


def _fill(directory: Path, texts: Sequence[tuple[str, str]], pages: int) -> None:
    """Pages of sentences of three others each."""
    random = Random(1)
    parse = URLNormalizer().parse
    sentences = [_SENTENCE.findall(text) for _, text in texts]
    writer = IndexWriter(directory / "index", 100_000_000, 2)
    writer.open(None)
    for number in range(pages):
        models = [random.randrange(len(texts)) for _ in range(3)]
        pool = [sentence for model in models for sentence in sentences[model]]
        text = "".join(random.sample(pool, min(len(pool), max(1, len(sentences[models[0]])))))
        url = parse(f"http://host{number % 50}.example/{number % 7}/{number}.html")
        writer.add(
            Page(url, "text/html", texts[models[0]][0], text, language="en", meta=meta_words(url, "text/html")), replace=False
        )
    writer.commit()
    writer.close()


def _queries(texts: Sequence[tuple[str, str]], random: Random) -> Iterator[str]:
    while True:
        words = _WORD.findall(random.choice(texts)[1])
        if len(words) > 20:
            yield " ".join(random.sample(words, 2)).lower()


def _misspelt(query: str, random: Random) -> str:
    word, _, other = query.partition(" ")
    place = random.randrange(1, len(word))
    return f"{word[:place]}{word[place + 1 :]} {other}"


def _timed(searcher: Searcher, query: str) -> float:
    began = perf_counter()
    searcher.search(query)
    return perf_counter() - began


def _row(name: str, seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    median, late, last = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]
    return f"{name:18}  median {median * 1e3:6.1f} ms   99 % {late * 1e3:6.1f} ms   slowest {last * 1e3:6.1f} ms"


if __name__ == "__main__":
    main()
