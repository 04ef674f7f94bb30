"""What a cluster costs: CPU a page with 1, 2 and 3 agents beside a crawl without a cluster, and memory beside other agents.

``python -m benchmarks.agents [--pages 5000] [--rounds 5]``. Agents and etcd run on loopback. CPU is that of all processes of
larm, user and system, without the CPU of the same commands on a web of one page; etcd's own stands beside it. For the memory
the other agents are keys in etcd that this script writes and renews.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from larm.cluster.etcd import Etcd, Found, Get, Put, Same
from larm.cluster.keys import AgentState, Keys, Member, View, pack, unpack
from larm.kit.threads.workers import Workers
from larm.testing.web import SyntheticWeb
from tests.cluster.web_of_hosts import free_ports
from tests.support.etcd import Member as Process
from tests.support.etcd import answering

_HOSTS = 100
_WORDS = ("harbour", "lantern", "orchard", "granite", "violet", "meadow", "copper", "thunder", "willow", "saffron")
_LINKS = 12
_RENEW = 2.0
"""Seconds between two renewals of the simulated agents."""


class Cost(NamedTuple):
    """Of one crawl."""

    cpu: float
    """Seconds of all processes of larm."""
    etcd: float
    pages: int
    memory: float
    """MB at the peak of the largest process."""


def build(web: SyntheticWeb, pages: int) -> None:
    """Make a web of hosts that link to each other; a page has some 300 words and a dozen links."""
    hosts = min(_HOSTS, pages)
    for page in range(pages):
        chance = random.Random(page)
        text = " ".join(chance.choice(_WORDS) for _ in range(300))
        others = [chance.randrange(pages) for _ in range(_LINKS)] + ([page + 1] if page + 1 < pages else [])
        links = [f"http://h{each % hosts}.localhost:{{port}}/p{each}" for each in others]
        web.host(f"h{page % hosts}.localhost").page(f"/p{page}", title=f"Page {page}", text=text, links=links)


@contextmanager
def etcd(folder: Path) -> Iterator[Process]:
    """Run an etcd of one member."""
    client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    words = ["etcd", "--data-dir", str(folder / "etcd"), "--log-level", "error"]
    words += ["--listen-client-urls", client, "--advertise-client-urls", client]
    words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    member = Process("default", words, client, folder)
    member.start()
    try:
        answering(Etcd([client]))
        yield member
    finally:
        member.kill()


def crawl(web: SyntheticWeb, folder: Path, agents: int, *more: str) -> Cost:
    """Crawl the web; with 0 agents, without a cluster."""
    with etcd(folder) as member:
        commands = [_command(web, folder, number, agents, member.client, *more) for number in range(max(1, agents))]
        usages = [os.wait4(process.pid, 0)[1:] for process in [subprocess.Popen(command) for command in commands]]
        assert member.process is not None
        spent = Path(f"/proc/{member.process.pid}/stat").read_text().rpartition(")")[2].split()
    assert not any(status for status, _ in usages), "a crawl failed"
    cpu = sum(used.ru_utime + used.ru_stime for _, used in usages)
    ticks = (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")
    return Cost(cpu, ticks, len(web.fetched()), max(used.ru_maxrss for _, used in usages) / 1000)


def _command(web: SyntheticWeb, folder: Path, number: int, agents: int, client: str, *more: str) -> Sequence[str]:
    command = [sys.executable, "-m", "larm", "crawl", web.url("h0.localhost", "/p0"), "--unrestricted", "--allow-private"]
    command += ["--delay", "0.05", "--dir", str(folder / f"agent-{number}"), "-q", "-s", "agent.contact=mailto:me@example.org"]
    if agents:
        (port,) = free_ports(1)
        command += ["--cluster", "demo", "--agents", str(agents), "--listen", f"127.0.0.1:{port}", "--etcd", client]
    return [*command, *more]


def measure(pages: int, agents: int) -> Cost:
    """Crawl a new web of this size."""
    with tempfile.TemporaryDirectory() as name, SyntheticWeb() as web:
        build(web, pages)
        cost = crawl(web, Path(name), agents)
        assert cost.pages == pages, f"{cost.pages} of {pages}"
        return cost


class Others:
    """Keys of agents that do not run, renewed as if they did. They own hosts that nobody crawls."""

    def __init__(self, client: str, count: int) -> None:
        # constant after construction
        self._etcd, self._keys = Etcd([client]), Keys("demo")
        self._names = [f"other{number}" for number in range(count)]
        self._ends = threading.Event()

    def run(self) -> None:
        """The body of the thread: join once the cluster is there, then renew."""
        joined = False
        while not self._ends.wait(0.1 if not joined else _RENEW):
            found = self._etcd.txn((), [Get(self._keys.view)])
            if not isinstance(found, Found) or not found.pairs[0]:
                continue
            (pair,) = found.pairs[0]
            view = unpack(pair.value, View)
            state = AgentState(1, 1, "127.0.0.1:1", released=view.epoch + 1)
            puts = [Put(self._keys.agents + name, pack(state)) for name in self._names]
            if not joined:
                members = view.members | {name: Member(0.001, 1) for name in self._names}
                puts.append(Put(self._keys.view, pack(View(view.epoch + 1, members))))
            answer = self._etcd.txn([] if joined else [Same(self._keys.view, pair.modified)], puts)
            joined = joined or (isinstance(answer, Found) and answer.ok)

    def end(self) -> None:
        """End the thread."""
        self._ends.set()


def memory(pages: int, others: int) -> float:
    """Return the MB at the peak of an agent that crawls a web beside these others."""
    with tempfile.TemporaryDirectory() as name, SyntheticWeb() as web, etcd(Path(name)) as member:
        build(web, pages)
        simulated, workers = Others(member.client, others), Workers(lambda _, error: print(error))
        if others:
            workers.start("others", simulated.run)
        command = [*_command(web, Path(name), 0, 1, member.client, "--max-time", "20"), "-s", "crawl.on_idle=wait"]
        process = subprocess.Popen(command)
        used = os.wait4(process.pid, 0)[2]
        simulated.end()
        workers.join(10)
    return used.ru_maxrss / 1000


def main() -> None:
    """By hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    numbers = range(4)
    a_page: dict[int, list[float]] = {number: [] for number in numbers}
    for _ in range(options.rounds):
        for number in numbers:
            start, all_ = measure(1, number), measure(options.pages, number)
            a_page[number].append((all_.cpu - start.cpu) / options.pages * 1e3)
            print(
                f"{number} agents: {a_page[number][-1]:.3f} ms a page, start {start.cpu:.2f} s,"
                f" etcd {all_.etcd:.2f} s, {all_.memory:.0f} MB",
                flush=True,
            )
    alone = statistics.median(a_page[0])
    for number in numbers[1:]:
        print(f"{number} agents: {statistics.median(a_page[number]) / alone:.3f} x of no cluster")
    for others in (0, 10, 100):
        print(f"beside {others} others: {memory(1_000, others):.1f} MB", flush=True)


if __name__ == "__main__":
    main()
