"""Peers of one group, by ``larm serve --peer``: are their first ten results those of one index over all?

``python -m benchmarks.groups FOLDER... [--queries 120] [--strangers]``. Each peer is a process that shares one folder of HTML
pages and has all others in a group. Questions are titles and sentences of pages. Prints the share of the first ten results of
one index over all folders that are among the first ten of a peer; the same of one search in all indexes at once, as by ``larm
serve A B``; and the time until the page shows something. ``--strangers``: nobody is in a group.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median

from larm.index.reader import IndexReader
from larm.index.search.searcher import IndexSearcher
from larm.index.search.several import SeveralSearchers
from larm.index.search.shared import SharedSearcher
from larm.kit.clock import SystemClock
from larm.model.findings import Asked
from larm.peers.identity import Identity
from larm.peers.yacy.library import page_of

BEST = 10
PORT = 7302
_INDEX_PAGES = "files.index_pages=[index.html, index.htm]"
_MORE = re.compile(r"/search/more\?[^\"]*")
_NAMED = re.compile(r"^(?:file://|.*?/files)/")


class Peer:
    """A process."""

    def __init__(self, work: Path, number: int, share: Path) -> None:
        self.url = f"http://127.0.8.{number + 1}:{PORT}"
        self.share = share
        self.state = work / f"peer{number}"
        self.key = Identity.opened(self.state / "larm" / "peer" / "peer.key").key
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, registrar: str, group: Sequence[str], options: Sequence[str]) -> None:
        """Begin, with the keys of a ``group``."""
        command = [sys.executable, "-m", "larm", "serve", "--host", self.url[7:].partition(":")[0], "--port", str(PORT)]
        command += ["--token-file", str(self.state / "token"), "-s", "peers.cache=0", "-s", "peers.period=2s"]
        command += [
            "-s",
            f"peers.groups={json.dumps({'all': list(group)})}",
            "-s",
            "serve.search_time=60s",
            "-s",
            "peers.timeout=20s",
        ]
        command += ["--peer", self.share.name, "--share", str(self.share), "--registrar-at", registrar, *options]
        with (self.state / "log").open("wb") as log:
            env = {**os.environ, "XDG_DATA_HOME": str(self.state)}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=env)

    def index(self) -> Path | None:
        """The directory of its crawl, if there is one yet."""
        return next((self.state / "larm" / "peer" / "shares").glob("*/index/meta.json"), Path()).parent.parent

    def search(self, text: str) -> list[str]:
        """The first results, by the names of shares and paths below."""
        query = urllib.parse.urlencode({"q": text, "n": BEST, "wait": 20})
        with urllib.request.urlopen(f"{self.url}/api/v1/search?{query}", timeout=120) as answer:
            return [named(hit["url"]) for hit in json.load(answer)["hits"]]

    def shown(self, text: str) -> float:
        """Seconds until the page comes; then wait for the rest of it."""
        clock = SystemClock()
        began = clock.monotonic()
        with urllib.request.urlopen(f"{self.url}/search?{urllib.parse.urlencode({'q': text})}", timeout=120) as answer:
            page = answer.read().decode()
        first = clock.monotonic() - began
        if more := _MORE.search(page):
            urllib.request.urlopen(self.url + html.unescape(more[0]), timeout=120).read()
        return first


def named(url: str) -> str:
    """The share and the path of a file, by whatever address."""
    return urllib.parse.unquote(_NAMED.sub("", url))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--queries", type=int, default=120)
    parser.add_argument("--strangers", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    work, chance = Path(tempfile.mkdtemp(prefix="larm-groups-")), random.Random(options.seed)
    peers = [Peer(work, number, folder.resolve()) for number, folder in enumerate(options.folders)]
    places = json.dumps({peer.share.name: str(peer.share) for peer in peers})
    starts = [word for peer in peers for word in ("-start", f"file:///{peer.share.name}/")]
    command = [sys.executable, "-m", "larm", "crawl", "-q", *starts, "--dir", str(work / "all"), "-s", f"files.places={places}"]
    subprocess.run([*command, "-s", _INDEX_PAGES], check=True)
    one, reader = IndexSearcher(work / "all"), IndexReader(work / "all" / "index")
    questions = []
    pages = [page_of(reader, each) for each in reader.every()]
    for page in pages:
        sentences = [text for text in page.text.split(".") if 6 < len(text.split()) < 25]
        questions += [page.title, *chance.sample(sentences, min(1, len(sentences)))]
    questions = sorted({" ".join(text.replace('"', " ").replace(":", " ").split()) for text in questions} - {""})
    questions = chance.sample(questions, min(options.queries, len(questions)))
    registrar = f"http://127.0.8.250:{PORT}"
    address = ["--host", "127.0.8.250", "--port", str(PORT), "--token-file", str(work / "token")]
    processes = [subprocess.Popen([sys.executable, "-m", "larm", "serve", "--registrar", *address], stderr=subprocess.DEVNULL)]
    wait = threading.Event()
    try:
        for peer in peers:
            peer.start(registrar, () if options.strangers else [each.key for each in peers], ())
        expected = {peer: sum(named(page.url).startswith(f"{peer.share.name}/") for page in pages) for peer in peers}
        while any(peer.index() == Path() or IndexSearcher(peer.index()).documents < expected[peer] for peer in peers):
            wait.wait(2)
        wait.wait(10)
        together = [SharedSearcher(peer.share.name, partial(IndexSearcher, peer.index())) for peer in peers]
        for question in questions[:10]:  # so that all have proved themselves, and all is in memory
            for peer in peers:
                peer.search(question)
        found, at_once, firsts = list[float](), list[float](), list[float]()
        for number, question in enumerate(questions):
            best = {named(hit.url) for hit in one.search(question, BEST).hits}
            if not best:
                continue
            peer = peers[number % len(peers)]
            found.append(len(best & set(peer.search(question))) / len(best))
            several = SeveralSearchers(together).results(Asked(query=question, number=BEST))
            at_once.append(len(best & {named(hit.url) for hit in several.hits}) / len(best))
            firsts.append(peer.shown(question))
            print(f"  {found[-1]:.1f} {at_once[-1]:.1f} {question}")
        print(
            f"{len(pages):,} pages, {len(peers)} peers, {len(found)} questions: {mean(found):.3f} of the first {BEST}, "
            f"{mean(at_once):.3f} of one search in all indexes; "
            f"a page comes after {median(firsts):.2f} s, {max(firsts):.2f} s at most"
        )
    finally:
        for process in (*processes, *(peer.process for peer in peers)):
            if process is not None:
                process.terminate()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
