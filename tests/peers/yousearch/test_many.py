"""Twenty peers as processes, each with a folder of its own; one is killed, and six more misbehave. Slow: minutes."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest

from larm.building.searching import several
from larm.config import SearchSettings
from larm.index.search.query import parse_question
from larm.kit.clock import SystemClock
from larm.kit.threads.workers import Workers
from larm.model.findings import Asked, Findings
from larm.model.hit import Hit
from larm.peers.door import Call
from tests.index.search.test_several import index
from tests.peers.yousearch.groups import Deep, group, until

PEERS = 20
PAGES = 25
WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in ("nt", "rk", "lm", "st", "x")]


class Process:
    """A `larm serve`."""

    def __init__(self, folder: Path, host: str, *options: str) -> None:
        self.url = f"http://{host}:7301"
        self._command = [sys.executable, "-P", "-m", "larm", "serve", "--host", host, "--port", "7301", "-s", "peers.period=2s"]
        self._command += [
            "-s",
            "peers.cache=0",
            "--token-file",
            str(folder / "token"),
            *options,
        ]
        self.folder = folder
        self._log = folder / "serve.log"
        folder.mkdir(exist_ok=True)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            own = {**os.environ, "XDG_DATA_HOME": str(self.folder / "state")}
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own)

    def memory(self) -> int:
        """Bytes that are resident."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(60)


def texts(chance: random.Random) -> list[str]:
    """The commonest words are on most pages, the rarest on one in a hundred."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return [" ".join(chance.choices(WORDS, weights, k=60)) for _ in range(PAGES)]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, list[Process], dict[str, str], Path]]:
    root = tmp_path_factory.mktemp("office")
    chance = random.Random(3)
    pages: dict[str, str] = {}
    with ExitStack() as stack:
        registrar = Process(root / "registrar", "127.0.1.1", "--registrar")
        stack.callback(registrar.end)
        peers = []
        for n in range(PEERS):
            folder = root / f"docs-{n}"
            folder.mkdir()
            for number, text in enumerate(texts(chance)):
                (folder / f"{number}.txt").write_text(text)
                pages[f"http://127.0.2.{n + 1}:7301/files/docs-{n}/{number}.txt"] = text
            peer = Process(
                root / f"peer-{n}",
                f"127.0.2.{n + 1}",
                "--peer",
                f"peer {n}",
                "--share",
                str(folder),
                "--registrar-at",
                registrar.url,
            )
            stack.callback(peer.end)
            peers.append(peer)
        yield registrar, peers, pages, root


def answer(peer: Process, query: str, wait: float = 3.0) -> dict[str, Any]:
    got = httpx.get(f"{peer.url}/api/v1/search", params={"q": query, "n": 100, "wait": wait}, timeout=60, trust_env=False)
    return dict(got.json()) if got.status_code == 200 else {"hits": [], "unanswered": [got.text]}


def complete(found: dict[str, Any], peer: Process) -> set[str]:
    return {hit["url"] if hit["url"].startswith("http") else peer.url + hit["url"] for hit in found["hits"] if hit["complete"]}


def queries(pages: dict[str, str], chance: random.Random, number: int) -> Sequence[str]:
    """Two words each, that few pages have."""
    found = []
    while len(found) < number:
        query = " ".join(chance.sample(WORDS[40:], 2))
        if 0 < sum(set(query.split()) <= set(text.split()) for text in pages.values()) <= 40:
            found.append(query)
    return found


def all_there(peers: Sequence[Process], query: str) -> None:
    """Every registrar knows every peer, and what they share is indexed."""

    def ready() -> bool:
        try:
            return answer(peers[0], query)["hits"] != [] and all(known(peer) for peer in peers)
        except httpx.TransportError:
            return False

    def known(peer: Process) -> bool:
        page = httpx.get(f"{peer.url}/peers", timeout=60, trust_env=False).text
        return b"knows this peer" in peer._log.read_bytes() and f": {PAGES} files can be found" in page

    for _ in range(10):  # twenty starts and twenty crawls on whatever there is of cores
        try:
            until(ready)
            break
        except AssertionError:
            continue


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_twenty_processes_are_one_index(office: tuple[Process, list[Process], dict[str, str], Path]) -> None:
    _, peers, pages, root = office
    chance = random.Random(4)
    asker = peers[0]
    everything = several([index(root / "all", pages)], SearchSettings())
    asked = queries(pages, chance, 30)

    all_there(peers, asked[0])
    clock = SystemClock()
    seconds, firsts = [], []
    for query in asked:
        began = clock.monotonic()
        found = answer(asker, query)
        seconds.append(clock.monotonic() - began)
        began = clock.monotonic()
        httpx.get(f"{asker.url}/search", params={"q": query}, timeout=60, trust_env=False)
        firsts.append(clock.monotonic() - began)
        expected = {hit.url for hit in everything.results(Asked(query=query, number=1_000, alike=True)).hits if hit.complete}
        assert found["unanswered"] == [], query
        assert complete(found, asker) == expected, (query, parse_question(query))
        for url in list(expected)[:3]:
            assert httpx.get(url, trust_env=False).text == pages[url]
    before = asker.memory()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda query: answer(asker, query), asked * 5))
    print(f"\nfirst page: median {statistics.median(firsts):.3f} s, longest {max(firsts):.3f} s")
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"all results: median {statistics.median(seconds):.3f} s, longest {max(seconds):.3f} s; {machine}")
    print(f"memory of who asks: {before / 1e6:.0f} MB, after 150 more searches {asker.memory() / 1e6:.0f} MB")
    assert asker.memory() < before + 60_000_000

    victim = peers[7]
    theirs = [text for url, text in pages.items() if url.startswith(victim.url)]
    query = next(each for each in queries(pages, chance, 200) if any(set(each.split()) <= set(text.split()) for text in theirs))
    victim.end(signal.SIGKILL)
    left = {url for url in pages if not url.startswith(victim.url)}
    until(lambda: "peer 7" not in str(answer(asker, query)["unanswered"]) and complete(answer(asker, query), asker) <= left)
    victim.start()
    expected = {url for url, text in pages.items() if set(query.split()) <= set(text.split())}
    until(lambda: complete(answer(asker, query), asker) == expected)


class Raw:
    """What answers where a peer was: bytes, to whoever connects."""

    def __init__(self, address: tuple[str, int], answer: Callable[[socket.socket], None]) -> None:
        self._listening = socket.create_server(address)
        self._answer = answer
        self._over = threading.Event()
        self._workers = Workers(lambda _, __: None)
        self._workers.start("larm-test-raw", self._run)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._workers.start("larm-test-raw-answer", partial(self._one, connection))

    def _one(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self._answer(connection)

    def drip(self, connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not self._over.wait(0.2):
            connection.sendall(b"x")

    def close(self) -> None:
        self._over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._workers.join(30)


def garbage(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(random.Random(5).randbytes(100_000))


def flood(url: str, over: threading.Event, statuses: Counter[int]) -> None:
    """From one address, without end, and not signed."""
    transport = httpx.HTTPTransport(local_address="127.0.5.9")
    with httpx.Client(transport=transport, timeout=60, trust_env=False) as client:
        while not over.is_set():
            with suppress(httpx.HTTPError):
                statuses[client.post(url, content=b"{}").status_code] += 1


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_who_misbehaves_slows_and_fools_nobody(
    office: tuple[Process, list[Process], dict[str, str], Path], tmp_path: Path
) -> None:
    registrar, peers, pages, _ = office
    asker, chance = peers[0], random.Random(9)
    asked = queries(pages, chance, 40)
    all_there(peers, asked[0])
    card = httpx.get(f"{registrar.url}/peer/v1/card", trust_env=False).json()
    told: Any = SimpleNamespace(url=registrar.url, peering=SimpleNamespace(card=SimpleNamespace(key=card["key"])))
    let_go, over = threading.Event(), threading.Event()
    statuses: Counter[int] = Counter()

    def hang(_: Call, __: Asked) -> Findings:
        let_go.wait(600)
        return Findings(searcher="hangs")

    def huge(_: Call, __: Asked) -> Findings:
        return Findings(searcher="huge", hits=tuple(Hit(title="x" * 1_000, url=f"http://huge.org/{n}") for n in range(50_000)))

    def deep(_: Call, __: Asked) -> msgspec.Struct:
        return Deep(msgspec.Raw(b"[" * 60_000 + b"]" * 60_000))

    def lie(_: Call, __: Asked) -> Findings:
        return Findings(
            searcher="x", hits=tuple(Hit(title="Buy", url=f"/files/{n}.html", score=9e99) for n in range(100)), total=10**9
        )

    with group(tmp_path) as made, ExitStack() as stack:
        for name, handler in (("hangs", hang), ("huge", huge), ("deep", deep), ("lies", lie)):
            made.bad(told, WORDS, handler, name)
        for name in ("drips", "garbage"):
            was = made.bad(told, WORDS, lie, name)
            was.stop()
            host, _, port = was.url.partition("//")[2].partition(":")
            raw = Raw((host, int(port)), garbage)
            if name == "drips":
                raw._answer = raw.drip
            stack.callback(raw.close)
        stack.callback(let_go.set)
        flooding = Workers(lambda _, __: None)
        for url in (f"{registrar.url}/peer/v1/you/look", f"{asker.url}/peer/v1/you/search"):
            flooding.start("larm-test-flood", partial(flood, url, over, statuses))
        stack.callback(flooding.join, 60)
        stack.callback(over.set)
        before, clock, seconds, firsts, cut = asker.memory(), SystemClock(), [], [], 0
        for query in asked:
            expected = {url for url, text in pages.items() if set(query.split()) <= set(text.split())}
            began = clock.monotonic()
            found = answer(asker, query, 1.0)  # as where nothing is said
            seconds.append(clock.monotonic() - began)
            began = clock.monotonic()
            httpx.get(f"{asker.url}/search", params={"q": query}, timeout=60, trust_env=False)
            firsts.append(clock.monotonic() - began)
            late = {
                f"http://127.0.2.{int(number) + 1}:7301/"
                for number in re.findall(r"peer (\d+) did not", str(found["unanswered"]))
            }
            cut += bool(late)
            expected = {url for url in expected if not url.startswith(tuple(late))}
            honest = {url for url in complete(found, asker) if url in pages}
            others = complete(found, asker) - honest
            assert honest >= expected, query
            assert honest <= {url for url, text in pages.items() if set(query.split()) <= set(text.split())}, query
            assert all(re.match(r"http://127[.]0[.]0[.][0-9]+:[0-9]+/files/[0-9]+[.]html$", url) for url in others)
        print(f"\nfirst page: median {statistics.median(firsts):.3f} s, longest {max(firsts):.3f} s")
        print(f"all results, the first ten: {', '.join(f'{each:.2f}' for each in seconds[:10])} s")
        rest = f"median {statistics.median(seconds[10:]):.3f} s, longest {max(seconds[10:]):.3f} s"
        print(f"the others: {rest}; {cut} without an honest peer; load {os.getloadavg()[0]:.1f}")
        print(f"memory {before / 1e6:.0f} MB, after it {asker.memory() / 1e6:.0f} MB; flood: {dict(statuses)}")
        assert asker.memory() < before + 60_000_000
        assert statuses
        assert set(statuses) <= {401, 429}
        assert others == set(), "who lies is found out"
