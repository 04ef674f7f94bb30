"""A network of ``larm serve --network`` on loopback: is what any peer finds what one index over all finds?

``python -m benchmarks.network [--peers 16] [--queries 100] [--kill 5]``. The documents of Cranfield (shared test data) are
dealt to so many peers, each a process at an address of its own. After the hand-over each query is asked at some peer; then
some peers are killed at once, and it is asked again, at once and after the repair. Prints, of the twenty best pages of one
index over all, the share that is among the peer's twenty best, the time of a search, the processor's time of a peer, and
bytes of a reference.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, quantiles

from benchmarks.judged import Judged, Question
from larm.index.page import Page
from larm.index.writer import IndexWriter
from larm.model.url import URLNormalizer
from larm.peers.yacy.chunk import read_chunk
from larm.search.searcher import IndexSearcher

BEST = 20
PORT = 7070


class Peer:
    """A process."""

    def __init__(self, folder: Path, number: int) -> None:
        self.directory = folder / f"peer{number}"
        self.host = f"127.0.9.{number + 1}"
        self.token = folder / "token"
        self.log = folder / f"peer{number}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, first: str) -> None:
        """Begin; ``first``: the host of the peer by which others are found."""
        seeds = [] if first == self.host else ["-s", f"network.seeds=[http://{first}:{PORT}]"]
        command = [sys.executable, "-m", "larm", "serve", str(self.directory), "--network", "bench", "--host", self.host]
        command += ["--port", str(PORT), "--require-token", "--token-file", str(self.token), "-s", "network.young=0s"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, "-s", "network.ping=5s", *seeds], stdout=log, stderr=log)

    def search(self, text: str) -> tuple[list[str], float]:
        """Addresses, and seconds."""
        asked = urllib.parse.urlencode({"q": text, "n": BEST})
        request = urllib.request.Request(f"http://{self.host}:{PORT}/api/v1/search?{asked}")
        request.add_header("authorization", f"Bearer {self.token.read_text().strip()}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        return [hit["url"] for hit in found["hits"]], found["seconds"]

    def cpu(self) -> float:
        """Seconds."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def shelf(self) -> Path:
        """Its file."""
        return self.directory / "network" / "bench" / "shelf.db"


def deal(collection: Judged, folder: Path, peers: Sequence[Peer]) -> IndexSearcher:
    """The documents to the peers, and all of them into one index."""
    import lzma

    normalizer = URLNormalizer()
    writers = []
    for path in [folder / "all", *(peer.directory for peer in peers)]:
        path.mkdir()
        writers.append(IndexWriter(path / "index", 15_000_000, 1))
        writers[-1].open(None)
    with lzma.open(collection.folder / "corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            at = number % len(peers)
            url = normalizer.parse(f"http://site{at}.example.com/{row['id']}")
            page = Page(url, "text/plain", row.get("title", ""), row.get("text", ""), language="en")
            for writer in (writers[0], writers[at + 1]):
                writer.add(page, replace=False)
    for writer in writers:
        writer.commit()
        writer.close()
    return IndexSearcher(folder / "all")


def ask(one: IndexSearcher, peers: Sequence[Peer], questions: Sequence[Question], what: str) -> None:
    """Each question at the next peer."""
    recalls, times = [], []
    for number, question in enumerate(questions):
        expected = [hit.url for hit in one.search(question.text, BEST).hits]
        found, seconds = peers[number % len(peers)].search(question.text)
        times.append(seconds)
        if expected:
            recalls.append(len(set(expected) & set(found)) / len(expected))
    slow = quantiles(times, n=20)[-1]
    print(f"{what}: recall {mean(recalls):.3f} of the best {BEST}; a search takes {mean(times):.2f} s, 95 % below {slow:.2f} s")


def settled(peers: Sequence[Peer], wait: threading.Event, rounds: int) -> None:
    """Until nothing has come to any shelf for two looks."""
    before: list[int] = []
    same = 0
    for _ in range(rounds):
        wait.wait(10)
        now = [count(peer, "SELECT COUNT(*) FROM item WHERE NOT own") for peer in peers]
        same = same + 1 if now == before and min(now) else 0
        before = now
        if same >= 4:
            return
    print("it has not come to rest")


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
    parser.add_argument("--testdata", type=Path, default=Path("../shared/testdata"))
    options = parser.parse_args()
    folder, wait = Path(tempfile.mkdtemp(prefix="larm-network-")), threading.Event()
    collection = Judged(options.testdata / "ir-cranfield" / "given", "en")
    peers = [Peer(folder, number) for number in range(options.peers)]
    one = deal(collection, folder, peers)
    questions = random.Random(1).sample(collection.questions(), options.queries)
    try:
        for peer in peers:
            peer.start(peers[0].host)
        settled(peers, wait, 30)
        print(f"hand-over: {mean(peer.cpu() for peer in peers):.1f} s of CPU a peer; {sizes(peers[0])}")
        ask(one, peers, questions, "all there")
        dead, alive = peers[: options.kill], peers[options.kill :]
        for peer in dead:
            assert peer.process is not None
            peer.process.kill()
        ask(one, alive, questions, f"{len(dead)} killed, at once")
        settled(alive, wait, 20)
        ask(one, alive, questions, f"{len(dead)} killed, after the repair")
    finally:
        for peer in peers:
            if peer.process is not None:
                peer.process.terminate()
                peer.process.wait(30)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
