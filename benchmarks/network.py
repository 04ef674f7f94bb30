"""A network of ``larm serve --network`` on loopback: is what any peer finds what one index over all finds?

``python -m benchmarks.network [--peers 16] [--queries 100] [--kill 5] [--folders FOLDER...]``. The documents of Cranfield
(shared test data), or the pages of these folders, each a site, are dealt to so many peers, each a process at an address of its
own. After the hand-over each query is asked at some peer; then some peers are killed at once, and it is asked again, at once
and after the repair; then one more is killed and repaired, and another, as many as before. Of folders the queries are titles
of pages and sentences. Prints, of the twenty best pages of one index over all, the share that is among the peer's twenty best,
and the same of pages that a network can find: somebody is left who has them, and they have more of the question than stop
words, which are not shared (YACY-34), and where of equal pages either counts; the time of a search, and
until the page shows the first result, of which all is told; the processor's time of all peers, and bytes of a reference.
"""

from __future__ import annotations

import argparse
import html
import json
import lzma
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from functools import lru_cache
from http.client import HTTPResponse
from pathlib import Path
from statistics import mean, median, quantiles

import msgspec

from benchmarks.judged import Judged
from larm.index.page import Page
from larm.index.reader import IndexReader
from larm.index.search.searcher import IndexSearcher
from larm.index.writer import IndexWriter
from larm.kit.clock import SystemClock
from larm.model.hit import Hit
from larm.model.url import URLNormalizer
from larm.peers.yacy.chunk import read_chunk
from larm.peers.yacy.hashes import position_of
from larm.peers.yacy.library import Vocabulary, page_of
from larm.peers.yacy.local import parsed
from larm.peers.yacy.page import Page as SharedPage
from larm.peers.yacy.page import references_of
from larm.peers.yacy.ring import Ring
from larm.peers.yacy.url_hash import url_hash

BEST = 20
LOOKED_AT = 100
"""Of one index, to know which pages have the score of the twentieth one."""
PORT = 7070
PING = 5
_LARM = f"from larm.peers.yacy import service; service.PING = {PING}; from larm.__main__ import main; main()"
REDUNDANCY = 3
STILL = 40
"""Seconds without anything new after which nothing is expected: a peer looks through its shelf every 30."""
REPAIRED = 6 * PING + 2 * 30
"""Seconds for a repair, at least: a peer pings one of its six neighbours each time, and then looks through its shelf."""
SHOWN = 30
"""Questions that are asked by way of the page."""
LAST = 1e-4
"""Part of a score by which two are the same."""
PATIENCE = 20.0
"""Seconds for each round: what is found is one thing, how fast another one."""
_MORE = re.compile(r"/search/more\?[^\"]*")
LARGEST = 150_000
"""Bytes of a page of a folder."""


class Peer:
    """A process."""

    def __init__(self, folder: Path, number: int) -> None:
        self.directory = folder / f"peer{number}"
        self.host = f"127.0.9.{number + 1}"
        self.token = folder / "token"
        self.log = folder / f"peer{number}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, first: str, further: Sequence[str]) -> None:
        """Begin; ``first``: the host of the peer by which others are found; ``further``: settings."""
        seeds = [] if first == self.host else ["-s", f"network.bootstrap=[http://{first}:{PORT}]"]
        command = [sys.executable, "-c", _LARM, "serve", str(self.directory), "--network", "bench", "--host", self.host]
        command += ["--port", str(PORT), "--require-token", "--token-file", str(self.token), "-s", "network.young=0s"]
        command += ["-s", f"serve.search_time={3 * PATIENCE}s", *(word for each in further for word in ("-s", each))]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, *seeds], stdout=log, stderr=log)

    def search(self, text: str, most: int = BEST) -> tuple[list[str], float, list[str]]:
        """Addresses, seconds, and what it says of those who did not answer."""
        with self._open("/api/v1/search?" + urllib.parse.urlencode({"q": text, "n": most, "wait": PATIENCE})) as answer:
            found = json.load(answer)
        said = [note for note in (*found["notes"], *found["unanswered"]) if "not answer" in note]
        return [hit["url"] for hit in found["hits"]], found["seconds"], said

    def shown(self, text: str) -> tuple[float, float]:
        """Seconds until the page shows a result, and until it has all."""
        clock = SystemClock()
        began = clock.monotonic()
        with self._open("/search?" + urllib.parse.urlencode({"q": text})) as answer:
            page = answer.read().decode()
        first = clock.monotonic() - began
        if more := _MORE.search(page):
            with self._open(html.unescape(more[0])) as answer:
                answer.read()
        return first, clock.monotonic() - began

    def _open(self, path: str) -> HTTPResponse:
        request = urllib.request.Request(f"http://{self.host}:{PORT}{path}")
        request.add_header("authorization", f"Bearer {self.token.read_text().strip()}")
        opened: HTTPResponse = urllib.request.urlopen(request, timeout=6 * PATIENCE)
        return opened

    def cpu(self) -> float:
        """Seconds."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """At once, if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)

    def shelf(self) -> Path:
        """Its file."""
        return self.directory / "network" / "bench" / "shelf.db"


def cranfield(folder: Path, sites: int) -> tuple[list[Page], list[str]]:
    """Documents, each of the next site, and questions."""
    normalizer, found = URLNormalizer(), []
    with lzma.open(folder / "corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            url = normalizer.parse(f"http://{name_of(number % sites)}/{row['id']}")
            found.append(Page(url, "text/plain", row.get("title", ""), row.get("text", ""), language="en"))
    return found, [question.text for question in Judged(folder, "en").questions()]


def crawled(folders: Sequence[Path], work: Path, sites: int, most: int) -> tuple[list[Page], list[str]]:
    """Some pages of each folder, as larm reads them, and titles and sentences of them as questions."""
    chance, found, tree = random.Random(3), list[Page](), work / "tree"
    for number, folder in enumerate(folders):
        (tree / str(number)).mkdir(parents=True)
        files = sorted(path for path in folder.rglob("*.html") if path.is_file() and path.stat().st_size < LARGEST)
        for at, path in enumerate(chance.sample(files, min(most, len(files)))):
            shutil.copy(path, tree / str(number) / f"{at}-{path.name}")
    command = [sys.executable, "-m", "larm", "crawl", "-q", "-start", str(tree), "--dir", str(work / "crawl")]
    subprocess.run([*command, "-s", "storage.index.merge_duplicates=false"], check=False)
    reader = IndexReader(work / "crawl" / "index")
    pages = [page_of(reader, each) for each in reader.every()]
    pages = [each for each in pages if each.url.endswith(".html")]
    for each in sorted(pages, key=lambda page: page.url):
        number, name = each.url.split("/")[-2:]
        found += parsed([msgspec.structs.replace(each, url=f"http://{name_of(int(number) % sites)}/{name}")], URLNormalizer())
    questions = []
    for each in found:
        sentences = [text for text in each.text.split(".") if 6 < len(text.split()) < 25]
        questions += [" ".join(text.split()) for text in (each.title, *chance.sample(sentences, min(1, len(sentences))))]
    return found, [text.replace('"', " ").replace(":", " ") for text in questions if text]


def name_of(site: int) -> str:
    """Its host."""
    return f"site{site}.example.com"


def deal(pages: Sequence[Page], folder: Path, peers: Sequence[Peer]) -> IndexSearcher:
    """The documents to the peers, and all of them into one index."""
    writers = []
    for path in [folder / "all", *(peer.directory for peer in peers)]:
        path.mkdir()
        (path / "config.yaml").touch()  # the mark of a directory that larm may serve
        writers.append(IndexWriter(path / "index", 15_000_000, 1))
        writers[-1].open(None)
    at = {name_of(number): writer for number, writer in enumerate(writers[1:])}
    for page in pages:
        for writer in (writers[0], at[page.url.hostname]):
            writer.add(page, replace=False)
    for writer in writers:
        writer.commit()
        writer.close()
    return IndexSearcher(folder / "all")


def ask(
    one: IndexSearcher, peers: Sequence[Peer], questions: Sequence[str], what: str, can: Callable[[str, str], bool]
) -> None:
    """Each question at the next peer. ``can``: whether a page (its URL) can be found by a question."""
    recalls, left, equal, times, unanswered = list[float](), list[float](), list[float](), list[float](), 0
    before = sum(peer.cpu() for peer in peers)
    for number, question in enumerate(questions):
        hits = one.search(question, LOOKED_AT).hits
        expected = {hit.url for hit in hits[:BEST]}
        peer = peers[number % len(peers)]
        found, seconds, said = peer.search(question)
        times.append(seconds)
        unanswered += bool(said)
        there = {url for url in expected if can(url, question)}
        if expected:
            recalls.append(len(expected & set(found)) / len(expected))
            same = equal_ones(one, question, hits, set(found))
            equal.append((len(expected & set(found)) + len(same)) / len(expected))
            if lost := [hit for hit in hits[:BEST] if hit.url not in found and hit not in same]:
                _tell(peer, question, hits, lost)
        if there:
            left.append(len(there & set(found)) / len(there))
    slow = quantiles(times, n=20)[-1]
    cpu = (sum(peer.cpu() for peer in peers) - before) / len(questions)
    print(
        f"{what}: recall {mean(recalls):.4f} of the best {BEST}, {mean(equal):.4f} where of equal pages either counts, "
        f"{mean(left):.4f} of those that can be found; a search takes {mean(times):.2f} s, 95 % below {slow:.2f} s, and "
        f"{cpu:.2f} s of CPU of all peers; in {unanswered} somebody did not answer",
        flush=True,
    )
    firsts, ends = zip(*(peers[n % len(peers)].shown(text) for n, text in enumerate(questions[:SHOWN])), strict=True)
    print(
        f"{what}: a page has something after {median(firsts):.2f} s ({max(firsts):.2f} at most), and all after "
        f"{median(ends):.2f} s ({max(ends):.2f})",
        flush=True,
    )


def _tell(peer: Peer, question: str, hits: Sequence[Hit], lost: Sequence[Hit]) -> None:
    """Where what is missing stands in one index, and where at the peer, which is asked for more."""
    further, last = peer.search(question, 50)[0], hits[:BEST][-1].score
    for hit in lost:
        place = further.index(hit.url) + 1 if hit.url in further else 0
        print(
            f"  lost: {question!r}: number {list(hits).index(hit) + 1}, {hit.score / last - 1:.1%} above the last "
            f"one, is {f'number {place}' if place else 'not among 50'} there: {hit.url}"
        )


def equal_ones(one: IndexSearcher, question: str, hits: Sequence[Hit], found: set[str]) -> list[Hit]:
    """Those of the best that were not found, in place of which an equal one was: with the same text, with the last one's score,
    or one that this index knows and leaves out, as what it shows says nearly the same."""
    last = hits[:BEST][-1].score
    texts = {each.digest for each in hits if each.url in found}
    missed = [each for each in hits[:BEST] if each.url not in found]
    same = [each for each in missed if each.digest in texts]
    spare = sum(each.url in found and abs(each.score - last) < LAST * last for each in hits[BEST:])
    same += [each for each in missed if each not in same and abs(each.score - last) < LAST * last][:spare]
    if missed := [each for each in missed if each not in same]:
        shown = {each.url for each in hits}
        alike = [each.url for each in one.search(question, LOOKED_AT, alike=True).hits if each.url not in shown]
        same += missed[: sum(url in found for url in alike)]
    return same


class Possible:
    """Which pages a network can find: who has them lives, and they have a word of the question that is shared (YACY-34)."""

    def __init__(self, pages: Sequence[Page], peers: Sequence[Peer]) -> None:
        self.vocabulary = Vocabulary(())
        self.pages = {page.url.access: page for page in pages}
        self.words = lru_cache(None)(self._words)
        self.names = {peer: json.loads((peer.shelf().parent / "peer.json").read_bytes())["hash"] for peer in peers}
        self.ring = Ring(self.names.values())
        self.authors = {name_of(number): name for number, name in enumerate(self.names.values())}

    def after(self, dead: Sequence[Peer]) -> Callable[[str, str], bool]:
        """These were killed at once."""
        gone = {self.names[peer] for peer in dead}

        def can(url: str, question: str) -> bool:
            has = {self.authors[self.pages[url].url.hostname], *self.ring.owners(position_of(url_hash(url)), REDUNDANCY)}
            asked = {each for unit in self.vocabulary.understand(question, {}).units for each in unit.hashes}
            return not has <= gone and not asked.isdisjoint(self.words(url))

        return can

    def _words(self, url: str) -> frozenset[str]:
        page = self.pages[url]
        shared = SharedPage(url, page.title, page.description, page.text, page.language)
        return frozenset(
            word
            for word, _ in references_of(
                shared, self.vocabulary.words, self.vocabulary.stems(shared), self.vocabulary.is_common
            )
        )


def settled(peers: Sequence[Peer], wait: threading.Event, least: float = 0.0) -> float:
    """Until nothing has come to any shelf for a while; seconds until the last has."""
    clock, before = SystemClock(), list[int]()
    began = at = clock.monotonic()
    while not before or not min(before) or clock.monotonic() < max(began + least, at + STILL):
        if clock.monotonic() > began + 900:
            print("it has not come to rest")
            break
        wait.wait(5)
        for peer in peers:
            if peer.process is not None and peer.process.poll() is not None:
                sys.exit(f"{peer.host} has ended: {peer.log.read_text()}")
        now = [count(peer, "SELECT COUNT(*) FROM item WHERE NOT own") for peer in peers]
        at, before = (at if now == before else clock.monotonic()), now
    return at - began


def count(peer: Peer, statement: str) -> int:
    """One number of a shelf."""
    if not peer.shelf().exists():
        return 0
    base = sqlite3.connect(f"file:{peer.shelf()}?mode=ro", uri=True, timeout=30)
    try:
        return int(base.execute(statement).fetchone()[0])
    except sqlite3.OperationalError:  # it was made just now
        return 0
    finally:
        base.close()


def sizes(peer: Peer) -> str:
    """What the words on a shelf take."""
    base = sqlite3.connect(f"file:{peer.shelf()}?mode=ro", uri=True, timeout=30)
    rows = base.execute("SELECT body FROM item WHERE kind = 0 AND NOT own").fetchall()
    base.close()
    references = sum(len(each) for (body,) in rows for each in read_chunk(body).values())
    body = sum(len(body) + 220 for (body,) in rows) * 4 / 3
    return f"{references:,} references in {len(rows):,} chunks, {body / max(1, references):.1f} bytes each on the wire"


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=int, default=16)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--kill", type=int, default=5)
    parser.add_argument("--folders", type=Path, nargs="+", metavar="FOLDER", help="sites, in place of Cranfield")
    parser.add_argument("-s", "--settings", action="append", default=[], metavar="NAME=VALUE", help="of the peers")
    parser.add_argument("--pages", type=int, default=80, help="of a folder (80)")
    parser.add_argument("--testdata", type=Path, default=Path("../shared/testdata"))
    options = parser.parse_args()
    folder, wait = Path(tempfile.mkdtemp(prefix="larm-network-")), threading.Event()
    peers = [Peer(folder, number) for number in range(options.peers)]
    if options.folders:
        pages, every = crawled(options.folders, folder, len(peers), options.pages)
    else:
        pages, every = cranfield(options.testdata / "ir-cranfield" / "given", len(peers))
    one = deal(pages, folder, peers)
    questions = random.Random(1).sample(every, min(options.queries, len(every)))
    print(f"{len(pages):,} pages, {len(questions)} questions, {os.cpu_count()} cores for {len(peers)} peers")
    dead, alive = peers[: options.kill], peers[options.kill :]
    try:
        for peer in peers:
            peer.start(peers[0].host, options.settings)
        took = settled(peers, wait)
        print(f"hand-over: {took:.0f} s; {mean(peer.cpu() for peer in peers):.1f} s of CPU a peer; {sizes(peers[0])}")
        possible = Possible(pages, peers)
        ask(one, peers, questions, "all there", possible.after([]))
        if not dead:
            return
        can = possible.after(dead)
        for peer in dead:
            peer.kill()
        ask(one, alive, questions, f"{len(dead)} killed, at once", can)
        took = settled(alive, wait, REPAIRED)
        ask(one, alive, questions, f"{len(dead)} killed, after the repair ({took:.0f} s)", can)
        for _ in dead[: len(alive) - 4]:
            alive.pop().kill()
            settled(alive, wait, REPAIRED)
        ask(one, alive, questions, f"{len(alive)} left, of whom the others went one after another", can)
    finally:
        for peer in peers:
            peer.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
