"""Three agents, each a process, do one crawl: what the servers saw of it."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from larm.control.client import Control
from larm.control.requests import Agents, Leave
from larm.kit.squash import squash
from larm.testing.web import SyntheticWeb
from tests.agents.web_of_hosts import Cluster, build

pytest.importorskip("zenoh")
from larm.agents.zenoh_bus import ZenohBus

DELAY = 0.1


@contextlib.contextmanager
def cluster(folder: Path, hosts: int, pages: int, *settings: str) -> Iterator[tuple[SyntheticWeb, Cluster, set[str]]]:
    with SyntheticWeb() as web:
        expected = build(web, hosts, pages)
        some = Cluster(web, folder, 3, DELAY, *settings)
        try:
            yield web, some, expected
        finally:
            some.end()
        for host in range(hosts):
            assert web.closest(f"h{host}.localhost") > DELAY * 0.9


def until(web: SyntheticWeb, requests: int) -> None:
    """So many have come in."""
    tick = threading.Event()
    for _ in range(6_000):
        if len(web.log) >= requests:
            return
        tick.wait(0.01)
    raise AssertionError(f"only {len(web.log)} requests")


def test_each_page_once(tmp_path: Path) -> None:
    """Coverage 1, overlap 0, every agent has a part, and the end is found."""
    with cluster(tmp_path, 60, 4) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 20)
        with Control(some.directory(1)) as agent:
            seen = agent.ask(Agents("h0.localhost"))
        some.wait()
        fetched = web.fetched()
    assert seen.begun
    assert [each.state for each in seen.agents] == ["working"] * 3
    assert seen.owner in {each.name for each in seen.agents}
    assert set(fetched) == expected
    assert set(fetched.values()) == {1}
    shares = [(some.directory(number) / "logs" / "store.log").read_bytes().count(b"\n") for number in range(3)]
    assert sum(shares) == len(expected)
    assert min(shares) > len(expected) / 10


@pytest.mark.slow
def test_killed_and_back(tmp_path: Path) -> None:
    """Nothing is missing; what is fetched twice is what one agent had fetched since its last checkpoint."""
    with cluster(tmp_path, 60, 6) as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 150)
        some.kill(1)
        some.start(1)
        some.wait()
        fetched = web.fetched()
    assert set(fetched) == expected
    logs = [set(urls(some.directory(number))) for number in range(3)]
    assert all(len(urls(some.directory(number))) == len(logs[number]) for number in range(3))
    assert sum(map(len, logs)) == len(set().union(*logs)), "each page is at one agent"


@pytest.mark.slow
def test_gone_for_good(tmp_path: Path) -> None:
    """With its disk. The others have all pages in the end."""
    with cluster(tmp_path, 60, 6, "cluster.adopt_after=10s") as (web, some, expected):
        for number in range(3):
            some.start(number)
        until(web, 150)
        some.kill(1)
        some.wait()
        left = [*urls(some.directory(0)), *urls(some.directory(2))]
    assert {url.partition("//")[2].replace(f":{web.port}", "") for url in left} == expected
    assert len(left) == len(expected), "the others have nothing twice"


@pytest.mark.slow
def test_who_differs_is_refused(tmp_path: Path) -> None:
    """So is garbage: the agent answers nothing, and goes on."""
    with cluster(tmp_path, 4, 2) as (_, some, _expected):
        some.start(0)
        other = some.start(1, "--max-depth", "3")
        _, said = other.communicate(timeout=60)
        del some.processes[1]
        assert other.returncode == 2
        assert "its settings differ" in said
        bus = ZenohBus("demo", f"tcp/127.0.0.1:{some.ports[2]}", 1.0)
        answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        bomb = squash(bytes(30_000_000))
        try:
            for garbage in (b"", b"\xff" * 100, squash(b"\x93\x01"), bomb, squash(b"\x93\xa1a\x01\xc4\x01x")):
                for kind in ("beat", "parcel", "part"):
                    bus.ask(f"tcp/127.0.0.1:{some.ports[0]}", kind, garbage, 10.0, answers.put)
                    assert answers.get(timeout=60) is None
        finally:
            bus.close()
        with Control(some.directory(0)) as agent:
            assert agent.ask(Agents()).epoch == 1
        assert "garbage" in (some.directory(0) / "logs" / "agents.log").read_text()


def urls(directory: Path) -> list[str]:
    lines = (directory / "logs" / "store.log").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[1] for line in lines]


@pytest.mark.slow
def test_one_joins_and_one_leaves(tmp_path: Path) -> None:
    """While they crawl: each page is fetched once all the same, and hosts are asked as politely as before."""
    with cluster(tmp_path, 60, 8, "cluster.agents=2") as (web, some, expected):
        some.agents = 2
        some.start(0)
        some.start(1)
        until(web, 100)
        some.start(2)
        until_view(some.directory(0), 3)
        with Control(some.directory(1)) as agent:
            agent.ask(Leave())
        some.wait()
        fetched = web.fetched()
    assert set(fetched) == expected
    assert {url: times for url, times in fetched.items() if times > 1} == {}
    assert urls(some.directory(2)), "who has joined has hosts"
    assert "view 4" in (some.directory(0) / "logs" / "agents.log").read_text()


def until_view(directory: Path, epoch: int) -> None:
    tick = threading.Event()
    for _ in range(600):
        with Control(directory) as agent:
            if agent.ask(Agents()).epoch >= epoch:
                return
        tick.wait(0.1)
    raise AssertionError(f"no view {epoch}")
