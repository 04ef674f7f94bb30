"""A network of honest ``larm serve --network`` processes with liars among them: does it show forged pages, or lose honest ones?

``python -m benchmarks.liars FOLDER... [--peers 9] [--queries 25]``. Each folder is a site with an ``index.html``, which is
served on loopback and crawled by one of the honest peers. Questions are asked before the liars come, just after, and when they
have been there for a while. The liars know all questions:

- a poisoner, a member, answers each question for words with forged pages of its own, and hands out the forged documents;
- a spammer with 20 keys at one address places forged pages at the owners;
- a flooder asks with a new key each time, as fast as it can;
- a watcher, a member that answers like any other, notes the key of each question that it gets.

Prints the forged pages among the first ten, the share of the first ten before that is still there, and the questions of
searches that the watcher can tie to the key of a peer.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.network import PATIENCE, PORT, Peer, crawl, questions_of, settled
from larm.config import NetworkSettings, SearchSettings
from larm.fetch.http_client import HttpClient
from larm.index.reader import IndexReader
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.kit.units import Seconds
from larm.peers.channel import ROOT, Channel, Contact
from larm.peers.door import Call, Incoming
from larm.peers.identity import Identity
from larm.peers.yacy import questions as say
from larm.peers.yacy.hashes import word_hash
from larm.peers.yacy.item import Item, Kind, digest_of, new_header
from larm.peers.yacy.library import Vocabulary
from larm.peers.yacy.page import Page, place_of, write_page
from larm.peers.yacy.publishing import Source
from larm.peers.yacy.ring import partition_of
from larm.peers.yacy.service import Service

_BEST = 10
_MARK = "zzforged"
_KEYS = 20
_FLOOD_THREADS = 4
_LIARS_HOST = "127.0.10.{}"


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Ignore peers that are gone."""


class Liar:
    """A member of the network in this process, with real keys, on a real wire."""

    def __init__(self, folder: Path, host: str, port: int, seed: str) -> None:
        folder.mkdir(parents=True)
        settings = NetworkSettings(name="bench", bootstrap=(seed,), young=Seconds(0))
        self.service = Service(folder, settings, SearchSettings(), list, address=(host, port), say=lambda _: None)
        self.service._library.is_due = lambda _: False  # type: ignore[method-assign]  # it would withdraw what a liar publishes
        self.identity = Identity.opened(folder / "key")
        door = self.service.door

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                """Answer a signed question."""
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                reply = door.answer(Incoming("POST", self.path, self.headers.items(), body, self.client_address[0]))
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self.server = _Server((host, port), Handler)
        Workers(print).start(f"liar-{host}-{port}", self.server.serve_forever)
        self.service.start()

    def answers(self, path: str, handler: Callable[[Call, Any], Any]) -> None:
        """Answer one kind of question in another way."""
        known = self.service.door._questions
        known[ROOT + path] = known[ROOT + path]._replace(handler=handler)

    def watch(self, note: Callable[[str, Call], object]) -> None:
        """Note each question before it is answered."""
        for path, question in [*self.service.door._questions.items()]:

            def noted(call: Call, asked: Any, path: str = path, handler: Callable[[Call, Any], Any] = question.handler) -> Any:
                note(path, call)
                return handler(call, asked)

            self.service.door._questions[path] = question._replace(handler=noted)


def forged(questions: Sequence[str], starts: Sequence[str], what: str) -> list[Page]:
    """Return a page for each question, at the sites of others, of nothing but its words."""
    return [
        Page(
            url=f"{starts[number % len(starts)]}{what}{number}.html",
            title=f"{question} {_MARK}",
            description=question,
            text=f"{question} {_MARK}. " * 20,
            language="en",
            mime="text/html",
            fetched=int(SystemClock().wall()),
            size=1_000,
        )
        for number, question in enumerate(questions)
    ]


def poison(liar: Liar, questions: Sequence[str], starts: Sequence[str]) -> None:
    """Answer each question for words with forged pages."""
    pages, vocabulary = {page.hash: page for page in forged(questions, starts, "poison")}, Vocabulary(())
    by_word: dict[str, list[str]] = {}
    for page in pages.values():
        for word in vocabulary.words(page.title):
            for each in {word, *(stem for unit in vocabulary.understand(word, {}).units for stem in unit.hashes)}:
                by_word.setdefault(each if len(each) == 12 else word_hash(each), []).append(page.hash)

    def search(_: Call, asked: say.Search) -> say.Found:
        found = []
        for word in asked.words:
            urls = [url for url in by_word.get(word, [*pages][:100]) if partition_of(url) in asked.partitions]
            found.append(say.WordFound(len(urls), rows=tuple(say.Row(url, 255, 15, 20, 0) for url in urls)))
        return say.Found(tuple(found), (liar.identity.key,))

    def documents(_: Call, asked: say.PagesOf) -> say.PagesFound:
        now = SystemClock().wall()
        items = []
        for url in asked.urls:
            if url in pages:
                body = write_page(pages[url])[0]
                places = (place_of(pages[url]),) * 2
                items.append(Item(new_header(Kind.PAGE, digest_of(body), places, now, liar.identity), body))
        return say.PagesFound(tuple(items))

    liar.answers(say.SEARCH, search)
    liar.answers(say.PAGES, documents)


def spam(liar: Liar, pages: Sequence[Page], peers: int) -> None:
    """Place forged pages at their owners."""
    sources = [Source(page.hash, lambda page=page: page) for page in pages]  # type: ignore[misc]
    liar.service._publishing.publish(sources, peers, SystemClock().wall())
    liar.service._spreading.hurry()


def flood(peers: Sequence[Peer], end: threading.Event) -> None:
    """Ask with a new key each time."""
    http, clock = HttpClient(), SystemClock()
    contacts = [
        Contact(Identity.opened(peer.directory / "network" / "bench" / "key").key, f"http://{peer.host}:{PORT}")
        for peer in peers
    ]
    words = tuple(word_hash(f"word{number}") for number in range(say.MOST_WORDS))
    number = 0
    while not end.is_set():
        channel = Channel(Identity.new(), http, clock)
        asked = say.Search("bench", words, tuple(range(16)))
        channel.ask(contacts[number % len(contacts)], say.SEARCH, asked, say.Found, seconds=5)
        number += 1


def first_ten(peer: Peer, text: str) -> Iterator[tuple[str, str]]:
    """Yield URL and title of the first hits."""
    asked = urllib.parse.urlencode({"q": text, "n": _BEST, "wait": PATIENCE})
    with peer._open(f"/api/v1/search?{asked}") as answer:
        for hit in json.load(answer)["hits"]:
            yield hit["url"], hit["title"]


def ask(peers: Sequence[Peer], questions: Sequence[str], what: str, before: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Ask each question at the next peer. Return the URLs of the first hits."""
    clock, found, kept, times, lies = SystemClock(), dict[str, set[str]](), list[float](), list[float](), 0
    for number, question in enumerate(questions):
        began = clock.monotonic()
        hits = [*first_ten(peers[number % len(peers)], question)]
        times.append(clock.monotonic() - began)
        lies += sum(_MARK in title for _, title in hits)
        found[question] = {url for url, _ in hits}
        if expected := before.get(question):
            kept.append(len(found[question] & expected) / len(expected))
    same = f", {mean(kept):.3f} of the first ten are still there" if kept else ""
    what += f": {lies} forged pages in the first ten of {len(questions)} questions"
    print(f"{what}{same}; {median(times):.2f} s", flush=True)
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="sites, each with an index.html")
    parser.add_argument("--peers", type=int, default=9)
    parser.add_argument("--queries", type=int, default=25, help="of each of four kinds (25)")
    options = parser.parse_args()
    folder, wait, end = Path(tempfile.mkdtemp(prefix="larm-liars-")), threading.Event(), threading.Event()
    peers = [Peer(folder, number) for number in range(options.peers)]
    starts, sites = [f"http://127.0.8.{number + 1}:{PORT}/" for number in range(len(options.folders))], []
    for number, site in enumerate(options.folders):  # as processes: liars must not slow them down
        command = [sys.executable, "-m", "http.server", str(PORT), "--bind", f"127.0.8.{number + 1}", "--directory", str(site)]
        sites.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    wait.wait(3)
    for number, peer in enumerate(peers):
        crawl(peer.directory, starts[number :: len(peers)])
    crawl(folder / "all", starts)
    reader = IndexReader(folder / "all" / "index")
    questions = [text for texts in questions_of(reader, options.queries).values() for text in texts]
    seen: list[tuple[str, str]] = []
    try:
        for peer in peers:
            peer.start(peers[0].host, [])
        print(f"{reader.documents:,} pages of {len(starts)} sites; hand-over: {settled(peers, wait):.0f} s", flush=True)
        before = ask(peers, questions, "honest", {})
        again = ask(peers, questions, "honest, again", before)
        seed = f"http://{peers[0].host}:{PORT}"
        watcher = Liar(folder / "watcher", _LIARS_HOST.format(1), PORT, seed)
        watcher.watch(lambda path, call: seen.append((path, call.key)))
        poisoner = Liar(folder / "poisoner", _LIARS_HOST.format(2), PORT, seed)
        poison(poisoner, questions, starts)
        for number in range(_KEYS):
            spammer = Liar(folder / f"spammer{number}", _LIARS_HOST.format(3), PORT + number, seed)
            spam(spammer, forged(questions, starts, f"spam{number}-")[:50], len(peers))
        floods = Workers(print)
        for number in range(_FLOOD_THREADS):
            floods.start(f"flooder-{number}", lambda: flood(peers, end))
        ask(peers, questions, "liars have come", again)
        wait.wait(120)
        ask(peers, questions, "liars are there for 2 minutes", again)
        end.set()
        lasting = {Identity.opened(peer.directory / "network" / "bench" / "key").key for peer in peers}
        of_searches = [key for path, key in seen if path.endswith((say.SEARCH, say.PAGES))]
        tied = sum(key in lasting for key in of_searches)
        kinds = Counter(path.rpartition("/")[2] for path, _ in seen)
        print(f"watcher: {dict(kinds)}; {tied} of {len(of_searches)} questions of searches bear the key of a peer")
    finally:
        end.set()
        for peer in peers:
            peer.kill()
        for each in sites:
            each.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
