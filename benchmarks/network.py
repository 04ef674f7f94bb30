"""A network of ``larm serve --network`` on loopback: does any peer find what one index over all pages finds?

``python -m benchmarks.network FOLDER... [--peers 16] [--queries 60] [--kill 5]``. Each folder is a site with an ``index.html``,
such as the documentation in Debian's packages, and is served at an address of its own. Each peer is a process that has crawled
its share of the sites; another crawl has all of them. After the hand-over each question is asked at some peer. Then some peers
are killed at once, and all is asked again, at once and after the repair.

Questions are of four kinds: words of at most three pages, words (and pairs of them) of many pages, titles, sentences. Prints,
of the 20 best pages of the one index, the share that is among the peer's 20 best: of all, and of those that can be found, since
a living peer has them and they have a word of the question that is shared (YACY-34). Of equal pages either counts. Then the
time until the page shows its first result, and all of them.
"""

from __future__ import annotations

import argparse
import html
import json
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
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from http.client import HTTPResponse
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import mean, median, quantiles

from larm.graph.reader import GraphReader, open_graph
from larm.index import fields
from larm.index.reader import IndexReader
from larm.index.search.searcher import IndexSearcher
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.model.hit import Hit
from larm.peers.yacy.chunk import read_chunk
from larm.peers.yacy.hashes import position_of
from larm.peers.yacy.library import Vocabulary, page_of
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
RARE, OFTEN = 3, 40
"""Pages with a rare word at most, and with a frequent word at least."""
_WORD = re.compile(r"[a-z]{4,14}")


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
        command += ["-s", "serve.private=network"]
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


def served(folders: Sequence[Path]) -> list[str]:
    """Serve each folder, each at its own address; return the start URLs."""
    workers = Workers(lambda name, error: sys.exit(f"{name}: {error}"))
    for number, folder in enumerate(folders):
        server = _Server((f"127.0.8.{number + 1}", PORT), partial(_Quiet, directory=str(folder)))
        workers.start(f"site-{number}", server.serve_forever)
    return [f"http://127.0.8.{number + 1}:{PORT}/" for number in range(len(folders))]


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Write nothing where a peer that samples a page has read enough of it."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write nothing."""


def crawl(directory: Path, starts: Sequence[str]) -> None:
    """Crawl these sites into a directory."""
    command = [sys.executable, "-m", "larm", "crawl", "-q", *starts, "--delay", "0", "--dir", str(directory)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def questions_of(reader: IndexReader, number: int) -> dict[str, list[str]]:
    """Return questions of each kind, ``number`` of each, made of the pages of an index."""
    chance, pages = random.Random(3), dict[str, int]()
    for name in (fields.MAIN, fields.TITLE, fields.OTHER):
        for word, count in reader._searcher.terms_with_prefix(name, ""):
            if _WORD.fullmatch(word):
                pages[word] = max(count, pages.get(word, 0))
    rare = sorted(word for word, count in pages.items() if count <= RARE)
    often = sorted(word for word, count in pages.items() if count >= OFTEN and not reader.is_function_word(word))
    found: dict[str, list[str]] = {"rare words": chance.sample(rare, min(number, len(rare)))}
    found["frequent words"] = [" ".join(chance.sample(often, 1 + at % 2)) for at in range(number)]
    found |= {"titles": [], "sentences": []}
    every = sorted((reader.read(each, 0.0) for each in reader.every("network")), key=lambda match: match.url)
    for match in chance.sample(every, min(number, len(every))):
        sentences = [text for text in match.body.split(".") if 6 < len(text.split()) < 25]
        for kind, text in (
            ("titles", match.title),
            *(("sentences", each) for each in chance.sample(sentences, min(1, len(sentences)))),
        ):
            if plain := " ".join(text.replace('"', " ").replace(":", " ").split()):
                found[kind].append(plain)
    return found


def ask(
    one: IndexSearcher,
    peers: Sequence[Peer],
    questions: Mapping[str, Sequence[str]],
    what: str,
    can: Callable[[str, str], bool],
    *,
    tell: bool,
) -> None:
    """Ask each question at the next peer. ``can``: whether a page (its URL) can be found by a question."""
    times, unanswered, asked = list[float](), 0, 0
    before = sum(peer.cpu() for peer in peers)
    for kind, texts in questions.items():
        recalls, left = list[float](), list[float]()
        for question in texts:
            hits = one.search(question, LOOKED_AT, as_typed=True).hits
            expected = {hit.url for hit in hits[:BEST]}
            peer = peers[asked % len(peers)]
            asked += 1
            found, seconds, said = peer.search(question)
            times.append(seconds)
            unanswered += bool(said)
            same = {hit.url for hit in equal_ones(one, question, hits, set(found))} if expected else set()
            if expected:
                recalls.append(len(expected & ({*found} | same)) / len(expected))
            if there := {url for url in expected if can(url, question)}:
                left.append(len(there & ({*found} | same)) / len(there))
            if tell and (lost := [hit for hit in hits[:BEST] if hit.url not in found and hit.url not in same]):
                _tell(peer, question, hits, lost)
        print(f"{what}, {kind}: recall {mean(recalls):.4f}; {mean(left):.4f} of those that can be found", flush=True)
    cpu = (sum(peer.cpu() for peer in peers) - before) / asked
    print(
        f"{what}: a search takes {median(times):.2f} s, 95 % below {quantiles(times, n=20)[-1]:.2f} s, and {cpu:.2f} s of CPU "
        f"of all peers; in {unanswered} a peer did not answer"
    )
    shown = [text for texts in questions.values() for text in texts[: SHOWN // len(questions)]]
    firsts, ends = zip(*(peers[n % len(peers)].shown(text) for n, text in enumerate(shown)), strict=True)
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
    """Tells which pages a network can find."""

    def __init__(self, reader: IndexReader, graph: GraphReader | None, peers: Sequence[Peer], sites: int) -> None:
        self.vocabulary = Vocabulary(())
        menus = reader.menus()
        self.pages = {page.url: page for page in (page_of(reader, each, menus, graph) for each in reader.every("network"))}
        self.words = lru_cache(None)(self._words)
        self.names = {peer: json.loads((peer.shelf().parent / "peer.json").read_bytes())["hash"] for peer in peers}
        self.ring = Ring(self.names.values())
        names = [*self.names.values()]
        self.authors = {f"127.0.8.{site + 1}": names[site % len(peers)] for site in range(sites)}

    def after(self, dead: Sequence[Peer]) -> Callable[[str, str], bool]:
        """Return the function for a network of which these peers were killed at once."""
        gone = {self.names[peer] for peer in dead}

        def can(url: str, question: str) -> bool:
            author = self.authors[urllib.parse.urlsplit(url).hostname or ""]
            has = {author, *self.ring.owners(position_of(url_hash(url)), REDUNDANCY)}
            asked = {each for unit in self.vocabulary.understand(question, {}).units for each in unit.hashes}
            return not has <= gone and not asked.isdisjoint(self.words(url))

        return can

    def _words(self, url: str) -> frozenset[str]:
        page, own = self.pages[url], self.vocabulary
        return frozenset(word for word, _ in references_of(page, own.words, own.stems(page), own.is_common))


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
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="sites, each with an index.html")
    parser.add_argument("--peers", type=int, default=16)
    parser.add_argument("--queries", type=int, default=60, help="of each of four kinds (60)")
    parser.add_argument("--kill", type=int, default=5)
    parser.add_argument("--lost", action="store_true", help="name the pages that were not found")
    parser.add_argument("-s", "--settings", action="append", default=[], metavar="NAME=VALUE", help="of the peers")
    options = parser.parse_args()
    folder, wait = Path(tempfile.mkdtemp(prefix="larm-network-")), threading.Event()
    peers = [Peer(folder, number) for number in range(options.peers)]
    starts = served(options.folders)
    for number, peer in enumerate(peers):
        crawl(peer.directory, starts[number :: len(peers)])
    crawl(folder / "all", starts)
    one, reader = IndexSearcher(folder / "all"), IndexReader(folder / "all" / "index")
    questions = questions_of(reader, options.queries)
    print(f"{reader.documents:,} pages of {len(starts)} sites, {os.cpu_count()} cores for {len(peers)} peers")
    dead, alive = peers[: options.kill], peers[options.kill :]
    try:
        for peer in peers:
            peer.start(peers[0].host, options.settings)
        took = settled(peers, wait)
        print(f"hand-over: {took:.0f} s; {mean(peer.cpu() for peer in peers):.1f} s of CPU a peer; {sizes(peers[0])}")
        possible = Possible(reader, open_graph(folder / "all" / "graph"), peers, len(starts))
        ask(one, peers, questions, "all there", possible.after([]), tell=options.lost)
        if not dead:
            return
        can = possible.after(dead)
        for peer in dead:
            peer.kill()
        ask(one, alive, questions, f"{len(dead)} killed, at once", can, tell=False)
        took = settled(alive, wait, REPAIRED)
        ask(one, alive, questions, f"{len(dead)} killed, after the repair ({took:.0f} s)", can, tell=options.lost)
    finally:
        for peer in peers:
            peer.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
