"""An office on loopback: a registrar, and a ``larm serve --peer`` for each folder, all asked by one of them.

``python -m benchmarks.peers FOLDER... [--queries 100] [--wait 900]``. Each peer is a process with an address
of its own and shares one FOLDER, such as a documentation package. When all are indexed, the first one is asked for two words
that stand side by side in some page: by its search page, of which the time to the first results counts, and by its API, which
answers when all peers have. Prints both times, how many peers were asked, and the processor's time of a query at the asker, at
the registrar, and at a peer that was asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median, quantiles

from larm.kit.clock import SystemClock

PORT = 7302
_WORD = re.compile(r"[a-z]{4,12}")


class Process:
    """A ``larm serve``."""

    def __init__(self, folder: Path, host: str, *options: str) -> None:
        folder.mkdir()
        self.url = f"http://{host}:{PORT}"
        command = [sys.executable, "-P", "-m", "larm", "serve", "--host", host, "--port", str(PORT), "-s", "peers.cache=0"]
        command += ["-s", f"peers.directory={folder / 'state'}", "--token-file", str(folder / "token"), *options]
        self.log, self.state = folder / "log", folder / "state"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def cpu(self) -> float:
        """Seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path: str, **asked: object) -> bytes:
        """The answer's body."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(asked)}", timeout=60) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:  # 503: nothing was found, and not all have answered
            return error.read()

    @property
    def is_ready(self) -> bool:
        """Its folder is indexed, and its registrar knows that."""
        crawls = list(self.state.glob("shares/*/crawl.out"))
        return bool(crawls) and all(any((each.parent / "index").glob("meta.json")) for each in crawls)


def queries(folders: Sequence[Path], number: int, chance: random.Random) -> list[str]:
    """Two words that stand side by side in some page."""
    found: list[str] = []
    while len(found) < number:
        pages = sorted(path for path in chance.choice(folders).rglob("*") if path.suffix in {".html", ".txt"})
        text = re.sub(r"<[^>]*>", " ", chance.choice(pages).read_text(errors="replace"))
        words = _WORD.findall(text)
        if len(words) > 20:
            at = chance.randrange(len(words) - 1)
            found.append(" ".join(words[at : at + 2]))
    return found


def ask(registrar: Process, peers: Sequence[Process], asked: Sequence[str], path: str, **more: object) -> tuple[float, bool]:
    """Prints what it takes; the median, and whether all have answered."""
    before = [each.cpu() for each in (registrar, *peers)]
    clock = SystemClock()
    times, unanswered, total = [], 0, 0
    for query in asked:
        began = clock.monotonic()
        body = peers[0].get(path, q=query, **more)
        times.append(clock.monotonic() - began)
        if path.startswith("/api"):
            answer = json.loads(body)
            unanswered += bool(answer["unanswered"])
            total += len(answer["hits"])
    spent = [1000 * (each.cpu() - old) / len(asked) for each, old in zip((registrar, *peers), before, strict=True)]
    cores, load = os.cpu_count(), os.getloadavg()[0]
    slow = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    print(f"{path}: median {1000 * median(times):.0f} ms, 95 % below {1000 * slow:.0f} ms; {cores} cores, load {load:.1f}")
    print(f"  CPU a query: asker {spent[1]:.1f} ms, registrar {spent[0]:.1f} ms, another peer {mean(spent[2:]):.1f} ms", end="")
    print(f", all together {sum(spent):.0f} ms; {total / len(asked):.1f} results, {unanswered} incomplete", flush=True)
    return median(times), not unanswered


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--wait", type=int, default=900, help="seconds for the folders to be indexed")
    given = parser.parse_args()
    wait = threading.Event()
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        registrar = Process(root / "registrar", "127.0.12.1", "--registrar")
        started = [registrar]
        try:
            for number, folder in enumerate(given.folders):
                options = ["--peer", f"peer {number}", "--share", str(folder), "--registrar-at", registrar.url]
                started.append(Process(root / f"peer{number}", f"127.0.12.{number + 10}", *options))
            for _ in range(given.wait):
                if all(each.is_ready for each in started[1:]):
                    break
                wait.wait(1)
            wait.wait(10)  # the last ones are told
            asked = queries(given.folders, given.queries + 10, random.Random(20))
            for query in asked[given.queries :]:
                started[1].get("/api/v1/search", q=query)
            print(f"{len(given.folders)} peers, {sum(each.is_ready for each in started[1:])} ready")
            ask(registrar, started[1:], asked[: given.queries], "/search")
            wait.wait(1)
            ask(registrar, started[1:], asked[: given.queries], "/api/v1/search")
        finally:
            for each in started:
                each.process.terminate()
            for each in started:
                each.process.wait()


if __name__ == "__main__":
    main()
