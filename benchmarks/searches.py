"""How long a search takes, in an index of many pages.

``python -m benchmarks.searches CRAWL ... [--pages 20000] [--mixed] [--index DIR]``. The pages are those of finished crawls
(directories with ``index/``), repeated under other addresses until there are enough; or,
for a million, ``--mixed``: short ones of their sentences, with a new word or a slip in most, on hosts of very different size.
``--index`` keeps them, or uses those that were kept. Queries are pairs of words that stand next to each other in some page, and
fives, pairs of words from anywhere, pairs of the commonest words, with and without facets, misspelt words, and beginnings as
somebody types them; each is asked once, after some others to warm up. Then the first kind from the shell.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, count, cycle, islice, product
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from statistics import median, quantiles
from string import ascii_lowercase

from larm.config import SearchSettings
from larm.index.meta_words import meta_words
from larm.index.page import Page
from larm.index.reader import IndexReader, Match
from larm.index.search.searcher import IndexSearcher
from larm.index.tree import Not, Word
from larm.index.writer import IndexWriter
from larm.model.url import Url

_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_SYLLABLES = [start + end for start in "bdfgklmnprstvwz" for end in ("a", "e", "i", "o", "u", "en", "ar", "is", "on")]
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
    parser.add_argument("--mixed", action="store_true", help="pages of sentences, some 800 characters each")
    parser.add_argument("--index", type=Path, metavar="DIR", help="where to make the index, or to find it")
    options = parser.parse_args()
    matches = [match for crawl in options.crawls for match in pages_of(crawl)]
    with tempfile.TemporaryDirectory(prefix="larm-searches-") as folder:
        directory = options.index or Path(folder)
        if not (directory / "index").exists():
            made = _mixed(matches) if options.mixed else _repeated(matches)
            _fill(directory, islice(made, options.pages), 20_000 if options.mixed else 2_000)
        searcher = IndexSearcher(directory)
        print(f"{searcher.documents:,} pages, {_size(directory) / 1e6:.0f} MB")
        for kind, queries in queries_of(matches, options.queries).items():
            _measure(searcher.search, kind, queries)
        for kind, queries in _common(directory, options.queries).items():
            _measure(searcher.suggest if kind == "as you type" else searcher.search, kind, queries)
            if kind == "two of the commonest words":
                _measure(lambda query: searcher.search(query, facets=True), f"{kind}, facets", queries)
        now = dict(line.split(":", 1) for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
        rss, own = (int(now[kind].split()[0]) / 1000 for kind in ("Rss", "Anonymous"))
        most = getrusage(RUSAGE_SELF).ru_maxrss / 1000
        print(f"{most:.0f} MB at most; of {rss:.0f} MB now {rss - own:.0f} are mapped files, which make room for others")
        took = [_from_shell(directory, query) for query in queries_of(matches, _FROM_SHELL)["neighbours"]]
        print(f"{'larm search':40} median {median(took) * 1000:7.0f} ms")


def pages_of(crawl: Path) -> Iterator[Match]:
    """All that are in its index."""
    reader = IndexReader(crawl / "index", SearchSettings())
    found = reader.retrieve(Not(Word("wordthatnopagehas")), reader.documents)
    return (reader.read(each, 0.0) for each in found.candidates)


def _fill(directory: Path, pages: Iterable[Page], commit: int) -> None:
    writer = IndexWriter(directory / "index", 400_000_000, 2)
    writer.open(None)
    for number, page in enumerate(pages, 1):
        writer.add(page, replace=False)
        if number % commit == 0:
            writer.commit()
    writer.commit()
    writer.close()


def _repeated(matches: Sequence[Match]) -> Iterator[Page]:
    for number, match in enumerate(cycle(matches), 1):
        address = f"{match.url}?copy={number}"
        url = Url(address, address, "h", number)
        text = (match.title, match.body)
        yield Page(url, match.mime, *text, description=match.description, language=match.language, digest=number)


def _mixed(matches: Sequence[Match]) -> Iterator[Page]:
    """Some sentences of one page, and others of any of its language."""
    random, texts = Random(22), [(match, _SENTENCE.split(match.body)) for match in matches if len(match.body) > 200]
    alike: dict[str, list[list[str]]] = {}
    for match, sentences in texts:
        alike.setdefault(match.language, []).append(sentences)
    for number in count(1):
        (match, sentences), length = random.choice(texts), min(4_000, 150 + random.expovariate(1 / 750))
        at, parts = random.randrange(len(sentences)), list[str]()
        while sum(map(len, parts)) < length:
            other = random.choice(alike[match.language])
            parts.append(
                (random.choice(other) if random.random() < 0.3 else sentences[(at + len(parts)) % len(sentences)])[:600] + " "
            )
        word = random.choice(_WORD.findall(match.body) or ["word"])
        parts.append("".join(random.choices(_SYLLABLES, k=4)) if random.random() < 0.7 else word[:2] + word[3:])
        title = match.title if random.random() < 0.5 else f"{random.choice(sentences)[:60]} {random.choice(sentences)[:30]}"
        host = f"h{int(random.paretovariate(0.8)) % 100_000}.example"
        url = Url(f"http://{host}/{number}.html", f"http://{host}/{number}.html", host, number * 0x9E3779B97F4A7C15 % 2**63)
        meta = meta_words(url, "text/html", language=match.language, modified=1_700_000_000 + number, status=200)
        text = (title[:150], "\n".join(parts))
        yield Page(url, "text/html", *text, language=match.language, meta=meta, modified=1_700_000_000 + number, digest=number)


def _common(directory: Path, number: int) -> dict[str, list[str]]:
    """Queries of the commonest words of the index."""
    reader, random = IndexReader(directory / "index", SearchSettings()), Random(3)
    counted = ((word, reader.vocabulary.beginning(word[:2])) for word in map("".join, product(ascii_lowercase, repeat=2)))
    pages = {word: pages for _, words in counted for word, pages in words if len(word) > 3 and word.isalpha()}
    words = [word for word in sorted(pages, key=lambda word: -pages[word]) if not reader.is_function_word(word)][:2_000]
    pairs = list(combinations(words[:21], 2))
    typed = [random.choice((f"{one} {other[:3]}", f"{one} {other[:2]}", one[:2], one[:3])) for one, other in pairs]
    slips = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for word in words if (at := len(word) // 2) > 2]
    return {
        "two of the commonest words": [" ".join(pair) for pair in pairs[:number]],
        "a misspelt word": random.sample([word for word in slips if not reader.vocabulary.pages(word)], min(number, 200)),
        "as you type": typed[:number],
    }


def queries_of(matches: Sequence[Match], number: int) -> dict[str, list[str]]:
    """So many of each kind."""
    random, texts = Random(7), [words for match in matches if len(words := _WORD.findall(match.body)) > 20]
    neighbours, five = [], []
    for _ in range(number):
        words = random.choice(texts)
        at = random.randrange(len(words) - 5)
        neighbours.append(f"{words[at]} {words[at + 1]}")
        five.append(" ".join(words[at : at + 5]))
    anywhere = [f"{random.choice(random.choice(texts))} {random.choice(random.choice(texts))}" for _ in range(number)]
    return {"neighbours": neighbours, "five words in a row": five, "two words from anywhere": anywhere}


def _measure(ask: Callable[[str], object], kind: str, queries: Sequence[str]) -> None:
    for query in queries[:_WARM]:
        ask(query[::-1])
    took, busy = [], []
    for query in queries:
        began, own = time.perf_counter(), time.thread_time()
        ask(query)
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
