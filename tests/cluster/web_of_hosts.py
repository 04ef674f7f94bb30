"""Agents as processes, on a web of many hosts that link to each other; used by the stories of this folder."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from larm.testing.web import SyntheticWeb
from tests.cluster.namespaces import Namespaces


def build(web: SyntheticWeb, hosts: int, pages: int) -> set[str]:
    """All pages, as `SyntheticWeb.fetched` names them; each can be reached from the first page of the first host."""
    for host in range(hosts):
        site = web.host(f"h{host}.localhost")
        for page in range(pages):
            chance = random.Random(f"{host}/{page}")
            links = [f"/p{page + 1}"] if page + 1 < pages else []
            links += [f"http://h{(2 * host + n) % hosts}.localhost:{{port}}/p0" for n in (1, 2)]
            links += [f"http://h{chance.randrange(hosts)}.localhost:{{port}}/p{chance.randrange(pages)}" for _ in range(3)]
            site.page(f"/p{page}", title=f"{host} {page}", text=f"page {page} of {host}", links=links)
    return {f"h{host}.localhost/p{page}" for host in range(hosts) for page in range(pages)}


_LARM = """
from larm.__main__ import main
from larm.cluster.courier import Courier
Courier.__init__.__kwdefaults__["linger"] = 0.1
main()
"""
"""larm, but small batches for other agents wait for less than two seconds."""


class Cluster:
    """Its processes, and what becomes of them."""

    def __init__(
        self,
        web: SyntheticWeb,
        folder: Path,
        agents: int,
        delay: float,
        *settings: str,
        etcd: Sequence[str],
        net: Namespaces | None = None,
    ) -> None:
        """``etcd``: its endpoints. ``net``: where each agent has a machine of its own; without, all are on the loopback."""
        self._web = web
        self._net = net
        self._folder = folder
        self._delay = delay
        self._settings = [word for setting in settings for word in ("-s", setting)]
        self.agents = agents
        self.etcd = etcd
        self.ports = free_ports(agents) if net is None else [7441] * agents
        self.processes: dict[int, subprocess.Popen[str]] = {}

    def address(self, number: int) -> str:
        host = "127.0.0.1" if self._net is None else self._net.address(number)
        return f"{host}:{self.ports[number]}"

    def start(self, number: int, *more: str, before: str = "") -> subprocess.Popen[str]:
        """``before``: Python code that its process runs first."""
        host = self._web.url("h0.localhost", "/p0")
        command = [
            *(() if self._net is None else self._net.inside(number)),
            *(sys.executable, "-c", before + _LARM, "crawl", host, "--unrestricted", "--allow-private"),
            *("--delay", str(self._delay), "--dir", str(self.directory(number)), "--no-index", "--cluster", "demo"),
            *(
                "--listen",
                self.address(number),
                "--agents",
                str(self.agents),
                *(word for each in self.etcd for word in ("--etcd", each)),
                "-q",
            ),
            *("-s", "processing.processes=0", "-s", "cluster.lease=3s", "-s", "fetch.timeout=3s", "-s", "monitor.tick=1s"),
            *self._settings,
            *more,
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.processes[number] = process
        return process

    def add(self) -> None:
        """One more, which comes later than the others."""
        self.ports += free_ports(1)

    def directory(self, number: int) -> Path:
        return self._folder / f"agent-{number}"

    def wait(self, status: int = 0, *, seconds: float = 100) -> None:
        """Until all that run have ended with this exit status, and, where it is 0, without a word."""
        for number in list(self.processes):
            process = self.processes.pop(number)
            try:
                _, said = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                self.processes[number] = process
                raise
            assert process.returncode == status, f"agent {number}: {said}"
            assert status or not said

    def kill(self, number: int) -> None:
        process = self.processes.pop(number)
        process.kill()
        process.communicate()

    def end(self) -> None:
        """What still runs."""
        for number in list(self.processes):
            self.kill(number)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
