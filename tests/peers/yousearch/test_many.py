"""Twenty peers as processes, each with a folder of its own, some of which misbehave or are killed. Slow: a minute or more."""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from larm.building.searching import several
from larm.config import Search
from larm.kit.clock import SystemClock
from larm.model.findings import Asked
from larm.search.query import parse_question
from tests.peers.yousearch.groups import until
from tests.search.test_several import index

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
            f"peers.directory={folder / 'state'}",
            "-s",
            "peers.cache=0",
            "--token-file",
            str(folder / "token"),
            *options,
        ]
        self._log = folder / "serve.log"
        folder.mkdir(exist_ok=True)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

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


def answer(peer: Process, query: str) -> dict[str, Any]:
    got = httpx.get(f"{peer.url}/api/v1/search", params={"q": query, "n": 100}, timeout=60, trust_env=False)
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


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_twenty_processes_are_one_index(office: tuple[Process, list[Process], dict[str, str], Path]) -> None:
    _, peers, pages, root = office
    chance = random.Random(4)
    asker = peers[0]
    everything = several([index(root / "all", pages)], Search(grouped=False))
    asked = queries(pages, chance, 30)

    def ready() -> bool:
        try:
            return answer(asker, asked[0])["hits"] != [] and all(known(peer) for peer in peers)
        except httpx.TransportError:
            return False

    def known(peer: Process) -> bool:
        return b"knows this peer" in peer._log.read_bytes()

    for _ in range(10):  # twenty starts and twenty crawls on whatever there is of cores
        try:
            until(ready)
            break
        except AssertionError:
            continue
    clock = SystemClock()
    seconds, firsts = [], []
    for query in asked:
        began = clock.monotonic()
        found = answer(asker, query)
        seconds.append(clock.monotonic() - began)
        began = clock.monotonic()
        httpx.get(f"{asker.url}/search", params={"q": query}, timeout=60, trust_env=False)
        firsts.append(clock.monotonic() - began)
        expected = {hit.url for hit in everything.results(Asked(query=query, number=1_000)).hits if hit.complete}
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
